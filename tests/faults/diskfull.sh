#!/bin/bash
# Stores are made on file systems of every size, most of which are too small: tests/faults/diskfull.sh STEP ARCHIVE OLD
# (in KiB; an archive, and another one whose store is to be replaced). Needs PROGRAMS, and the right to mount.

set -u
step=$1 archive=$2 old=$3
work=$(mktemp -d) || exit 1
mkdir "$work/disk" "$work/new"
unmount() { umount "$work/disk" 2>/dev/null; }
trap 'unmount; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
ingest="$PROGRAMS/aplingest -q -j2 --partial"
$ingest "$old" "$work/old" && $ingest "$archive" "$work/new/db" || exit 1
old_size=$(($(stat -c %s "$work/old/data.mdb") / 1024)) new_size=$(($(stat -c %s "$work/new/db/data.mdb") / 1024))

# What is wrong after a run with this exit status and standard error.
spoiled()
{
    local expected=$work/old/data.mdb
    [ "$1" -eq 0 ] && expected=$work/new/db/data.mdb
    cmp -s "$work/disk/db/data.mdb" "$expected" || echo "another store"
    [ "$(ls -A "$work/disk/db")" = data.mdb ] || echo "litter"
    [ "$1" -eq 0 ] || [ "$1" -eq 1 ] || echo "exit status $1"
    [ "$1" -eq 0 ] || { [ "$(wc -l <"$work/said")" -eq 1 ] && grep -q 'No space left' "$work/said"; } || cat "$work/said"
}

bad=0 runs=0 full=0
for ((size = old_size + 16; size < old_size + new_size + 128; size += step)); do
    if ! mount -t tmpfs -o "size=${size}k" tmpfs "$work/disk" 2>/dev/null; then
        echo "skipped full disks (this user may not mount)"
        exit 0
    fi
    mkdir "$work/disk/db" && cp "$work/old/data.mdb" "$work/disk/db/"
    timeout 30 $ingest --force "$archive" "$work/disk/db" 2>"$work/said"
    status=$?
    why=$(spoiled $status)
    [ -z "$why" ] || { bad=$((bad + 1)) && echo "FAIL on a disk of $size KiB: $why"; }
    runs=$((runs + 1)) full=$((full + (status == 1)))
    unmount
done
if [ $bad -eq 0 ] && [ $full -gt 0 ] && [ $full -lt $runs ]; then
    echo "ok full disks: $runs sizes, too small in $full"
else
    echo "FAIL full disks: $bad of $runs sizes; too small in $full"
fi
