#!/bin/sh
# The simulation of clusters (tests/cluster): blocks tell what records do, a seed gives one table, and caches are ordered
# as what they know of the future: LRU, readers' (an epoch), the whole plan (all).
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

ordered() # in both clusters; who sees all epochs fetches what must be fetched, and readers at most a quarter more
{
    cat "$scratch/first"
    awk '/^LRU / { lru = $2 } /^readers. cache / { n++; if ($4 >= lru || $5 > 1.25 || $5 < 1) exit 1 }
         /^the whole plan / { n++; if ($5 > 1.001 || $5 < 1) exit 1 } END { exit n != 4 }' "$scratch/first"
}

check "cluster: as record by record" "$cluster" --check
check "cluster: a seed gives one table" replayed
check "cluster: caches that know more fetch less" ordered
