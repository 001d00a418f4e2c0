#!/bin/bash
# Goes through what is promised (tests/promises.txt), runs the test of each, and renews the table in docs/RELIABILITY.md.
# With APL_LONG=1, with all counts in full.
# Everything must have been built: make, make tests stress replays faults, and make FLAVOUR=tsan stress.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
TESTS=$BUILD/release/tests TSAN=$BUILD/tsan/tests
page=docs/RELIABILITY.md
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# faults PROGRAM: one of those in tests/faults
faults()
{
    ONLY=$1 BUILD=$BUILD SEED=${SEED:-1} bash tests/faults/run.sh
}

# replay TARGET...: the inputs that fuzzing has kept
replay()
{
    local target
    for target; do
        "$TESTS/fuzz/replay_$target" "$BUILD/fuzz/corpus/$target" || return
    done
}

# golden CASE...: runs of the commands against what they should say
golden()
{
    tests/cli/run.sh --bin "$BUILD" "$@"
}

# What a test says of how much it has done, in a few words.
told()
{
    local unit
    unit=$(sed -n 's/.*Synthesis: .*Tested: [^0-9]*\([0-9]*\).*/\1/p' "$1" | awk '{ n += $1 } END { if (n) print n " unit tests" }')
    {
        [ -z "$unit" ] || echo "$unit"
        sed -n 's/^ok //p; s/^\([a-z_]*: .*\)$/\1/p' "$1" | grep -v ': done$' | tail -2
        grep -c ': done$' "$1" | awk '$1 { print $1 " stress programs" }'
    } | awk 'NR > 1 { printf "; " } { printf "%s", $0 }'
}

how='the sample that `make check` takes'
[ -z "${APL_LONG:-}" ] || how='all counts in full'
rows=0 failed=0
run_promise() # NUMBER PROMISE COMMAND
{
    local log="$scratch/log" began seconds result=held
    began=$(date +%s)
    (eval "$3") >"$log" 2>&1 || result=BROKEN
    ! grep -q '^FAIL' "$log" || result=BROKEN
    seconds=$(($(date +%s) - began))
    [ $result = held ] || { failed=$((failed + 1)) && sed 's/^/    /' "$log" | tail -5 >&2; }
    rows=$((rows + 1))
    echo "| $1 | $2 | \`$3\` | $(told "$log" | tr -d '\033' | sed 's/\[[0-9;]*m//g; s/|/\\|/g') | $seconds s | $result |"
    echo "$1 $result $seconds s" >&2
}

{
    sed '/^<!-- table -->$/q' $page
    echo
    echo "Commit $(git rev-parse --short HEAD 2>/dev/null), $(date -u +%F), $(nproc) cores, $how."
    echo
    echo "| | promise | test | counts | time | result |"
    echo "|---|---|---|---|---|---|"
    while IFS='|' read -r number promise command; do
        case $number in '#'* | '') continue ;; esac
        command=${command# }
        run_promise "${number% }" "$(echo "$promise" | sed 's/^ //; s/ $//')" "$command" </dev/null
    done <tests/promises.txt
    echo
    sed -n '/^<!-- end of table -->$/,$p' $page
} >"$scratch/page"
cp "$scratch/page" $page
echo "$rows promises, $failed broken"
[ "$failed" = 0 ]
