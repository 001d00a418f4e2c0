#!/bin/bash
# Faults, crashes and power cuts: tests/faults/run.sh [sample|full]. Prints `ok ...` and `FAIL ...` lines.
#   PROGRAMS: the folder of the commands and `epoch`; INJECTOR: what is preloaded; FAULTS: the folder of the test
#   programs; MKSHAPES: draws archives; SEED: of what is drawn

set -u
. "$(dirname "$0")/../lib.sh"
build=${BUILD:-build}
absolute() { (cd "$(dirname "$1")" && echo "$PWD/$(basename "$1")"); }
programs=$(absolute "${PROGRAMS:-$build}") faults=$(absolute "${FAULTS:-$build/faults}")
injector=$(absolute "${INJECTOR:-$faults/inject.so}") mkshapes=$(absolute "${MKSHAPES:-$build/mkshapes}")
seed=${SEED:-$RANDOM}
scratch
cd "$scratch" || exit 1
mkdir archives work
"$mkshapes" --rows 60 archives/binary.tar.gz
"$mkshapes" --rows 60 --seed 2 archives/old.tar.gz
"$mkshapes" --rows 30 --python archives/python.tar

case ${1:-sample} in
full) runs=0 ;;
*) runs=3 ;;
esac
"$faults/sweep" "$programs" "$scratch/archives" "$scratch/work" "$injector" -n $runs -s "$seed"
