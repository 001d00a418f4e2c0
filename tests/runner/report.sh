# What tests/run.sh tells: a line for each test, those that failed and were skipped once more at the end, the totals.
# Jobs count into a file of their own ($result); its lines are told when all jobs before it have ended.

passed=0 failed=0 skipped=0 spent=0

# cpu: puts into $spent the hundredths of a CPU second that children of this shell who have ended have taken
cpu()
{
    local text part seconds sum=0
    times >"$result.times"
    { read -r text && read -r text; } <"$result.times"
    rm -f "$result.times"
    for part in $text; do # such as 1m2.345s
        part=${part%s} seconds=${part#*m}
        sum=$((sum + 6000 * ${part%m*} + 10#${seconds/./} / 10))
    done
    spent=$sum
}

# count NAME PASSED FAILED SKIPPED LOG: what came of a test, with the seconds and the CPU time since the one before
count()
{
    local spent_before=$spent
    cpu
    printf '%s\t' "$@" $((SECONDS - begun)) $((spent - spent_before)) >>"$result"
    echo >>"$result"
    begun=$SECONDS
}

# tell NAME PASSED FAILED SKIPPED LOG SECONDS CPU: a line of the report; the log of what failed
tell()
{
    passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4)) spent=$((spent + $7))
    printf '%-32s %4d s %6d.%d cpu %4d passed' "$1" "$6" $(($7 / 100)) $(($7 / 10 % 10)) "$2"
    [ "$4" -eq 0 ] || printf ', %d skipped' "$4"
    [ "$3" -eq 0 ] || printf ', %d FAILED' "$3"
    printf '\n'
    [ "$3" -eq 0 ] || sed 's/^/    /' "$5"
    [ "$3" -eq 0 ] || note_failed "$1" "$5"
    [ "$4" -eq 0 ] || grep -ah '^skipped' "$5" | sed "s|^|$1	|" >>"$logs/.skipped"
}

# tell_all RESULT: what a job has counted, which is something, if it came to an end
tell_all()
{
    local fields
    [ -s "$1" ] || tell "a job that died" 0 1 0 /dev/null 0 0
    while IFS=$'\t' read -r -a fields; do tell "${fields[@]}"; done <"$1"
    rm -f "$1"
}

# note_failed NAME LOG: keeps the lines that say what failed, or else the last ones
note_failed()
{
    local said
    said=$(grep -aE '^FAIL|^FAILED|\[FAIL\]|\[CRASH\]|ERROR: ' "$2" | head -n 10)
    printf '%s\n' "${said:-$(tail -n 3 "$2")}" | sed "s|^|    $1: |" >>"$logs/.failed"
}

# Each reason once, with how many tests it concerns and of what.
tell_skipped()
{
    [ -s "$logs/.skipped" ] || return
    printf '\nskipped:\n'
    awk -F'\t' '{
        why = $2
        if (match(why, /\(.*\)$/)) why = substr(why, RSTART + 1, RLENGTH - 2)
        else sub(/^skipped:? *(\[[0-9]+\] [^ ]+ )?/, "", why)
        if (!count[why]++) order[++n] = why
        if (!((why, $1) in seen)) { seen[why, $1] = 1; of[why] = of[why] (of[why] ? ", " : "") $1 }
    }
    END { for (i = 1; i <= n; i++) printf "%5d  %s: %s\n", count[order[i]], of[order[i]], order[i] }' "$logs/.skipped"
}

# What failed, once more: who reads the end alone sees it.
tell_failed()
{
    [ -s "$logs/.failed" ] || return
    printf '\nfailed:\n'
    cat "$logs/.failed"
}

tell_totals()
{
    printf '\n%d h %02d min %02d s, %d min of CPU\n' $((SECONDS / 3600)) $((SECONDS / 60 % 60)) $((SECONDS % 60)) $((spent / 6000))
    echo "$passed passed, $failed failed$([ $skipped -eq 0 ] || echo ", $skipped skipped")"
}
