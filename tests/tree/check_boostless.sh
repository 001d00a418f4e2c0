#!/bin/sh
# A build without Boost.Math has no audit, but finds leaks. With APL_LONG=1: it compiles nearly everything.
. tests/lib.sh
BUILD=${BUILD:-build}
scratch

if [ -z "${APL_LONG:-}" ]; then
    skip boostless "make check-long builds without Boost"
    exit 0
fi
apldata=$scratch/build/apldata

built()
{
    ${MAKE:-make} BOOST= BUILD="$scratch/build" "$apldata" && ! "$apldata" audit "$scratch" && { ! ldd "$apldata" | grep stdc++; }
}

store()
{
    "$BUILD/mkshapes" --rows 60 "$scratch/shapes.tar" && "$BUILD/aplingest" -q --partial "$scratch/shapes.tar" "$scratch/db" &&
        "$apldata" split -q "$scratch/db" val=0.2
}

leaks() # none, and then records of one split in another
{
    "$apldata" check "$scratch/db" | grep -q "what is left to chance has not been tested" &&
        "$apldata" check -q "$scratch/db" && ! "$apldata" check -q "$scratch/db" train val
}

check "without Boost: apldata builds" built
check "without Boost: splits" store
check "without Boost: leaks are found" leaks
check "without Boost: --level is refused" sh -c "! '$apldata' check --level 0.1 '$scratch/db' 2>&1 | grep -v 'no statistics' | grep ."
