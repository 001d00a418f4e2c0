#!/bin/sh
# The simulation of clusters (tests/cluster): blocks tell what records do, a seed gives one table, and the plan's cache fetches at most
# 1.02 times what must be fetched.
. tests/lib.sh
BUILD=${BUILD:-build}
cluster=$BUILD/release/tests/cluster/cluster
scratch

if [ ! -x "$cluster" ]; then
    skip cluster "$cluster is not built"
    exit 0
fi

replayed() # the same seed twice, and another one
{
    "$cluster" --small --seed 5 >"$scratch/first" && "$cluster" --small --seed 5 >"$scratch/again" &&
        "$cluster" --small --seed 6 >"$scratch/other" && cmp "$scratch/first" "$scratch/again" &&
        ! cmp -s "$scratch/first" "$scratch/other"
}

close_to_the_bound() # in both clusters; and LRU is further from it
{
    cat "$scratch/first"
    awk '/^LRU / { lru = $3 } /^the plan  / { n++; if ($4 > 1.02 || $4 < 1 || $4 > lru) exit 1 } END { exit n != 2 }' "$scratch/first"
}

check "cluster: as record by record" "$cluster" --check
check "cluster: a seed gives one table" replayed
check "cluster: the plan is close to the bound" close_to_the_bound
