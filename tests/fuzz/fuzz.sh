#!/bin/sh
# Runs fuzz targets one after another: fuzz.sh FOLDER SECONDS TARGET...
# New inputs go to FOLDER/corpus/TARGET, what fails to FOLDER/found/; logs lie beside.
folder=$1 time=$2 failed=0
shift 2
mkdir -p "$folder/found"
# Memory that a hostile size asks for is refused, as by a system that has no more.
export ASAN_OPTIONS=detect_stack_use_after_return=0:allocator_may_return_null=1:max_allocation_size_mb=192:quarantine_size_mb=8
export UBSAN_OPTIONS=print_stacktrace=1

# The targets' files; in memory, if that is to be had. What fails leaves them behind.
TMPDIR=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo /tmp)" apl-fuzz-XXXXXX)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 130' INT TERM

# An input that took too long, but does not when it is run again: the machine was busy.
was_busy()
{
    slow=$(sed -n 's/.*Test unit written to \(.*-timeout-.*\)/\1/p' "$folder/$target.log")
    [ -n "$slow" ] && "$program" -timeout=1 "$slow" >>"$folder/$target.log" 2>&1 && rm "$slow"
}

fuzz() # SECONDS
{
    "$program" -max_total_time="$1" -timeout=1 -rss_limit_mb=256 -print_final_stats=1 \
        -artifact_prefix="$folder/found/$target-" $options "$folder/corpus/$target" >"$folder/$target.log" 2>&1
}

for target; do
    program=$folder/clang/release/tests/fuzz/fuzz_$target
    options=$(cat "tests/fuzz/$target.options" 2>/dev/null)
    [ ! -e "tests/fuzz/$target.dict" ] || options="$options -dict=tests/fuzz/$target.dict"
    end=$(($(date +%s) + time))
    until fuzz $((end - $(date +%s))); do
        if ! was_busy; then
            failed=1
            echo "FAIL $target: see $folder/$target.log"
            grep -aE 'ERROR|does not hold|runtime error|SUMMARY|Test unit written' "$folder/$target.log" | head -n 5
            continue 2
        fi
        [ "$(date +%s)" -lt "$end" ] || break
    done
    echo "ok $target: $(grep -a ' cov: ' "$folder/$target.log" | tail -n 1 | sed 's/^#\([0-9]*\)\t/\1 runs /')"
done
exit $failed
