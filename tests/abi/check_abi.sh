#!/bin/sh
# Programs that were compiled against the headers of earlier versions, tests/abi/VERSION, run on the libraries that were just
# built; and what those headers promise - numbers, places of members, functions - the headers of today promise too.
. tests/lib.sh
BUILD=${BUILD:-build}
CC=${CC:-cc}
strict="-std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic -Werror"
libraries=$(cd "$BUILD" && pwd)
scratch

runs() # HEADERS: a program of theirs, in an empty folder
{
    # shellcheck disable=SC2086
    $CC $strict -I"$1" tests/abi/program.c -o "$scratch/program" -L"$libraries" -laplingest -lapldata || return 1
    mkdir "$scratch/empty"
    (cd "$scratch/empty" && LD_LIBRARY_PATH=$libraries "$scratch/program")
    code=$?
    rm -rf "$scratch/empty"
    return $code
}

tells() # NAMES HEADERS: the numbers and places that NAMES asks for, as HEADERS have them
{
    $CC -std=c11 -I"$2" "$1" -o "$scratch/names" && "$scratch/names"
}

promises() # OLDER NEWER: all numbers and places of OLDER are those of NEWER
{
    tells "$scratch/names.c" "$1" >"$scratch/older" && tells "$scratch/names.c" "$2" >"$scratch/newer" &&
        [ "$(wc -l <"$scratch/older")" -gt 200 ] && diff "$scratch/older" "$scratch/newer"
}

functions() # OLDER NEWER: no function of OLDER is missing in NEWER, or takes or returns something else
{
    for headers in "$1" "$2"; do
        python3 tests/abi/names.py "$headers" | grep '^/\*' >"$scratch/functions.${headers##*/}" || return 1
    done
    grep -vxFf "$scratch/functions.${2##*/}" "$scratch/functions.${1##*/}" >"$scratch/missing" || return 0
    cat "$scratch/missing"
    return 1
}

# Headers in which a number, a member or a function differs are told from those they were copied from.
notices() # WHAT FILE EDIT
{
    rm -rf "$scratch/changed"
    cp -r include "$scratch/changed"
    sed -i "$3" "$scratch/changed/apl/$2"
    ! diff -q "include/apl/$2" "$scratch/changed/apl/$2" >"$scratch/edited" && ! "$1" include "$scratch/changed"
}

for headers in tests/abi/[0-9]*; do
    version=${headers##*/}
    check "abi: a program of $version runs" runs "$headers"
    if have python3; then
        python3 tests/abi/names.py "$headers" >"$scratch/names.c"
        check "abi: numbers and members are those of $version" promises "$headers" include
        check "abi: functions are those of $version" functions "$headers" include
    else
        skip "abi: numbers, members and functions are those of $version" "no python3"
    fi
done
if have python3; then
    python3 tests/abi/names.py include >"$scratch/names.c"
    check "abi: a status with another number is noticed" notices promises status.h 's/APL_E_IO = 4/APL_E_IO = 40/'
    check "abi: a member that moved is noticed" notices promises reader.h 's/^    uint64_t seed;/    uint64_t more; &/'
    check "abi: a parameter that changed is noticed" \
        notices functions split.h 's/const char \*name, unsigned threads/const char *name, uint64_t threads/'
    check "abi: a function that is gone is noticed" notices functions stats.h '/^APL_API size_t apl_stats_json/d'
fi
