#!/bin/sh
# Every target that `make list` offers is known here, and is built, or at least begun, by `make check`.
. tests/lib.sh
BUILD=${BUILD:-build}
MAKE="${MAKE:-make} --no-print-directory"
case ${MAKEFLAGS-} in
*jobserver*) ;;
*) MAKE="$MAKE -j$(nproc)" ;;
esac
scratch

# What the other suites of make check build or run.
elsewhere='all check cluster dist faults install list python setup setup-test simulate soak test uninstall wheel'
# What is built, or begun, below.
here='bench bench-bins bench-peers check-frameworks check-long clean coverage deb demo examples format fuzz lint mutants objs paper reliability site wheels'

listed()
{
    $MAKE list | awk '$1 == "make" { print $2 }' | sort
}

known()
{
    # shellcheck disable=SC2086
    printf '%s\n' $elsewhere $here | sort
}

# differ FILE FILE: says what the one lacks, and the other
differ()
{
    diff "$1" "$2" | sed -n 's/^< \(.*\)/in make list, but not known here: \1/p; s/^> \(.*\)/known here, but not in make list: \1/p' | grep . &&
        return 1
    true
}

listed >"$scratch/listed"
known >"$scratch/known"
check "targets: each of make list is known to this test" differ "$scratch/listed" "$scratch/known"

rebuilt_without_header() # an object whose source included a header that is gone
{
    object=$scratch/gone/release/store/base/utf8.o
    $MAKE -s BUILD="$scratch/gone" "$object" || return 1
    printf '%s: store/base/gone.h\nstore/base/gone.h:\n' "$object" >>"${object%.o}.d"
    touch "$scratch/before"
    $MAKE -s BUILD="$scratch/gone" "$object" && [ "$object" -nt "$scratch/before" ]
}

check "targets: an object is built again when a header that it had is gone" rebuilt_without_header
check "targets: objs, examples and benchmarks are built" $MAKE -s objs examples benches
check "targets: bins with locks and without are measured" $MAKE -s bench-bins ROUNDS=quick
check "targets: inputs of fuzzing can be replayed" $MAKE -s replays
for script in tools/demo.sh tools/cifar_archive.sh tools/setup.sh bench/run.sh bench/peers/run.sh bench/paper/run.sh tests/promises/reliability.sh tests/fuzz/*.sh bench/*.sh; do
    check "targets: $script can be read" bash -n "$script"
done
check "targets: the programs beside other loaders can be compiled" sh -c '
    for f in bench/paper/*.py bench/peers/*.py bench/peers/photographs/*.py bench/peers/*/loaders/*.py; do python3 -c "import ast, sys; ast.parse(open(sys.argv[1]).read())" "$f" || exit; done'
# A shell that does nothing: `make -n` would run the lines that call make again, which begin with a plus sign.
for target in demo paper clean reliability mutants check-long check-frameworks bench-peers wheels deb site; do
    check "targets: make $target has all its rules" $MAKE -s SHELL="$(command -v true)" $target
done

fuzz_cc=
for cc in "${FUZZ_CC:-clang}" clang-19 clang-18 clang-17 clang-16 clang-15 clang-14; do
    have "$cc" && fuzz_cc=$cc && break
done

fuzz_one() # all targets, quickly and without sanitizers, as hardly anything is run; with APL_LONG the library once more, for libFuzzer
{
    with=
    [ -n "${APL_LONG:-}" ] || with=FUZZ_WITH=$BUILD/release/tests/fuzz/insides.a
    # shellcheck disable=SC2086
    $MAKE -s $with BUILD="$BUILD/fuzz/begun" CC="$fuzz_cc" FLAVOUR=release WERROR= CPPFLAGS=-U_FORTIFY_SOURCE \
        CFLAGS='-O0 -g1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link' fuzzers
}

libfuzzer()
{
    echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' >"$scratch/f.c"
    [ -n "$fuzz_cc" ] && "$fuzz_cc" -fsanitize=fuzzer "$scratch/f.c" -o "$scratch/f" 2>/dev/null
}

if libfuzzer; then
    check "targets: all targets of libFuzzer are built" fuzz_one
    check "targets: one of them runs" "$BUILD/fuzz/begun/release/tests/fuzz/fuzz_manifest" -runs=100 -max_len=64
else
    skip "targets: libFuzzer" "no clang with libFuzzer"
fi

coverage_one()
{
    $MAKE -s FLAVOUR=coverage "$BUILD/coverage/store/base/hash.o" && [ -e "$BUILD/coverage/store/base/hash.gcno" ]
}

check "targets: coverage begins" coverage_one
if have clang-format || have clang-format-14; then
    check "targets: all C files have the tree's form" $MAKE -s lint-format
else
    skip "targets: format" "no clang-format"
fi
if have clang-tidy; then
    check "targets: clang-tidy begins" $MAKE -s "$BUILD/lint/store/base/hash.tidy"
else
    skip "targets: clang-tidy" "no clang-tidy"
fi
check "targets: the analyser of gcc, ruff and mypy have nothing to say, where they are" \
    $MAKE -s "$BUILD/lint/store/base/hash.analysed" lint-python
