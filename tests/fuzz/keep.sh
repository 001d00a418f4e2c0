#!/bin/sh
# Keeps what fuzzing has found: keep.sh FOLDER TARGET... reduces FOLDER/corpus/TARGET, the folder of `make fuzz`, to
# what reaches anything new, into tests/fuzz/corpus/TARGET.tar.xz.
set -e
folder=$1
shift
export ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=192:quarantine_size_mb=8
for target; do
    small=$folder/small/$target
    rm -rf "$small"
    mkdir -p "$small"
    "$folder/clang/release/tests/fuzz/fuzz_$target" -merge=1 -timeout=1 -rss_limit_mb=256 "$small" \
        "$folder/corpus/$target" 2>"$folder/$target.merge.log"
    tar -C "$small" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 -cf - \
        $(cd "$small" && ls) | xz -9e >"tests/fuzz/corpus/$target.tar.xz"
    echo "$target: $(ls "$small" | wc -l) inputs, $(stat -c %s "tests/fuzz/corpus/$target.tar.xz") bytes"
done
