#!/bin/bash
# Faults, crashes, power cuts and full disks: tests/faults/run.sh [sample|full|asan|python] (sample; with APL_LONG, full).
# Prints `ok ...` and `FAIL ...` lines.
#   PROGRAMS  the folder of the commands and of `epoch`; for asan, of those that were built with the sanitizers
#   FAULTS    the folder of the test programs
#   MKSHAPES  draws archives
#   FAULT_PYTHON  for python, an interpreter that has the package
#   SEED      of all that is drawn
#   KILLS     how often each program is killed
#   STEP      of the calls that change something, at one of how many it is ended (3)
#   ONLY      one of disks, powercut, crash and sweep

set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"
build=${BUILD:-build} kind=${1:-${APL_LONG:+full}}
absolute() { (cd "$(dirname "$1")" && echo "$PWD/$(basename "$1")"); }
programs=$(absolute "${PROGRAMS:-$build}") faults=$(absolute "${FAULTS:-$build/faults}")
mkshapes=$(absolute "${MKSHAPES:-$build/mkshapes}")
seed=${SEED:-$RANDOM} injector=$faults/inject.so

# In memory, if it can be: the tests sync thousands of times.
[ -w /dev/shm ] && export TMPDIR=${TMPDIR:-/dev/shm}
scratch
mkdir "$scratch/archives" "$scratch/work"
"$mkshapes" --rows 60 "$scratch/archives/binary.tar.gz"
"$mkshapes" --rows 60 --seed 2 "$scratch/archives/old.tar.gz"
"$mkshapes" --rows 30 --python "$scratch/archives/python.tar"

wanted()
{
    [ "${ONLY:-$1}" = "$1" ]
}

full_disks() # STEP in KiB
{
    wanted disks || return 0
    PROGRAMS=$programs bash "$here/diskfull.sh" "$1" "$scratch/archives/binary.tar.gz" "$scratch/archives/old.tar.gz"
}

# faults PROGRAM OPTION...
faults()
{
    local program=$1
    shift
    wanted "$program" || return 0
    "$faults/$program" "$programs" "$scratch/archives" "$scratch/work" "$injector" -s "$seed" "$@"
}

case $kind in
full)
    "$mkshapes" --rows 1100 "$scratch/archives/large.tar"
    full_disks 4
    faults powercut -n 100 -r 100
    faults crash -k "${KILLS:-125}"
    rm "$scratch/archives/large.tar"
    faults sweep -n 0
    ;;
python)
    export FAULT_PYTHON=${FAULT_PYTHON:-$(absolute "$build/venv-python/bin/python")} FAULT_SCRIPT=$here/python.py
    if "$FAULT_PYTHON" -c 'import apldata' 2>"$scratch/said"; then
        if [ -n "${APL_LONG:-}" ]; then
            faults sweep -o python -n 0
        else
            for call in open read memory; do faults sweep -o python -n 1 -c $call; done
        fi
    else
        echo "skipped faults through Python ($(tail -n 1 "$scratch/said"))"
    fi
    ;;
asan)
    # The sanitizer looks after memory itself, and comes second among what is loaded.
    injector=$faults/inject-io.so
    export ASAN_OPTIONS=verify_asan_link_order=0:detect_stack_use_after_return=0 LSAN_OPTIONS=exitcode=23
    export UBSAN_OPTIONS=print_stacktrace=1
    faults sweep -n ${APL_LONG:+2}1
    ;;
*)
    full_disks 48
    faults powercut -n 20 -r 8
    faults crash -k "${KILLS:-2}" -e "${STEP:-3}"
    faults sweep -n 1
    ;;
esac
