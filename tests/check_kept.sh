#!/bin/sh
# The reader's suites once more, over stores in which a field is kept: exactly once, orders, resuming, ranks, damage.
. tests/lib.sh
BUILD=${BUILD:-build}
export APL_TEST_KEPT=1
scratch

# suite NAME: passes with kept files as it does without
suite()
{
    "$BUILD/release/tests/test_$1" >"$scratch/said" 2>&1 || { tail -20 "$scratch/said"; false; }
}

for name in reader reader_batches reader_corrupt reader_ids reader_lanes reader_ranks reader_receipt reader_select \
    reader_shared reader_state reader_stay where; do
    if [ -x "$BUILD/release/tests/test_$name" ]; then
        check "kept: $name" suite "$name"
    else
        skip "kept: $name" "build/release/tests/test_$name is not built"
    fi
done
