#!/bin/sh
# Places that are not what they should be: links, pipes, devices and directories in the way, rights, masks, other users,
# mounts, paths and environments. Whatever there is, the commands read the store or say one line, and write nowhere else.
. tests/lib.sh
BUILD=$(cd "${BUILD:-build}" && pwd)
aplingest=$BUILD/aplingest apldata=$BUILD/apldata
scratch
chmod 755 "$scratch"
cp "$aplingest" "$apldata" "$scratch" # where others may get at them
cd "$scratch" || exit 1
"$BUILD/mkshapes" --rows 40 a.tar.gz
"$aplingest" -q --partial a.tar.gz db 2>said || { cat said && exit 1; }
echo precious >victim

reads() # DB
{
    timeout 20 "$apldata" verify -q "$1"
}

ingests() # DB OPTION...
{
    timeout 20 "$aplingest" -q --partial "$@" a.tar.gz && cmp "${1%/}/data.mdb" db/data.mdb && untouched
}

limited()
{
    timeout 20 "$@"
}

untouched()
{
    [ "$(cat victim)" = precious ] && [ "$(stat -c %h%a victim)" = 1644 ]
}

# refuses WORDS COMMAND...: one line with the words, status 1, nothing elsewhere
refuses()
{
    words=$1
    shift
    "$@" >out 2>said
    status=$?
    cat said
    [ $status -eq 1 ] && [ "$(wc -l <said)" -eq 1 ] && grep -q "$words" said && untouched
}

ingest_into() # DB OPTION...: as a command of one word
{
    place=$1
    shift
    timeout 20 "$aplingest" -q --partial "$@" a.tar.gz "$place"
}

litter() # DB: there is nothing but a store
{
    [ "$(ls -A "$1")" = data.mdb ]
}

# ------------------------------------------------------------------------------------------------------------ reading

ln -s db link
check "places: a link to a store is read" reads link
mkdir linked && ln -s ../db/data.mdb linked/data.mdb
check "places: a link to the file of a store is read" reads linked
check "places: so is a path with slashes" reads .//db/./

what_is_no_file() # NAME WORDS: db of that name holds no regular file as data.mdb
{
    check "places: data.mdb is $1: refused" refuses "$2" limited "$apldata" verify "$1"
    check "places: data.mdb is $1: not read by the other commands" refuses "$2" limited "$apldata" get "$1" 0
}
mkdir pipe directory device null dangling loop empty
mkfifo pipe/data.mdb
mkdir directory/data.mdb
ln -s /dev/zero device/data.mdb
ln -s /dev/null null/data.mdb
ln -s nowhere dangling/data.mdb
ln -s data.mdb loop/data.mdb
: >empty/data.mdb
what_is_no_file pipe "not a regular file"
what_is_no_file directory "not a regular file"
what_is_no_file device "not a regular file"
what_is_no_file null "not a regular file"
what_is_no_file dangling "no data.mdb"
what_is_no_file loop "symbolic links"
what_is_no_file empty "is empty"
check "places: the store is a file" refuses "is not a store" limited "$apldata" info a.tar.gz
check "places: the store is a pipe" refuses "is not a store" limited "$apldata" info pipe/data.mdb
check "places: the store is a device" refuses "is not a store" limited "$apldata" info /dev/zero

# ------------------------------------------------------------------------------------------------------------ writing

in_the_way() # WHAT AFTER COMMAND...: the command puts it in the place of the temporary file, $temporary
{
    what=$1 after=$2
    shift 2
    rm -rf way && mkdir way
    for name in data.mdb piles; do
        temporary=way/.tmp-$name "$@"
    done
    check "places: $what in the place of the temporary file does no harm" ingest_into way --force
    check "places: after $what, the store is there and right, and what is ours to remove is gone" \
        eval '$after way && reads way && untouched'
}
put_file() { echo old >"$temporary"; }
put_link() { ln -s "$scratch/victim" "$temporary"; }
put_dangling() { ln -s "$scratch/nowhere" "$temporary"; }
put_pipe() { mkfifo "$temporary"; }
put_hard() { ln victim "$temporary"; }
# Only regular files are removed; a new name is found beside all else, which stays as it was.
stays() { [ "$(ls -A "$1" | sort | tr '\n' ' ')" = ".tmp-data.mdb .tmp-piles data.mdb " ] && [ ! -f "$1/.tmp-data.mdb" -o -L "$1/.tmp-data.mdb" ]; }
in_the_way "a file" litter put_file
in_the_way "a link" stays put_link
in_the_way "a dangling link" stays put_dangling
in_the_way "a pipe" stays put_pipe
in_the_way "a second name" litter put_hard
check "places: nothing is made where a link leads" test ! -e nowhere
rm -rf way && mkdir -p way/.tmp-data.mdb
check "places: a directory in the place of the temporary file does no harm" ingest_into way
check "places: the directory stays, and the store is right" eval '[ -d way/.tmp-data.mdb ] && reads way'

rm -rf way && mkdir way && ln -s "$scratch/victim" way/data.mdb
check "places: data.mdb is a link: refused" refuses "is not a regular file, and is not replaced" "$aplingest" -q --partial a.tar.gz way
check "places: data.mdb is a link: refused, since only regular files are replaced" refuses "is not a regular file" \
    "$aplingest" -q --partial --force a.tar.gz way
check "places: the link and what it leads to stay" eval 'untouched && [ -L way/data.mdb ]'
rm -rf way && mkdir way && ln -s nowhere way/data.mdb
check "places: data.mdb is a dangling link: refused" refuses "is not a regular file" \
    "$aplingest" -q --partial a.tar.gz way
rm -rf way && mkdir -p way/data.mdb
check "places: data.mdb is a directory: refused" refuses "data.mdb\|directory" \
    "$aplingest" -q --partial --force a.tar.gz way
check "places: and nothing is left beside it" litter way
check "places: the store is to be in place of a file" refuses "not a directory" "$aplingest" -q --partial a.tar.gz victim

# ------------------------------------------------------------------------------------------------------- masks, rights

# allowed FILE MASK: may be read by all whom the mask leaves, and written by nobody
allowed()
{
    [ "$(stat -c %a "$1")" = "$(printf '%o' $((0444 & ~0$2)))" ]
}

for mask in 000 022 027 077; do
    rm -rf set && mkdir set
    check "places: mask $mask" eval "(umask $mask && ingest_into set/masked) && litter set/masked && reads set/masked"
    (umask $mask && "$apldata" split -q set/masked val=0.5 && "$apldata" join -q set/masked -o set) >made 2>&1 || cat made
    for file in set/masked/data.mdb set/masked/val.split set/set.apl; do
        check "places: mask $mask: $file is read-only, for those whom the mask leaves" allowed $file $mask
    done
    check "places: mask $mask: the directory is for others to write in no case" eval \
        '[ $((0$(stat -c %a set/masked) & 2)) -eq 0 ]'
done

as_nobody()
{
    setpriv --reuid=65534 --regid=65534 --clear-groups timeout 20 "$@"
}

# As another user, by the copies of the programs.
others()
{
    aplingest=$scratch/aplingest apldata=$scratch/apldata
    mkdir -m 755 readable && cp db/data.mdb readable && chmod 444 readable/data.mdb
    check "places: a read-only store of somebody else" as_nobody "$apldata" verify -q readable
    chmod 711 readable
    check "places: whose directory may not be listed" as_nobody "$apldata" get -o- --fields image --format raw readable 0
    check "places: in which nothing can be written" refuses "Permission denied" as_nobody "$aplingest" -q --partial \
        --force a.tar.gz readable
    check "places: nor split" refuses "Permission denied" as_nobody "$apldata" split -q readable val=0.5
    chmod 700 readable
    check "places: a directory that may not be entered" refuses "Permission denied" as_nobody "$apldata" info readable
    chmod 755 readable && chmod 600 readable/data.mdb
    check "places: a file that may not be read" refuses "Permission denied" as_nobody "$apldata" info readable
    mkdir shared && chmod 1777 shared
    check "places: in a directory for all" as_nobody "$aplingest" -q --partial a.tar.gz shared/db
    check "places: one that others may replace there is read" reads shared/db
    mkdir private && chmod 755 private
    check "places: in a directory of somebody else" refuses "Permission denied" as_nobody "$aplingest" -q --partial \
        a.tar.gz private/db
    check "places: nothing is left there" test ! -e private/db
}

mounted()
{
    mkdir mount
    # shellcheck disable=SC2016
    unshare -m sh -c 'mount --bind db mount && mount -o remount,ro,bind mount && cd / && "$@"' sh \
        setpriv --reuid=65534 --regid=65534 --clear-groups timeout 20 "$apldata" "$@"
}

if [ "$(id -u)" -eq 0 ] && have setpriv && as_nobody true 2>/dev/null; then
    others
    if unshare -m true 2>/dev/null && mounted --version >/dev/null 2>&1 && rmdir mount; then
        check "places: a read-only mount, as another user" mounted verify -q "$scratch/mount"
        rmdir mount
        check "places: a read-only mount: not split" refuses "Read-only\|Permission" mounted split -q "$scratch/mount" val=0.5
    else
        skip "places: read-only mounts" "needs the right to mount"
    fi
else
    skip "places: other users" "needs root, and setpriv"
fi

# ------------------------------------------------------------------------------------------------- paths, environments

aplingest=$BUILD/aplingest apldata=$BUILD/apldata
refuses_empty()
{
    "$apldata" info "" 2>said
    [ $? -eq 2 ] && grep -q "DB is empty" said
}
long=$(printf '%0300d' 0)
check "places: an empty path" refuses_empty
check "places: a name that is too long" refuses "too long" "$apldata" info "$long"
check "places: a new store, likewise" refuses "too long" "$aplingest" -q --partial a.tar.gz "$long"
odd=$(printf 'a b\tc\033[2J\377')
check "places: an odd name" eval 'ingest_into "./-$odd" && reads "./-$odd"'
check "places: an odd name is printed safely" eval '! "$apldata" info "$odd" 2>said && ! grep -q "$(printf "\033")" said'
check "places: slashes at the end" eval 'ingest_into slashes// && litter slashes && reads slashes/'
mkdir gone && cd gone && rmdir ../gone || exit 1
check "places: the working directory is gone" eval '"$apldata" verify -q "$scratch/db" && ! "$apldata" info db 2>/dev/null'
cd "$scratch" || exit 1

for place in /nonexistent "" /dev/null relative "$scratch/db"; do
    rm -rf new
    check "places: TMPDIR is '$place'" eval 'TMPDIR=$place ingest_into new && litter new && litter db && reads new'
done
rm -rf new
check "places: an empty environment" eval 'env -i "$aplingest" -q --partial a.tar.gz new && env -i "$apldata" verify -q new'
check "places: words that mean nothing" env APL_IO= LC_ALL=x LANG=x HOME=/nonexistent COLUMNS=-1 TERM=x TZ=x LINES=x \
    "$apldata" info db
check "places: a way to read that there is not" eval '! APL_IO=x "$apldata" info db 2>said && grep -q "APL_IO in the environment" said'
for closed in '<&-' '>&-' '2>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
    rm -rf new
    # What is told goes nowhere, and above all not into a file that was given the number.
    sh -c "exec \"\$1\" --partial a.tar.gz new $closed" sh "$aplingest" >/dev/null 2>&1
    check "places: with $closed a store is right, or not there" eval '[ ! -e new ] || { litter new && reads new; }'
    sh -c "exec \"\$1\" info db $closed" sh "$apldata" >/dev/null 2>&1
    check "places: with $closed a store is read" reads db
done
