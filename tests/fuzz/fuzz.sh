#!/bin/sh
# Runs fuzz targets one after another: fuzz.sh FOLDER SECONDS TARGET...
# New inputs go to FOLDER/corpus/TARGET, what fails to FOLDER/found/; logs lie beside.
folder=$1 time=$2 failed=0
shift 2
mkdir -p "$folder/found"
# Memory that a hostile size asks for is refused, as by a system that has no more.
export ASAN_OPTIONS=detect_stack_use_after_return=0:allocator_may_return_null=1:max_allocation_size_mb=192:quarantine_size_mb=8
export UBSAN_OPTIONS=print_stacktrace=1
for target; do
    [ -e "tests/fuzz/$target.dict" ] && dict=-dict=tests/fuzz/$target.dict || dict=
    [ -e "tests/fuzz/$target.options" ] && options=$(cat "tests/fuzz/$target.options") || options=
    if "$folder/clang/release/tests/fuzz/fuzz_$target" -max_total_time="$time" -timeout=1 -rss_limit_mb=256 \
        -print_final_stats=1 -artifact_prefix="$folder/found/$target-" $dict $options "$folder/corpus/$target" \
        >"$folder/$target.log" 2>&1; then
        echo "ok $target: $(grep -a ' cov: ' "$folder/$target.log" | tail -n 1 | sed 's/^#[0-9]*\t//')"
    else
        failed=1
        echo "FAIL $target: see $folder/$target.log"
        grep -aE 'ERROR|does not hold|runtime error|SUMMARY|Test unit written' "$folder/$target.log" | head -n 5
    fi
done
exit $failed
