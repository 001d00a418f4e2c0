#!/bin/sh
# Are the planted bugs (README.md) bugs of this source? With APL_LONG=1 a dozen are planted, and the tests must find all of them.
. tests/lib.sh
BUILD=${BUILD:-build}
have python3 || { skip mutants "no python3" && exit 0; }

check "mutants: each planted bug has its place in the source, and tests" python3 tests/mutants/mutants.py --fits
if [ -z "${APL_LONG:-}" ]; then
    skip "mutants: a dozen are found" "long: APL_LONG=1"
elif [ ! -e "$BUILD/release/tests/test_manifest" ]; then
    skip "mutants: a dozen are found" "needs the tests' build"
else
    check "mutants: a dozen are found" env BUILD="$BUILD" python3 tests/mutants/mutants.py --sample
fi
