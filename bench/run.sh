#!/bin/sh
# What `make bench` does: builds and runs every benchmark. All figures are ratios within one run.
set -eu
BUILD=${BUILD:-build}
MAKE=${MAKE:-make}
case ${MAKEFLAGS-} in
*jobserver*) ;;
*) MAKE="$MAKE -j$(nproc)" ;;
esac
$MAKE --no-print-directory all benches "$BUILD/mkshapes"
for source in bench/*.c; do
    [ -e "$source" ] || continue
    name=$(basename "$source" .c)
    printf '\n== %s\n' "$name"
    "$BUILD/release/bench/$name"
done
printf '\n== ingest\n'
BUILD=$BUILD bash bench/ingest.sh
