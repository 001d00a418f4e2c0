#!/bin/bash
# How long an ingest takes beside `gzip -dc` alone on the same archive, how long verify takes beside the ingest,
# and how large the stores are. The runs take turns, and the best of each counts.
#
#   CIFAR=ARCHIVE.tar.gz ROUNDS=5 bench/ingest.sh
set -euo pipefail
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-5}
DATA=${APL_DATA:-../shared/data}
archive=${CIFAR:-}
db=$BUILD/bench.db
trap 'rm -rf "$db"' EXIT

if [ -z "$archive" ] && [ -e data/cifar-10-binary.tar.gz ]; then
    archive=data/cifar-10-binary.tar.gz
elif [ -z "$archive" ]; then
    archive=$BUILD/shapes-binary.tar.gz
    echo "drawn images, for lack of others (CIFAR=archive)"
    [ -e "$archive" ] || "$BUILD/mkshapes" "$archive"
fi

# microseconds COMMAND...: prints how long it took
microseconds()
{
    local begin=${EPOCHREALTIME/./}
    "$@" >/dev/null
    echo $((${EPOCHREALTIME/./} - begin))
}

least() # A B: the smaller, or the only one
{
    echo $((${1:-$2} < $2 ? ${1:-$2} : $2))
}

over() # A B: A / B
{
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", a / b }'
}

# size DB: bytes of data.mdb over raw bytes
size()
{
    local raw
    raw=$("$BUILD/apldata" info --json "$1" | sed -n 's/^  "raw_bytes": *\([0-9]*\).*/\1/p')
    over "$(stat -c %s "$1/data.mdb")" "$raw"
}

gzip= ingest= verify=
cat "$archive" >/dev/null # into the page cache
for ((round = 0; round < ROUNDS; round++)); do
    gzip=$(least "$gzip" "$(microseconds gzip -dc "$archive")")
    ingest=$(least "$ingest" "$(microseconds "$BUILD/aplingest" -q --force "$archive" "$db")")
    verify=$(least "$verify" "$(microseconds "$BUILD/apldata" verify "$db")")
done
line='%-52s %8s %8s\n'
printf "$line" "$archive, best of $ROUNDS, $(nproc) cores" ms ratio
printf "$line" "gzip -dc" $((gzip / 1000)) 1
printf "$line" "aplingest, of gzip -dc (at most 0.8)" $((ingest / 1000)) "$(over "$ingest" "$gzip")"
printf "$line" "apldata verify, of aplingest (below 1)" $((verify / 1000)) "$(over "$verify" "$ingest")"
printf "$line" "data.mdb, of raw bytes" "" "$(size "$db")"
sample=$DATA/cifar-10-binary-sample.tar.gz
if [ -e "$sample" ]; then
    "$BUILD/aplingest" -q --force --partial "$sample" "$db"
    printf "$line" "data.mdb, of raw bytes, genuine sample (at most 0.565)" "" "$(size "$db")"
fi

# a table of boxes and labels, whose values are tested against kinds, beside the same without
table=$BUILD/bench-boxes.jsonl
awk 'BEGIN { srand(1); for (i = 0; i < 20000; i++) { n = 1 + int(rand() * 10); b = l = ""
    for (k = 0; k < n; k++) {
        b = b (k ? "," : "") sprintf("[%.3f,%.3f,%.3f,%.3f]", rand() * 99, rand() * 99, 100 + rand() * 99, 100 + rand() * 99)
        l = l (k ? "," : "") int(rand() * 80) }
    printf "{\"boxes\":[%s],\"labels\":[%s]}\n", b, l } }' >"$table"
plain= kinds=
for ((round = 0; round < ROUNDS; round++)); do
    plain=$(least "$plain" "$(microseconds "$BUILD/aplingest" -q --force --type "boxes=f32[-1,4]" "$table" "$db")")
    kinds=$(least "$kinds" "$(microseconds "$BUILD/aplingest" -q --force --field boxes=boxes --field labels=label,per=boxes "$table" "$db")")
done
rm -f "$table"
printf "$line" "a table with kinds, of one without (at most 1.05)" $((kinds / 1000)) "$(over "$kinds" "$plain")"
