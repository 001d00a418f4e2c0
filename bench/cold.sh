#!/bin/bash
# The first epoch from a file that is not in memory: files of 110 KB, kept as they are and read in random order, from this machine's disk
# beside fio, and from a file system that takes its time for every read, as those on networks do; and CIFAR-10's compressed blocks.
#
#   CIFAR=ARCHIVE.tar.gz SCRATCH=FOLDER [APLDATA=build/apldata] bench/cold.sh
#
# SCRATCH must be on the disk to measure, not in memory. Another APLDATA, such as one of before a change, reads the same stores.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
BUILD=${BUILD:-build}
APLDATA=${APLDATA:-$BUILD/apldata}
SCRATCH=${SCRATCH:-$BUILD/bench-cold}
ROUNDS=${ROUNDS:-3}
DELAY=${DELAY:-5000} # of a slow file system's reads, in microseconds
COUNT=${COUNT:-4000}
archive=${CIFAR:-$BUILD/shapes-binary.tar.gz}
mkdir -p "$SCRATCH/slow"
[ -e "$archive" ] || "$BUILD/mkshapes" "$archive"
[ -e "$SCRATCH/cifar" ] || "$BUILD/aplingest" -q "$archive" "$SCRATCH/cifar"

make_files()
{
    mkdir "$SCRATCH/files"
    for ((i = 0; i < COUNT; i++)); do
        head -c $((60000 + i * 7919 % 100000)) /dev/urandom >"$SCRATCH/files/$i"
    done
    "$BUILD/aplingest" -q --format raw "$SCRATCH/files" "$SCRATCH/kept"
    rm -r "$SCRATCH/files"
}
[ -e "$SCRATCH/kept" ] || make_files

# rate DB OPTION...: MB/s of an epoch, opening included, of a file that is not in memory
rate()
{
    local bytes begin
    bytes=$(stat -c %s "$1/data.mdb")
    dd if="$1/data.mdb" iflag=nocache count=0 status=none
    begin=${EPOCHREALTIME/./}
    "$APLDATA" bench "$@" --epochs 1 --batch-size 64 >/dev/null
    echo $((bytes / (${EPOCHREALTIME/./} - begin)))
}

best() # WHAT DB OPTION...
{
    local what=$1 most=0 mb
    shift
    for ((round = 0; round < ROUNDS; round++)); do
        mb=$(rate "$@")
        most=$((mb > most ? mb : most))
    done
    printf '| %-60s | %6d |\n' "$what" "$most"
}

echo "load of this machine: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores; best of $ROUNDS, MB/s"
if command -v fio >/dev/null; then
    for depth in 1 64; do
        bytes=$(fio --name=r --filename="$SCRATCH/kept/data.mdb" --readonly --rw=randread --bs=108k --direct=1 --ioengine=libaio \
            --iodepth=$depth --runtime=5 --time_based --norandommap --output-format=terse | cut -d';' -f7)
        printf '| %-60s | %6d |\n' "fio, random reads of 108 KiB, $depth at a time" $((bytes * 1024 / 1000000))
    done
fi
for threads in none 1 2; do
    best "kept files, threads: $threads" "$SCRATCH/kept" --threads $threads
done
best "CIFAR-10, threads: 2" "$SCRATCH/cifar" --threads 2

pkg-config --exists fuse3 || { echo "a slow file system needs libfuse3-dev and fuse3" && exit; }
${CC:-cc} -O2 "$here/cold/slow_files.c" -o "$BUILD/slow_files" $(pkg-config --cflags --libs fuse3)
"$BUILD/slow_files" "$SCRATCH" "$DELAY" "$SCRATCH/slow" &
slow=$!
trap 'kill $slow && wait $slow' EXIT
for ((i = 0; i < 100; i++)); do
    [ -e "$SCRATCH/slow/kept" ] && break
    sleep 0.1
done
for threads in none 1 2; do
    best "kept files, $DELAY us a read, threads: $threads" "$SCRATCH/slow/kept" --threads $threads
done
best "CIFAR-10, $DELAY us a read, threads: 2" "$SCRATCH/slow/cifar" --threads 2
