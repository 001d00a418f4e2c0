#!/bin/bash
# Builds and runs every test; the last line says how many passed and failed, and those before it what was skipped and
# why. Logs are kept in build/logs; of suites that fail they are shown. Each line tells seconds, and CPU seconds.
#
#   tests/run.sh [SUITE...]      all suites, or those named: unit cli variants fuzz arm64 scripts stress asan tsan faults
#                                python litter; `frameworks` and `ecosystem` run when named, or where $APL_LONG is set;
#                                `quick` when named
#   T=NAME tests/run.sh quick    test_NAME.c or check_NAME.sh of any room, or a case of tests/cli
#
# A suite says what is to be built for it, and queues jobs (runner/queue.sh), each of which runs tests of some kind
# (runner/kinds.sh) and counts what came of them (runner/report.sh).

set -u
. tests/lib.sh
export BUILD=${BUILD:-build} MAKE=${MAKE:-make} CC=${CC:-cc} CXX=${CXX:-c++}
export LC_ALL=C
logs=$BUILD/logs
mkdir -p "$logs"
rm -f "$logs"/*.log "$logs"/.prepared-* "$logs"/.result.* "$logs/.skipped" "$logs/.failed"
. tests/runner/report.sh
. tests/runner/kinds.sh
. tests/runner/queue.sh

for APL_PYTHON in "$BUILD/venv/bin/python" python3 /usr/bin/python3 ''; do
    [ -n "$APL_PYTHON" ] && "$APL_PYTHON" -c 'import lmdb, numpy' 2>/dev/null && break
done
export APL_PYTHON

# names PATTERN: of the files below tests/ and its rooms, without folder and suffix
names()
{
    find tests -path "tests/$1" | sort | sed 's|.*/||; s|\.[a-z]*$||; s/^\(test\|target\|check\)_//'
}

# in_rooms FILE: where it lies; nothing, if there is none
in_rooms()
{
    find tests -name "$1"
}

# Unit tests of what waits, for seconds and on purpose.
waits='monitor|reader_batches|remote|serve|serve_faults'

# unit FLAVOUR NAME TESTS [VARIABLE=VALUE...]: these unit tests of a flavour
unit()
{
    local flavour=$1 name=$2 tests=$3 test kind
    shift 3
    if ! pkg-config --exists criterion; then
        queue short '' leave_out "$name" "Criterion is not installed"
        return
    fi
    for test in $tests; do
        [[ $test =~ ^($waits)$ ]] && kind=idle || kind=short
        queue $kind "$flavour" with "$@" criterion "$name $test" "$BUILD/$flavour/tests/test_$test"
    done
}

# Sweeps over every byte of a store take half an hour each in full, which is done once.
sweeps='indexed|indexed_lies|lmdb_damage|verify'

# repeated FLAVOUR NAME TESTS [VARIABLE=VALUE...]: unit tests that have run in another way: of sweeps, a sample
repeated()
{
    local flavour=$1 name=$2 tests=$3
    shift 3
    unit "$flavour" "$name" "$(printf '%s\n' $tests | grep -vxE "$sweeps")" "$@"
    unit "$flavour" "$name" "$(printf '%s\n' $tests | grep -xE "$sweeps")" "$@" APL_LONG=
}

# cli FLAVOUR DIR NAME CASES [VARIABLE=VALUE...]: these command line tests, with the commands in DIR, in parts of about twenty
cli()
{
    local flavour=$1 dir=$2 name=$3 cases=$4 count part parts
    shift 4
    count=$(printf '%s\n' $cases | wc -l)
    parts=$(((count + 19) / 20))
    for ((part = 0; part < parts; part++)); do
        # shellcheck disable=SC2046
        queue short "release $flavour" with APLINGEST="$dir/aplingest" APLDATA="$dir/apldata" MKSHAPES="$BUILD/mkshapes" "$@" \
            script "$name $((part + 1))/$parts" bash tests/cli/run.sh \
            $(printf '%s\n' $cases | awk -v part=$part -v parts=$parts 'NR % parts == part')
    done
}

# stress FLAVOUR [VARIABLE=VALUE...]: every stress test of a flavour
stress()
{
    local flavour=$1 test kind
    shift
    build "$flavour" stress
    for test in $(names 'stress/*.c'); do
        case $test in reader_stall | reader_close) kind=idle ;; *) kind=short ;; esac
        queue $kind "$flavour" with "$@" program "$flavour $test" "$BUILD/$flavour/tests/stress/$test"
    done
    queue short "$flavour" with "$@" program "$flavour simulate" "$BUILD/$flavour/tests/sim/simulate"
}

# fuzz FLAVOUR [VARIABLE=VALUE...]: the inputs that fuzzing has kept, through every target
fuzz()
{
    local flavour=$1 target
    shift
    build release replays
    build "$flavour" replays
    for target in $(names 'fuzz/target_*.c'); do
        queue short "release $flavour" with "$@" program "$flavour fuzz $target" "$BUILD/$flavour/tests/fuzz/replay_$target" \
            "$BUILD/fuzz/corpus/$target"
    done
}

suite_unit()
{
    build release all tests
    unit release unit "$(names '*/test_*.c')" APL_SPARSE=3
}

suite_cli()
{
    build release all tests
    cli release "$BUILD" cli "$(names 'cli/cases/*.sh')"
}

# Tests that count what is drawn, and reach nothing that others do not: a sanitizer has nothing to see in most of it.
counting='audit|audit_near|audit_sampling|audit_splits|reader_statistics|split_parts'

# Of a program whose locale has decimal commas, where one can be made: nothing that is read or written may depend on that.
commas()
{
    local folder=$PWD/$BUILD/locale
    mkdir -p "$folder"
    [ -d "$folder/de_DE.UTF-8" ] || localedef -i de_DE -f UTF-8 "$folder/de_DE.UTF-8" >/dev/null 2>&1
    [ ! -d "$folder/de_DE.UTF-8" ] || echo "LOCPATH=$folder LC_ALL= LC_NUMERIC=de_DE.UTF-8"
}

suite_asan()
{
    # The fake stacks of use-after-return checks do not align AVX-512 variables.
    local settings='ASAN_OPTIONS=detect_stack_use_after_return=0 UBSAN_OPTIONS=print_stacktrace=1 LSAN_OPTIONS=exitcode=23 APL_SPARSE=13'
    build release all tests
    build asan all tests faults
    # shellcheck disable=SC2086
    {
        queue long "release asan" with $settings PROGRAMS="$BUILD/asan" script "asan faults" bash tests/faults/run.sh asan
        repeated asan "asan unit" "$(names '*/test_*.c' | grep -vxE "${APL_LONG:-$counting}")" $settings $(commas)
        cli asan "$BUILD/asan" "asan cli" "$(names 'cli/cases/*.sh' | awk -v step="${APL_LONG:-3}" 'NR % step == 0')" $settings
        stress asan $settings
        fuzz asan $settings
    }
}

# Without a sanitizer, memory is measured too.
suite_stress()
{
    stress release
}

suite_fuzz()
{
    fuzz release
}

# Calls that fail, crashes, power cuts, full disks.
suite_faults()
{
    local part
    build release faults
    for part in crash sweep powercut disks; do
        queue long release with ONLY=$part script "faults $part" bash tests/faults/run.sh
    done
}

suite_tsan()
{
    stress tsan TSAN_OPTIONS=halt_on_error=1
}

# What reaches kernels that have variants: of the unit tests, and of the command line.
kernels='assemble augment block codec crop effects elements entropy filter golden hash image_codec images indexed
    indexed_decoder photo photo_indexed photos pinned_draws planes png_plain reader reader_late reader_packed reader_padded reader_transforms
    resample resize transcode transform turn varying_codec writer'
kernel_cases='export-npy get-kept get-png ingest-digests ingest-every-form stream-npy verify'

# The best variant has run already; these are the others that this machine can run.
suite_variants()
{
    local variants=scalar variant test
    build release all tests
    grep -qw avx512vl /proc/cpuinfo && variants="scalar avx2"
    for variant in $variants; do
        repeated release "$variant unit" "$kernels" APL_CPU="$variant"
        cli release "$BUILD" "$variant cli" "$kernel_cases" APL_CPU="$variant"
    done
    # What reads stores, by reading instead of mapping them.
    for test in get verify golden split reader reader_corrupt reader_state reader_state_refused; do
        queue short release with APL_IO=read APL_SPARSE=13 program "read $test" "$BUILD/release/tests/test_$test" -j1
    done
}

# arm64 NAME SOURCE...: tests/arm64/NAME.c with what it tests, built and run for arm64
arm64()
{
    local name=$1
    shift
    if ! aarch64-linux-gnu-gcc -static -O2 -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -pthread $(sees TESTS) \
        "tests/arm64/$name.c" "$@" -o "$BUILD/arm64-$name" >"$logs/arm64-$name.log" 2>&1; then
        count "arm64 build of $name" 0 1 0 "$logs/arm64-$name.log"
        return
    fi
    program "arm64 $name" "$emulator" "$BUILD/arm64-$name"
}

suite_arm64()
{
    emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static)
    [ "$(uname -m)" = aarch64 ] && emulator=env
    if ! command -v aarch64-linux-gnu-gcc >/dev/null || [ -z "$emulator" ]; then
        queue short '' leave_out arm64 "needs aarch64-linux-gnu-gcc and qemu-aarch64"
        return
    fi
    mkdir -p "$BUILD"
    queue long '' with APL_SPARSE=13 arm64 assembly reader/image/assemble.c reader/image/assemble_shared.c reader/image/assemble_scalar.c \
        reader/image/assemble_for.c reader/image/assemble_race.c reader/image/assemble_neon.c store/base/cpu.c
    queue short '' arm64 kernels store/codec/filter_scalar.c store/codec/filter_neon.c \
        store/codec/plane_scalar.c store/codec/plane_neon.c
    queue short '' arm64 png_filters ingest/images/png_filter.c ingest/images/png_filter_pair.c store/base/cpu.c
    queue short '' arm64 resample reader/photo/resample.c reader/photo/resample_scalar.c reader/photo/resample_neon.c
    queue short '' arm64 segments reader/photo/code_table.c reader/photo/idct.c reader/photo/segments_scalar.c \
        reader/photo/segments_neon.c
    queue short '' arm64 colours reader/effects/colour_scalar.c
    queue short '' arm64 blends reader/effects/blend_scalar.c reader/effects/beta.c store/base/random.c -lm
}

# Those scripts that take longest, in this order.
long_scripts='promises targets models simulation tree readme kept mutations audit_page view_page format'

suite_scripts()
{
    local name
    # All that scripts have built, as two makes at a time must not build the same.
    build release all tests stress replays faults objs examples benches
    for name in $long_scripts; do
        queue long release script "$name" sh "$(in_rooms "check_$name.sh")"
    done
    for name in $(names '*/check_*.sh' | grep -vxE "${long_scripts// /|}"); do
        queue short release script "$name" sh "$(in_rooms "check_$name.sh")"
    done
}

# prepare KIND (of tests/python.sh): what takes long is to fetch packages, so it begins while others build
prepare()
{
    timeout 3600 sh tests/python.sh prepare "$1" >"$logs/$1-setup.log" 2>&1
    echo $? >"$logs/.prepared-$1"
    count "$1 packages" 0 0 0 "$logs/$1-setup.log"
}

python_tests() # KIND (of tests/python.sh)
{
    if [ "$(cat "$logs/.prepared-$1")" = 0 ]; then
        patience=$((2 * patience)) script "$1" sh tests/python.sh run "$1"
    else
        leave_out "$1" "$(tail -n 1 "$logs/$1-setup.log")"
    fi
    [ "$1" != python ] || script "python faults" bash tests/faults/run.sh python
}

suite_python()
{
    makes_ready python '' prepare python
    build release faults
    queue long "release python" python_tests python
}

suite_frameworks()
{
    makes_ready frameworks '' prepare frameworks
    queue long frameworks python_tests frameworks
}

# One after the other: these need much memory.
suite_ecosystem()
{
    makes_ready ecosystem '' prepare ecosystem
    run_jobs
    queue long ecosystem python_tests ecosystem
}

# What is worth running after each change: see make test. These unit tests take half of the CPU time of all, and wait for
# make check, as do most cases of the command line.
slow='audit|audit_sampling|audit_splits|failing_collate|failing_ingest|failing_reader|failing_store|failing_writer|input|pickle_damage'
quick_cases='help-apldata help-aplingest misuse-apldata misuse-aplingest misuse-bench get-errors get-listing get-raw get-text
             info info-json verify export-raw no-store'

# one NAME: all tests of that name
one()
{
    local unit cli script
    unit=$(in_rooms "test_$1.c") cli=tests/cli/cases/$1.sh script=$(in_rooms "check_$1.sh")
    build release all "$BUILD/mkshapes" "${unit:+$BUILD/release/tests/test_$1}"
    run_jobs && [ $failed -eq 0 ] || return 0
    [ -z "$unit" ] || queue short release criterion "unit $1" "$BUILD/release/tests/test_$1" "$cores"
    [ ! -e "$cli" ] || queue short release script "cli $1" bash tests/cli/run.sh "$1"
    [ -z "$script" ] || queue short release script "$1" sh "$script"
    [ ${#commands[@]} -gt 1 ] || queue short '' script "$1" \
        echo "FAIL there is no test_$1.c, tests/cli/cases/$1.sh or check_$1.sh"
}

suite_quick()
{
    local test
    [ -z "${T:-}" ] || { one "$T" && return; }
    build release all tests
    run_jobs && [ $failed -eq 0 ] || return 0
    # shellcheck disable=SC2086
    queue long release script cli bash tests/cli/run.sh $quick_cases
    for test in tree headers symbols; do queue long release script "$test" sh "$(in_rooms "check_$test.sh")"; done
    unit release unit "$(names '*/test_*.c' | grep -vxE "$slow")" APL_SPARSE=13
}

tree()
{
    git status --porcelain --untracked-files=all 2>/dev/null | grep '^??'
}

# litter: what others have left behind, after all of them
litter()
{
    local log=$logs/litter.log
    tree | diff "$logs/.tree" - >"$log" && count "nothing is left behind" 1 0 0 "$log" && return
    count "nothing is left behind" 0 1 0 "$log"
}

suite_litter()
{
    run_jobs
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        queue short '' litter
    else
        queue short '' leave_out "nothing is left behind" "not a git checkout"
    fi
}

tree >"$logs/.tree"
for suite in ${*:-unit cli variants fuzz arm64 scripts stress asan tsan faults python ${APL_LONG:+frameworks ecosystem} litter}; do
    suite_"$suite"
done
run_jobs

tell_skipped
tell_failed
tell_totals
[ $failed -eq 0 ]
