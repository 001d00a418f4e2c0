#!/bin/sh
# Does the check of splits reject honest divisions no more often than it says? With APL_LONG=1 a hundred of each way.
. tests/lib.sh
BUILD=${BUILD:-build}
apldata=$(cd "$BUILD" && pwd)/apldata
scratch

if ! "$apldata" audit --help >/dev/null 2>&1 || ! have python3; then
    skip split-level "needs apldata with audit, and python3"
    exit 0
fi

level()
{
    "$BUILD/mkshapes" --rows 1000 "$scratch/shapes.tar" &&
        "$BUILD/aplingest" -q --partial "$scratch/shapes.tar" "$scratch/db" &&
        python3 tests/audit/split_level.py "$apldata" "$scratch/db" "$@"
}

if [ -n "${APL_LONG:-}" ]; then
    check "honest divisions into 2 to 1,000 parts" level 100 1000
else
    check "some honest divisions into 2 to 100 parts" level 1 100
fi
