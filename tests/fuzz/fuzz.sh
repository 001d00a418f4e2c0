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

limits='-timeout=1 -rss_limit_mb=256'

# An input that took too much time or memory, but does not when it is run alone: the machine was busy, or the sanitizer's records of all
# threads of some 100,000 runs filled the memory. What leaks is reported as a leak.
passes_alone()
{
    input=$(sed -nE 's/.*Test unit written to (.*-(timeout|oom)-.*)/\1/p' "$folder/$target.log")
    [ -n "$input" ] && "$program" $limits "$input" >>"$folder/$target.log" 2>&1 && rm "$input"
}

fuzz() # SECONDS
{
    "$program" -max_total_time="$1" $limits -print_final_stats=1 \
        -artifact_prefix="$folder/found/$target-" $options "$folder/corpus/$target" >"$folder/$target.log" 2>&1
}

for target; do
    program=$folder/clang/release/tests/fuzz/fuzz_$target
    options=$(cat "tests/fuzz/$target.options" 2>/dev/null)
    [ ! -e "tests/fuzz/$target.dict" ] || options="$options -dict=tests/fuzz/$target.dict"
    end=$(($(date +%s) + time))
    until fuzz $((end - $(date +%s))); do
        if ! passes_alone; then
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
