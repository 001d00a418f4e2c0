# The kinds of tests that tests/run.sh knows: each runs one, and counts what came of it.

patience=300 # seconds
[ -z "${APL_LONG:-}" ] || patience=14400

# leave_out NAME WHY: what cannot be run here
leave_out()
{
    echo "skipped $1 ($2)" >"$logs/$1.log"
    count "$1" 0 0 1 "$logs/$1.log"
}

# program NAME COMMAND...: a test that passes by exiting with 0
program()
{
    local name=$1 log=$logs/${1//[ \/]/-}.log
    shift
    timeout "$patience" "$@" >"$log" 2>&1
    local code=$?
    if [ $code -ne 0 ]; then
        echo "exit status $code" >>"$log"
        count "$name" 0 1 0 "$log"
    elif grep -q '^skipped' "$log"; then
        count "$name" 0 0 1 "$log"
    else
        count "$name" 1 0 0 "$log"
    fi
}

# script NAME COMMAND...: a script that prints `ok ...`, `FAIL ...` and `skipped ...`
script()
{
    local name=$1 log=$logs/${1//[ \/]/-}.log
    shift
    timeout $((3 * patience)) "$@" >"$log" 2>&1
    local code=$?
    local ok bad skips
    ok=$(grep -c '^ok ' "$log") bad=$(grep -c '^FAIL ' "$log") skips=$(grep -c '^skipped ' "$log")
    if [ "$bad" -eq 0 ] && { [ $code -ne 0 ] || [ $((ok + skips)) -eq 0 ]; }; then
        echo "FAIL: the script ended with exit status $code, and $ok checks" >>"$log"
        bad=1
    fi
    if [ "$bad" -gt 0 ]; then
        grep -v '^ok ' "$log" >"$log.short"
        mv "$log.short" "$log"
    fi
    count "$name" "$ok" "$bad" "$skips" "$log"
}

# criterion NAME BINARY [PROCESSES]: a Criterion binary; a test that says "skipped" is not counted as passed
criterion()
{
    local name=$1 log=$logs/${1//[ \/]/-}.log line limit=600
    if [ ! -x "$2" ]; then
        echo "it was not built" >"$log"
        count "$name" 0 1 0 "$log"
        return
    fi
    [ "${APL_LONG:-0}" = 0 ] || limit=7200 # every count in full
    timeout "$limit" "$2" --color=never -j"${3:-1}" >"$log" 2>&1
    local code=$?
    line=$(grep -a 'Synthesis: Tested:' "$log" | tail -n 1)
    if [[ ! $line =~ Tested:\ ([0-9]+).*Passing:\ ([0-9]+).*Failing:\ ([0-9]+).*Crashing:\ ([0-9]+) ]]; then
        echo "no summary: the test binary died with exit status $code" >>"$log"
        count "$name" 0 1 0 "$log"
        return
    fi
    local good=${BASH_REMATCH[2]} bad=$((BASH_REMATCH[3] + BASH_REMATCH[4])) skips
    skips=$(grep -ac '^skipped' "$log")
    [ "$skips" -le "$good" ] || skips=$good
    # Criterion passes a test that leaks: its process reports that when it ends, so before the summary. Behind the
    # summary the runner reports (with status 23) a leak of its own.
    local leaks
    leaks=$(sed '/Synthesis: Tested:/q' "$log" | grep -ac 'ERROR: LeakSanitizer')
    bad=$((bad + leaks)) good=$((good > leaks ? good - leaks : 0))
    [ "$bad" -eq 0 ] && [ $code -ne 0 ] && [ $code -ne 23 ] && bad=1
    count "$name" $((good - skips)) "$bad" "$skips" "$log"
}
