#!/bin/bash
# Four parts by mpirun, over one aplingest, of the same archive, unpacked: each process with one thread, by turns, the least time of each. And are
# the parts those that are made one by one?
#
#   ROUNDS=5 bench/scale_parts.sh ARCHIVE SCRATCH
set -euo pipefail
BUILD=${BUILD:-build}
place=$(mktemp -d "$2/parts.XXXXXX")
trap 'rm -rf "$place"' EXIT
archive=$place/archive.tar
gzip -dcf "$1" >"$archive"
command -v mpirun >/dev/null || { echo "parts: skipped: there is no mpirun (Debian: openmpi-bin)"; exit 0; }
mpi=(mpirun -n 4 --oversubscribe)
[ "$(id -u)" != 0 ] || mpi+=(--allow-run-as-root)

# Seconds that a command takes.
seconds() {
    local begin=$EPOCHREALTIME
    "$@" >/dev/null
    awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'
}

one() { rm -rf "$place/one" && "$BUILD/aplingest" -q --threads 1 "$archive" "$place/one"; }
four() { rm -rf "$place/four" && "${mpi[@]}" "$BUILD/aplingest" -q --threads 1 "$archive" "$place/four"; }

for _ in $(seq "${ROUNDS:-5}"); do
    echo "$(seconds one) $(seconds four)"
done | awk 'NR == 1 || $1 < one { one = $1 } NR == 1 || $2 < four { four = $2 }
    END { printf "parts: time of 4 by mpirun, over one aplingest: %.2f x (at most 0.6)\n", four / one }'

seq 4 | xargs -I@ "$BUILD/aplingest" -q --threads 1 --part @/4 "$archive" "$place/each"
diff -r "$place/four" "$place/each" && echo "parts: the set of mpirun is, byte for byte, that of parts made one by one"
