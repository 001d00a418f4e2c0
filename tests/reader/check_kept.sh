#!/bin/sh
# The reader's suites once more, over stores in which a field is kept, whose values are read when their batch is made: exactly once,
# orders, resuming, ranks, damage; and the simulation, in which reading takes time, is interrupted, and fails.
. tests/lib.sh
BUILD=${BUILD:-build}
export APL_TEST_KEPT=1
scratch

# suite NAME: passes with kept files as it does without
suite()
{
    "$BUILD/release/tests/test_$1" >"$scratch/said" 2>&1 || { tail -20 "$scratch/said"; false; }
}

for name in reader reader_batches reader_buckets reader_corrupt reader_ids reader_lanes reader_packed reader_padded \
    reader_ranks reader_receipt reader_sampling reader_select reader_shared reader_sources reader_state \
    reader_state_refused reader_stats reader_stay reader_transforms reader_union reader_windows sampling_faults where; do
    if [ -x "$BUILD/release/tests/test_$name" ]; then
        check "kept: $name" suite "$name"
    else
        skip "kept: $name" "build/release/tests/test_$name is not built"
    fi
done

simulated()
{
    "$BUILD/release/tests/sim/simulate" 1000 >"$scratch/said" 2>&1 || { tail -20 "$scratch/said"; false; }
}

if [ -x "$BUILD/release/tests/sim/simulate" ]; then
    check "kept: simulation" simulated
else
    skip "kept: simulation" "build/release/tests/sim/simulate is not built"
fi
