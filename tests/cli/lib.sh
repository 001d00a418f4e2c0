# For the cases. They run in a fresh folder; $SHARED holds archives and stores to read.

B=cifar-10-batches-bin P=cifar-10-batches-py B100=cifar-100-binary P100=cifar-100-python

aplingest()
{
    "$APLINGEST" "$@"
}

apldata()
{
    "$APLDATA" "$@"
}

# A case that cannot be run here.
skip()
{
    echo "$*"
    exit 77
}

need()
{
    for tool; do
        command -v "$tool" >/dev/null || skip "there is no $tool"
    done
}

# Where a case runs several commands: each one's status on a line of its own.
run()
{
    "$@"
    echo "= $?"
}

# Compressed bytes, and so the places in them, differ with the version of zlib.
without_offsets()
{
    { "$@" 2>&1 >&3 | sed -E 's/byte [0-9]+/byte N/g' >&2; } 3>&1
    return "${PIPESTATUS[0]}"
}

# pack OUT FOLDER: a plain tar, the same bytes every time
pack()
{
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf "$1" -C "$2" "$(ls "$2")"
}

# unpacked ARCHIVE: a copy of its unpacked folder to spoil, as x/
unpacked()
{
    cp -r "$SHARED/$1" x
    chmod -R u+w x
}

# poke FILE OFFSET BYTES: overwrites in place; BYTES as printf has them
poke()
{
    printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# flip FILE OFFSET: the lowest bit of that byte
flip()
{
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    chmod u+w "$1"
    poke "$1" "$2" "\\$(printf %03o $((byte ^ 1)))"
}

# replace FILE OLD NEW: bytes as sed has them, of the same length
replace()
{
    LC_ALL=C sed -i "s/$2/$3/" "$1"
}

# An ingest that must fail: into nothing, which stays nothing, and over a store, which stays as it is. What it
# says must be the same. refused SOURCE [OPTION...]
refused()
{
    local code first second source=$1
    shift
    first=$(aplingest -q --partial "$@" "$source" db 2>&1)
    code=$?
    [ ! -e db ] || echo "LITTER: $(ls -lA db)"
    cp -r "$SHARED/store" old
    second=$(aplingest -q --partial --force "$@" "$source" old 2>&1) && echo "the second time it went well"
    [ "$first" = "$second" ] || printf 'the second time it said: %s\n' "$second"
    kept old
    rm -rf old
    printf '%s\n' "$first" >&2
    return $code
}

# kept DB: is it, to the byte, what was there before, and nothing else?
kept()
{
    cmp "$SHARED/store/data.mdb" "$1/data.mdb" || echo "DAMAGE: the old store has changed"
    [ "$(ls -A "$1")" = data.mdb ] || echo "LITTER: $(ls -lA "$1")"
}

# content DB: its content digest
content()
{
    apldata info --json "$1" | sed -n 's/.*"content_sha256": "\(.*\)".*/\1/p'
}

# same A B: tells whether two words are the same
same()
{
    [ -n "$1" ] && [ "$1" = "$2" ] && echo same || echo "different: $1, $2"
}

# wait_for COMMAND...: until it succeeds, at most 20 seconds
wait_for()
{
    local i
    for ((i = 0; i < 400; i++)); do
        "$@" 2>/dev/null >&2 && return
        sleep 0.05
    done
    echo "waited in vain for: $*"
    return 1
}

# Begins an ingest of standard input, $hanging_source or b.tar, that hangs in the middle, since no more comes. Its output goes to out
# and err. begin_hanging DB [OPTION...]
begin_hanging()
{
    mkfifo fifo
    set -m # in a process group of its own, so that SIGINT is not ignored
    aplingest_hanging "$@" <fifo >out 2>err &
    hanging=$!
    set +m
    exec 9>fifo
    head -c 1000000 "${hanging_source:-$SHARED/b.tar}" >&9
    wait_for writing_into "$1"
}

aplingest_hanging()
{
    local db=$1
    shift
    exec "$APLINGEST" -q --partial "$@" - "$db"
}

writing_into()
{
    ls -A "$1" | grep -q '^\.tmp-'
}

# Waits for it, without the shell's remarks on signals; $code: how it ended.
reap()
{
    { wait "$hanging"; code=$?; } 2>/dev/null
}

# Lets it run to its end.
end_hanging()
{
    tail -c +1000001 "${hanging_source:-$SHARED/b.tar}" >&9
    exec 9>&-
}

# dies_cleanly SIGNAL: an ingest that gets it leaves nothing behind; nor does one over a store that exists, which stays.
dies_cleanly()
{
    begin_hanging db
    kill "-$1" "$hanging"
    reap
    echo "the first died of $(kill -l $code)"
    cat out err
    [ ! -e db ] || echo "LITTER: $(ls -lA db)"
    rm fifo
    cp -r "$SHARED/store" db
    begin_hanging db --force
    kill "-$1" "$hanging"
    reap
    echo "the second died of $(kill -l $code)"
    cat out err
    kept db
}

# refuses_batch BYTES: the archive that was unpacked as x/, with these bytes, as printf has them, for its first batch
refuses_batch()
{
    # shellcheck disable=SC2059
    printf "$1" >"x/$P/data_batch_1"
    pack x.tar x
    run refused x.tar
}

# gray: a JPEG of 3 x 2 pixels
gray()
{
    base64 -d <<'END'
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP//////////////////////////////////////////
////////////////////////////////////////////wAALCAACAAMBAREA/8QAFAABAAAAAAAA
AAAAAAAAAAAAAf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AH//Z
END
}
