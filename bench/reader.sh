#!/bin/bash
# The reader beside plain loops that do the same work without it, on a store of full size; what planning costs;
# and, with GROWTH=1 (a minute or two, 8 GB of memory), whether a record costs the same in large stores.
#
#   CIFAR=ARCHIVE.tar.gz ROUNDS=9 bench/reader.sh
set -euo pipefail
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-9}
archive=${CIFAR:-}
folder=$BUILD/bench-reader
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder"

if [ -z "$archive" ] && [ -e data/cifar-10-binary.tar.gz ]; then
    archive=data/cifar-10-binary.tar.gz
elif [ -z "$archive" ]; then
    archive=$BUILD/shapes-binary.tar.gz
    echo "drawn images, for lack of others (CIFAR=archive)"
    [ -e "$archive" ] || "$BUILD/mkshapes" "$archive"
fi

echo "load of this machine: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores; what else runs spoils what is measured"
"$BUILD/aplingest" -q --force "$archive" "$folder/db"
"$BUILD/release/bench/bench_reader" "$folder/db" "$ROUNDS"
"$BUILD/release/bench/bench_plan"
"$BUILD/release/bench/bench_serve" "$folder/db" 5
if [ -n "${GROWTH:-}" ]; then
    "$BUILD/release/bench/bench_growth" "$folder"
else
    echo "growth: not measured (GROWTH=1)"
fi
