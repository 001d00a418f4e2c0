#!/bin/bash
# Golden runs of the command line: each case of cases/ is run in a folder of its own, and what it prints and how
# it ends is compared with what stands beside it in NAME.stdout, NAME.stderr and NAME.status (no file: nothing,
# and 0). Times, rates, versions and what depends on the version of zstd are masked first.
#
#   tests/cli/run.sh [--update] [--bin DIR] [CASE...]
#
# The programs are those in DIR (build), or $APLINGEST, $APLDATA and $MKSHAPES. --update writes down what comes
# out as what is expected: look at it before you keep it.

set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
update= bin=build
while [ $# -gt 0 ]; do
    case $1 in
    --update) update=1 ;;
    --bin) bin=$2 && shift ;;
    --) shift && break ;;
    -*) echo "run.sh: no such option: $1" >&2 && exit 2 ;;
    *) break ;;
    esac
    shift
done

absolute()
{
    (cd "$(dirname "$1")" && echo "$PWD/${1##*/}")
}
APLINGEST=$(absolute "${APLINGEST:-$bin/aplingest}")
APLDATA=$(absolute "${APLDATA:-$bin/apldata}")
MKSHAPES=$(absolute "${MKSHAPES:-$bin/mkshapes}")
APL_DATA=$(cd "${APL_DATA:-$here/../../../shared/data}" 2>/dev/null && pwd)
export APLINGEST APLDATA MKSHAPES APL_DATA CLI=$here

for program in "$APLINGEST" "$APLDATA" "$MKSHAPES"; do
    [ -x "$program" ] || { echo "FAIL cli (there is no $program)" && exit 1; }
done

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
export SHARED=$scratch/shared
mkdir "$SHARED"
if ! bash "$here/shared.sh" >"$scratch/said" 2>&1; then
    echo "FAIL cli (the archives to test with cannot be made)"
    sed 's/^/    /' "$scratch/said"
    exit 1
fi

mask()
{
    sed -E -f "$here/mask.sed" "$1" | sed -e "s|$scratch|TMP|g"
}

# expect NAME KIND FILE: compares with, or becomes, what is expected
expect()
{
    local wanted=$here/cases/$1.$2
    if [ -n "$update" ]; then
        rm -f "$wanted"
        [ ! -s "$3" ] || cp "$3" "$wanted"
    else
        [ -e "$wanted" ] || wanted=/dev/null
        diff -u --label "expected $2" --label "$2" "$wanted" "$3"
    fi
}

run_case()
{
    local name=$1 code work=$scratch/work
    mkdir "$work"
    (cd "$work" && . "$here/lib.sh" && . "$here/cases/$name.sh") \
        >"$scratch/stdout" 2>"$scratch/stderr" </dev/null
    code=$?
    if [ $code -eq 77 ]; then
        echo "skipped $name ($(tail -n 1 "$scratch/stdout"))"
    else
        : >"$scratch/status.masked"
        [ $code -eq 0 ] || echo $code >"$scratch/status.masked"
        mask "$scratch/stdout" >"$scratch/stdout.masked"
        mask "$scratch/stderr" >"$scratch/stderr.masked"
        local bad=0
        for kind in stdout stderr status; do
            expect "$name" $kind "$scratch/$kind.masked" >>"$scratch/diff" || bad=1
        done
        [ $bad -eq 0 ] && echo "ok $name" || { echo "FAIL $name" && failures=1 && sed 's/^/    /' "$scratch/diff"; }
    fi
    rm -f "$scratch"/diff
    rm -rf "$work"
}

failures=0
[ $# -gt 0 ] || set -- $(cd "$here/cases" && ls ./*.sh | sed 's|^\./||; s|\.sh$||')
for name in "$@"; do
    run_case "$name"
done
exit $failures
