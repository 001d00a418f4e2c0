#!/bin/bash
# What leaves one machine or one process, beside its bars (docs/SCALE.md): a server of batches, a large set, and a store at a URL. A server of
# bench/remote.py's own stands for the link: 20 ms away, 1 Gbit/s.
#
#   CIFAR=ARCHIVE.tar.gz SHARDS=10000 RECORDS=100000 SCRATCH=FOLDER bench/scale.sh
#
# The set is made in SCRATCH, once: ten minutes, and 20 GB, for 10^9 records; the plan of all of them takes 5 GB of memory.
set -euo pipefail
BUILD=${BUILD:-build}
SCRATCH=${SCRATCH:-$BUILD/bench-scale}
SHARDS=${SHARDS:-1000}
RECORDS=${RECORDS:-10000}
ROUNDS=${ROUNDS:-5}
archive=${CIFAR:-$BUILD/shapes-binary.tar.gz}
mkdir -p "$SCRATCH"
[ -e "$archive" ] || "$BUILD/mkshapes" "$archive"
[ -e "$SCRATCH/db" ] || "$BUILD/aplingest" -q "$archive" "$SCRATCH/db"

echo "load of this machine: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores; $SHARDS shards of $RECORDS records"
"$BUILD/release/bench/bench_serve" "$SCRATCH/db" "$ROUNDS"
"$BUILD/release/bench/bench_set" "$SCRATCH/set-$SHARDS-$RECORDS" "$SHARDS" "$RECORDS"
BUILD=$BUILD ROUNDS=$ROUNDS bash bench/scale_parts.sh "$archive" "$SCRATCH"
python3 bench/remote.py "$SCRATCH/db"
