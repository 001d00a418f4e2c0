#!/bin/sh
# Holds docs/FORMAT.md against what the library writes: a reader written from that page alone reads stores of every
# kind and compares all digests, and the page's worked example is run as it stands there.
. tests/lib.sh
BUILD=${BUILD:-build}
CC=${CC:-cc}
python=${APL_PYTHON:-python3}
build=$(cd "$BUILD" && pwd) || exit 1
scratch

# A small archive, and the store made of it.
cifar() # NAME ROWS "MKSHAPES OPTIONS" "APLINGEST OPTIONS"
{
    # shellcheck disable=SC2086
    "$build/mkshapes" --rows "$2" $3 "$scratch/$1.tar" &&
        "$build/aplingest" -q --partial $4 "$scratch/$1.tar" "$scratch/$1"
}

format_stores()
{
    $CC -std=c11 -D_POSIX_C_SOURCE=200809L -Iinclude -Itests/store/jpeg tests/format/format_stores.c -o "$scratch/format_stores" \
        -L"$build" -lapldata -ljpeg -Wl,-rpath,"$build" && mkdir -p "$scratch/made" "$scratch"/sets/plain/deep \
        "$scratch"/sets/shuffled/deep && "$scratch/format_stores" "$scratch/made" "$scratch/sets"
}

digest() # STORE: that apldata says it has; of an older one, nothing
{
    "$build/apldata" info --json "$1" | tr -d ' \n' | sed -n 's/.*"digest":"\([0-9a-f]*\)".*/\1/p'
}

# With any digest that is not its own, a store is refused.
read_store() # STORE
{
    digest=$(digest "$1")
    # shellcheck disable=SC2086
    "$python" -B tests/format/format_reader.py ${digest:+--digest "$digest"} "$1" &&
        ! "$python" -B tests/format/format_reader.py --digest "$(printf %064d 1)" "$1" 2>/dev/null
}

read_sets() # SET...
{
    "$python" -B tests/format/format_sets.py "$build/apldata" "$@"
}

refused() # STORE: does the reader notice?
{
    cp -r "$1" "$scratch/damaged" && chmod u+w "$scratch/damaged/data.mdb" &&
        printf '\252\125' | dd of="$scratch/damaged/data.mdb" bs=1 conv=notrunc status=none \
            seek=$(($(wc -c <"$scratch/damaged/data.mdb") / 2)) &&
        ! "$python" -B tests/format/format_reader.py "$scratch/damaged"
}

# Splits of every rule, some of them of rests, in a store as its source has it and in a shuffled one.
read_splits()
{
    for order in "" --shuffle=5; do
        "$build/aplingest" -q --partial --force --split val=0.2 --split dev=0.3@train-val $order "$scratch/binary.tar" \
            "$scratch/splits" &&
            "$build/apldata" split -q --force --overlap --stratify label --seed 18446744073709551615 "$scratch/splits" \
                some=0.37@train-val-dev &&
            "$build/apldata" split -q --force --overlap --folds 3 "$scratch/splits" cv &&
            "$build/apldata" split -q --force --overlap --folds 7 --stratify label --seed 3 "$scratch/splits" fold@val &&
            "$build/apldata" split -q --force --overlap --clients 4 --dirichlet 0.25 "$scratch/splits" client@train-val &&
            "$build/apldata" split -q --force --overlap --by key "$scratch/splits" keyed=0.3@test &&
            "$build/apldata" split -q --force --overlap --by key --folds 3 --stratify label "$scratch/splits" keys@train-val &&
            "$build/apldata" split -q --force --overlap --by id --clients 2 --dirichlet 0.5 --seed 9 "$scratch/splits" ids &&
            "$build/apldata" split -q --force --overlap --group label "$scratch/splits" grouped=0.4 &&
            "$build/apldata" split -q --force --overlap --group label --stratify label --folds 2 "$scratch/splits" groups &&
            "$python" -B tests/format/format_splits.py "$scratch/splits" || return 1
    done
}

# Stores that a later version might write are read, or refused in one line.
versions() # STORE
{
    rm -rf "$scratch/versions"
    mkdir "$scratch/versions" && "$python" -B tests/format/format_versions.py "$1" "$scratch/versions" || return 1
    for store in "$scratch"/versions/*; do
        "$build/apldata" verify -q "$store" >"$scratch/said" 2>&1
        code=$?
        case ${store##*/} in
        accepted-*) [ $code -eq 0 ] && continue ;;
        refused-*) [ $code -eq 1 ] && [ "$(wc -l <"$scratch/said")" -eq 1 ] && continue ;;
        esac
        echo "${store##*/}: exit status $code: $(cat "$scratch/said")"
    done | { ! grep .; }
}

# Stores whose indexed images say something else than their files: both readers name the cause.
lies() # STORE
{
    mkdir "$scratch/lies" && "$python" -B tests/format/format_lies.py "$1" "$scratch/lies" || return 1
    for store in "$scratch"/lies/*; do
        "$build/apldata" verify "$store" >"$scratch/said" 2>&1 && echo "${store##*/}: verify takes it"
        grep -q 'are not those of the file that it restores' "$scratch/said" || cat "$scratch/said"
        read_store "$store" >"$scratch/said" 2>&1 && echo "${store##*/}: the second reader takes it"
        grep -q 'another image than that of the file' "$scratch/said" || cat "$scratch/said"
    done | { ! grep .; }
}

contents() # STORE...: how many content digests they have between them
{
    for store in "$@"; do
        "$build/apldata" info --json "$store" | tr -d ' \n' | sed 's/.*"content_sha256":"\([0-9a-f]*\)".*/\1/'
        echo
    done | sort -u | grep -c .
}

# The page's own lines: sh blocks, as they stand there.
worked_example() # STORE
{
    awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' docs/FORMAT.md >"$scratch/example.sh"
    mkdir -p "$scratch/example"
    (cd "$scratch/example" && DB=$1 sh -eu "$scratch/example.sh") >"$scratch/said" || return 1
    cat "$scratch/said"
    record=$(sed -n 's/^record \([0-9]*\), green.*/\1/p' "$scratch/said")
    "$build/apldata" get "$1" "$record" --fields image --format raw -o - |
        od -An -v -tu1 -w1 -j 1024 -N 1024 | tr -d ' ' | diff - "$scratch/example/green"
}

has_digests() # STORE...: all of them
{
    for store in "$@"; do
        [ -n "$(digest "$store")" ] || { echo "$store has no digest" && return 1; }
    done
}

check "format: stores of every kind can be made" format_stores
check "format: all have digests" has_digests "$scratch"/made/* "$scratch"/sets/*
check "format: and of archives" cifar binary 25 "" "-b 40"
check "format: shuffled ones" cifar cifar-shuffled 20 "--cifar100 --python" "--shuffle=42"

if ! "$python" -c 'import lmdb' 2>/dev/null; then
    skip "format: a second reader" "no py-lmdb"
elif ! have zstd; then
    skip "format: a second reader" "no zstd command"
else
    for store in "$scratch"/made/* "$scratch/binary" "$scratch/cifar-shuffled" tests/golden/indexed tests/golden/kinds tests/golden/texts tests/golden/images/* tests/golden/progressive/* tests/golden/products/*; do
        check "format: a second reader agrees: ${store##*/}" read_store "$store"
    done
    check "format: a second reader notices damage" refused "$scratch/made/raw"
    check "format: a second reader divides records alike" read_splits
    check "format: a second reader notices a damaged file" refused "$scratch/made/kept"
    check "format: a second reader notices a damaged indexed file" refused "$scratch/made/images"
    check "format: a second reader of sets agrees" read_sets "$scratch"/sets/* tests/golden/set
    check "format: images said otherwise than in their files" lies tests/golden/products/indexed # digests of blocks, of later versions, would tell first
    check "format: later versions" versions "$scratch/made/kinds"
    check "format: later versions, of kept files" versions "$scratch/made/kept"
fi
check "format: one content digest for all codecs" test "$(contents "$scratch"/made/[dprz]*)" = 1
if have mdb_dump && have zstd && have basenc; then
    check "format: the worked example" worked_example "$scratch/binary"
else
    skip "format: the worked example" "needs mdb_dump, zstd and basenc"
fi
