#!/bin/sh
# What `make bench` does: builds and runs every benchmark. All figures are ratios within one run.
set -eu
BUILD=${BUILD:-build}
MAKE=${MAKE:-make}
case ${MAKEFLAGS-} in
*jobserver*) ;;
*) MAKE="$MAKE -j$(nproc)" ;;
esac
$MAKE -s --no-print-directory all benches "$BUILD/mkshapes"

# The images to measure on: genuine ones if there are any.
DATA=${APL_DATA:-../shared/data}
rows=$BUILD/bench-rows.bin
trap 'rm -f "$rows"' EXIT
for archive in "$DATA/cifar-10-binary-sample.tar.gz" data/cifar-10-binary.tar.gz "${CIFAR:-}"; do
    [ -e "$archive" ] && break
done
if [ -e "$archive" ]; then
    tar -xzOf "$archive" --wildcards '*_batch*.bin' >"$rows"
else
    archive="drawn images"
    "$BUILD/mkshapes" --rows 1000 - | tar -xOf - --wildcards '*_batch*.bin' >"$rows"
fi

for source in bench/*.c; do
    [ -e "$source" ] || continue
    name=$(basename "$source" .c)
    case $name in
    bench_reader | bench_plan | bench_growth | bench_serve | bench_boxes | bench_bins | bench_set) continue ;; # by reader.sh, scale.sh, peers and make bench-bins
    bench_photo) # of JPEG images in the folder PHOTOS
        [ -d "${PHOTOS:-}" ] || continue
        printf '\n== bench_photo, %s\n' "$PHOTOS"
        "$BUILD/release/bench/bench_photo" "$PHOTOS"
        continue
        ;;
    esac
    printf '\n== %s, %s\n' "$name" "$archive"
    "$BUILD/release/bench/$name" "$rows"
done
printf '\n== ingest\n'
BUILD=$BUILD bash bench/ingest.sh
printf '\n== reader\n'
BUILD=$BUILD bash bench/reader.sh
