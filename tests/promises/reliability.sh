#!/bin/bash
# Goes through what is promised (tests/promises/promises.txt), runs the test of each, and renews the table in docs/RELIABILITY.md.
#   tests/promises/reliability.sh            all of it; with APL_LONG=1, with all counts in full
#   tests/promises/reliability.sh NUMBER...  the tests of these promises only; no table
# Everything must have been built: make, make tests stress replays faults, and make FLAVOUR=tsan stress. The last column is
# what tests/promises/check_promises.sh has left in $BUILD/promises.txt.
set -u
cd "$(dirname "$0")/../.." || exit 1
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
        "$TESTS/fuzz/replay_$target" "$BUILD/fuzz/corpus/$target" | sed 's/^\([0-9]* inputs\)$/count: \1/'
        [ "${PIPESTATUS[0]}" -eq 0 ] || return
    done
}

# golden CASE...: runs of the commands against what they should say
golden()
{
    tests/cli/run.sh --bin "$BUILD" "$@"
}

# What a test says of how much it has done, in a few words; numbers of the same are added up.
told()
{
    {
        sed -n 's/^count: //p
                s/^ok \(full disks: .*\)/\1/p
                s/^ok .* \(under power cuts\): [0-9]* points, \([0-9]* images\), [0-9]* repaired, 0 wrong$/\2 \1/p
                s/^ok .* \(ended [a-z]* a [a-z]*\): [0-9]* runs, \([0-9]*\) ended there$/\2 runs \1/p
                s/^ok .* killed at random times: \([0-9]* runs\), .*/\1 killed at random times/p
                s/^ok \([0-9]* runs with faults\) .*/\1/p
                s/^simulate: \([0-9]* seeds\), .*/\1 simulated/p
                s/^ok \(sandbox\): .*/1 checks of the \1/p
                s/^ok \(ingest-[a-z]*\)$/golden run \1/p
                s/^ok \([a-z]*:.* is found.*\)$/1 bugs planted and found/p
                s/^ok \([0-9]* [a-z].*seeds.*\)/\1/p' "$log"
        sed -n 's/.*Synthesis: .*Tested: [^0-9]*\([0-9]*\).*/\1 unit tests/p' "$log"
    } | awk '{ n = $1; if ($1 ~ /^[0-9]+$/) { $1 = ""; sum[$0] += n } else { $0 = " " $0; n = ""; text[$0] = 1 }
               if (!seen[$0]++) order[++lines] = $0 }
             END { for (i = 1; i <= lines; i++) {
                       what = order[i]
                       printf "%s", (i == 1 ? "" : "; ") (what in sum ? sum[what] what : substr(what, 2)) } }'
}

# What was broken on purpose, if it was and this promise's test found it.
broken()
{
    sed -n "s/^$1 caught: //p" "$BUILD/promises.txt" 2>/dev/null | awk 'NR > 1 { printf "; " } { printf "%s", $0 }'
}

how='the sample that `make check` takes'
[ -z "${APL_LONG:-}" ] || how='all counts in full'
rows=0 failed=0
run_promise() # NUMBER COMMAND: what its test prints is left in the log
{
    local began result=held
    began=$(date +%s)
    (eval "$2") >"$log" 2>&1 || result=BROKEN
    ! grep -q '^FAIL' "$log" || result=BROKEN
    seconds=$(($(date +%s) - began))
    [ $result = held ] || { failed=$((failed + 1)) && sed 's/^/    /' "$log" | tail -5 >&2; }
    rows=$((rows + 1))
    echo "$1 $result $seconds s" >&2
    outcome=$result
}

row() # NUMBER PROMISE COMMAND
{
    run_promise "$1" "$3"
    echo "| $1 | $2 | \`$3\` | $(told | tr -d '\033' | sed 's/\[[0-9;]*m//g; s/|/\\|/g') | $seconds s | $outcome | $(broken "$1") |"
}

# each FUNCTION: calls it with number, promise and command of those that are asked for
each()
{
    local number promise command
    while IFS='|' read -r number promise command; do
        number=${number% }
        case $number in '#'* | '') continue ;; esac
        case " ${only:-$number} " in *" $number "*) ;; *) continue ;; esac
        "$1" "$number" "$(echo "$promise" | sed 's/^ //; s/ $//')" "${command# }" </dev/null
    done <tests/promises/promises.txt
}

only=$*
log=$scratch/log
if [ -n "$only" ]; then
    alone()
    {
        run_promise "$1" "$3"
    }
    each alone
    [ "$failed" = 0 ] && [ "$rows" -gt 0 ]
    exit
fi
{
    sed '/^<!-- table -->$/q' $page
    echo
    echo "Version $(git describe --always --dirty 2>/dev/null), $(date -u +%F), $(nproc) cores, $how."
    echo
    echo "| | promise | test | counts | time | result | broken on purpose, and caught |"
    echo "|---|---|---|---|---|---|---|"
    each row
    echo
    sed -n '/^<!-- end of table -->$/,$p' $page
} >"$scratch/page"
cp "$scratch/page" $page
echo "$rows promises, $failed broken"
[ "$failed" = 0 ]
