#!/bin/bash
# Builds and runs every test; the last line says how many passed and failed, and those before it what was skipped and
# why. Logs are kept in build/logs; of suites that fail they are shown. Each line tells seconds, and CPU seconds.
#
#   tests/run.sh [SUITE...]      all suites, or those named: unit cli stress fuzz faults asan tsan variants arm64 scripts
#                                python litter; `frameworks`, `ecosystem` and `quick` run when named
#   T=NAME tests/run.sh quick    what is called so: tests/test_NAME.c, a case of tests/cli, tests/check_NAME.sh

set -u
. tests/lib.sh
export BUILD=${BUILD:-build} MAKE=${MAKE:-make} CC=${CC:-cc} CXX=${CXX:-c++}
export LC_ALL=C
logs=$BUILD/logs
mkdir -p "$logs"
rm -f "$logs"/*.log "$logs"/.prepared-* "$logs"/.result.* "$logs/.skipped" "$logs/.failed"
passed=0 failed=0 skipped=0 begun=0
patience=300 # seconds
[ -z "${APL_LONG:-}" ] || patience=14400
jobs=$(nproc)
result='' queued=0 spent_before=0 at_once=$jobs # at once: the processes of one Criterion binary
case ${MAKEFLAGS-} in
*jobserver*) build="$MAKE --no-print-directory" ;;
*) build="$MAKE --no-print-directory -j$jobs" ;;
esac

for APL_PYTHON in "$BUILD/venv/bin/python" python3 /usr/bin/python3 ''; do
    [ -n "$APL_PYTHON" ] && "$APL_PYTHON" -c 'import lmdb, numpy' 2>/dev/null && break
done
export APL_PYTHON

# cpu: puts into $spent the hundredths of a CPU second that children who have ended have taken
cpu()
{
    local text part seconds sum=0
    times >"$logs/.times.$BASHPID"
    { read -r text && read -r text; } <"$logs/.times.$BASHPID"
    rm -f "$logs/.times.$BASHPID"
    for part in $text; do # such as 1m2.345s
        part=${part%s} seconds=${part#*m}
        sum=$((sum + 6000 * ${part%m*} + 10#${seconds/./} / 10))
    done
    spent=$sum
}

# count NAME PASSED FAILED SKIPPED LOG: adds to the total, shows the log of what failed
count()
{
    local seconds=$((SECONDS - begun)) spent
    cpu
    set -- "$@" "$seconds" $((spent - spent_before))
    spent_before=$spent begun=$SECONDS
    if [ -z "$result" ]; then
        tell "$@"
    else
        printf '%s\t' "$@" >>"$result"
        echo >>"$result"
    fi
}

# tell NAME PASSED FAILED SKIPPED LOG SECONDS CPU
tell()
{
    passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
    printf '%-32s %4d s %6d.%d cpu %4d passed' "$1" "$6" $(($7 / 100)) $(($7 / 10 % 10)) "$2"
    [ "$4" -eq 0 ] || printf ', %d skipped' "$4"
    [ "$3" -eq 0 ] || printf ', %d FAILED' "$3"
    printf '\n'
    [ "$3" -eq 0 ] || sed 's/^/    /' "$5"
    [ "$3" -eq 0 ] || note_failed "$1" "$5"
    [ "$4" -eq 0 ] || grep -ah '^skipped' "$5" | sed "s|^|$1	|" >>"$logs/.skipped"
}

# note_failed NAME LOG: keeps the lines that say what failed, or else the last ones
note_failed()
{
    local said
    said=$(grep -aE '^FAIL|^FAILED|\[FAIL\]|\[CRASH\]|ERROR: ' "$2" | head -n 10)
    printf '%s\n' "${said:-$(tail -n 3 "$2")}" | sed "s|^|    $1: |" >>"$logs/.failed"
}

# beside COMMAND...: runs one of the functions below beside others; gather tells what came of them, in this order
beside()
{
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    queued=$((queued + 1))
    (
        result=$logs/.result.$queued begun=$SECONDS spent_before=0 at_once=1
        : >"$result"
        "$@"
    ) &
}

gather()
{
    local i fields
    wait
    for ((i = 1; i <= queued; i++)); do
        while IFS=$'\t' read -r -a fields; do tell "${fields[@]}"; done <"$logs/.result.$i"
        rm -f "$logs/.result.$i"
    done
    local spent
    cpu
    queued=0 begun=$SECONDS spent_before=$spent
}

# Each reason once, with how many tests it concerns and of what.
tell_skipped()
{
    [ -s "$logs/.skipped" ] || return
    printf '\nskipped:\n'
    awk -F'\t' '{
        why = $2
        if (match(why, /\(.*\)$/)) why = substr(why, RSTART + 1, RLENGTH - 2)
        else sub(/^skipped:? *(\[[0-9]+\] [^ ]+ )?/, "", why)
        if (!count[why]++) order[++n] = why
        if (!((why, $1) in seen)) { seen[why, $1] = 1; of[why] = of[why] (of[why] ? ", " : "") $1 }
    }
    END { for (i = 1; i <= n; i++) printf "%5d  %s: %s\n", count[order[i]], of[order[i]], order[i] }' "$logs/.skipped"
}

# What failed, once more: who reads the end alone sees it.
tell_failed()
{
    [ -s "$logs/.failed" ] || return
    printf '\nfailed:\n'
    cat "$logs/.failed"
}

# leave_out NAME WHY: a suite that cannot be run here
leave_out()
{
    echo "skipped $1 ($2)" >"$logs/$1.log"
    count "$1" 0 0 1 "$logs/$1.log"
}

# built NAME TARGET...: builds; a failure counts as one failed test
built()
{
    local name=$1
    shift
    $build -k "$@" >"$logs/$name.log" 2>&1 && return 0
    count "$name" 0 1 0 "$logs/$name.log"
    return 1
}

# program NAME COMMAND...: a test that passes by exiting with 0
program()
{
    local name=$1 log=$logs/${1//[ \/]/-}.log
    shift
    timeout "$patience" "$@" >"$log" 2>&1
    local code=$?
    if [ $code -ne 0 ]; then
        echo "exit status $code" >>"$log"
        count "$name" 0 1 0 "$log"
    elif grep -q '^skipped' "$log"; then
        count "$name" 0 0 1 "$log"
    else
        count "$name" 1 0 0 "$log"
    fi
}

# script NAME COMMAND...: a script that prints `ok ...`, `FAIL ...` and `skipped ...`
script()
{
    local name=$1 log=$logs/${1//[ \/]/-}.log
    shift
    timeout $((3 * patience)) "$@" >"$log" 2>&1
    local code=$?
    local ok bad skips
    ok=$(grep -c '^ok ' "$log") bad=$(grep -c '^FAIL ' "$log") skips=$(grep -c '^skipped ' "$log")
    if [ "$bad" -eq 0 ] && { [ $code -ne 0 ] || [ $((ok + skips)) -eq 0 ]; }; then
        echo "FAIL: the script ended with exit status $code, and $ok checks" >>"$log"
        bad=1
    fi
    if [ "$bad" -gt 0 ]; then
        grep -v '^ok ' "$log" >"$log.short"
        mv "$log.short" "$log"
    fi
    count "$name" "$ok" "$bad" "$skips" "$log"
}

# criterion NAME BINARY: a Criterion binary; a test that says "skipped" is not counted as passed
criterion()
{
    local name=$1 log=$logs/${1//[ \/]/-}.log line
    timeout 600 "$2" --color=never -j"$at_once" >"$log" 2>&1
    local code=$?
    line=$(grep -a 'Synthesis: Tested:' "$log" | tail -n 1)
    if [[ ! $line =~ Tested:\ ([0-9]+).*Passing:\ ([0-9]+).*Failing:\ ([0-9]+).*Crashing:\ ([0-9]+) ]]; then
        echo "no summary: the test binary died with exit status $code" >>"$log"
        count "$name" 0 1 0 "$log"
        return
    fi
    local good=${BASH_REMATCH[2]} bad=$((BASH_REMATCH[3] + BASH_REMATCH[4])) skips
    skips=$(grep -ac '^skipped' "$log")
    [ "$skips" -le "$good" ] || skips=$good
    # Criterion passes a test that leaks: its process reports that when it ends, so before the summary. Behind the
    # summary the runner reports (with status 23) a leak of its own.
    local leaks
    leaks=$(sed '/Synthesis: Tested:/q' "$log" | grep -ac 'ERROR: LeakSanitizer')
    bad=$((bad + leaks)) good=$((good > leaks ? good - leaks : 0))
    [ "$bad" -eq 0 ] && [ $code -ne 0 ] && [ $code -ne 23 ] && bad=1
    count "$name" $((good - skips)) "$bad" "$skips" "$log"
}

# unit FLAVOUR NAME [" TEST... "]: the unit tests of a flavour, all or some
unit()
{
    if ! ls tests/test_*.c >/dev/null 2>&1; then return; fi
    if ! pkg-config --exists criterion; then
        leave_out "$2" "Criterion is not installed"
        return
    fi
    for source in tests/test_*.c; do
        local test
        test=$(basename "$source" .c)
        case ${3:- ${test#test_} } in *" ${test#test_} "*) ;; *) continue ;; esac
        if [ -x "$BUILD/$1/tests/$test" ]; then
            beside criterion "$2 ${test#test_}" "$BUILD/$1/tests/$test"
        else
            echo "it was not built" >"$logs/missing.log"
            beside count "$2 ${test#test_}" 0 1 0 "$logs/missing.log"
        fi
    done
    gather
}

unit_tests()
{
    ls tests/test_*.c | sed 's|^tests/test_||; s|\.c$||'
}

cases()
{
    ls tests/cli/cases/*.sh | sed 's|.*/||; s|\.sh$||'
}

# cli DIR NAME [CASE...]: the command line tests, all or some, with the commands in DIR, in parts of about twenty
cli()
{
    local dir=$1 name=$2 part parts
    shift 2
    # shellcheck disable=SC2046
    [ $# -gt 0 ] || set -- $(cases)
    parts=$((($# + 19) / 20))
    for ((part = 0; part < parts; part++)); do
        # shellcheck disable=SC2046
        APLINGEST=$dir/aplingest APLDATA=$dir/apldata MKSHAPES=$BUILD/mkshapes \
            beside script "$name $((part + 1))/$parts" bash tests/cli/run.sh \
            $(printf '%s\n' "$@" | awk -v part=$part -v parts=$parts 'NR % parts == part')
    done
    gather
}

suite_unit()
{
    export APL_SPARSE=3
    unit release unit
    unset APL_SPARSE
}

suite_cli()
{
    cli "$BUILD" cli
}

# Tests that count what is drawn, and reach nothing that others do not: a sanitizer has nothing to see in most of it.
counting='audit audit_near audit_sampling audit_splits reader_statistics split_parts'

suite_asan()
{
    # The fake stacks of use-after-return checks do not align AVX-512 variables.
    export ASAN_OPTIONS=detect_stack_use_after_return=0 UBSAN_OPTIONS=print_stacktrace=1
    export LSAN_OPTIONS=exitcode=23 APL_SPARSE=13
    built "build with asan" FLAVOUR=asan all tests
    unit asan "asan unit" "$(unit_tests | grep -vxE "${APL_LONG:-${counting// /|}}" | paste -sd ' ' | sed 's/.*/ & /')"
    # shellcheck disable=SC2046
    cli "$BUILD/asan" "asan cli" $(cases | awk -v step="${APL_LONG:+1}" 'NR % (step ? step : 3) == 0')
    stress asan
    fuzz asan
    built "build faults with asan" FLAVOUR=asan faults
    PROGRAMS=$BUILD/asan script "asan faults" bash tests/faults/run.sh asan
    unset ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS APL_SPARSE
}

# Those first that take longest, as they mostly wait: others run meanwhile.
stress_tests()
{
    echo reader_stall reader_close
    ls tests/stress/*.c | sed 's|.*/||; s|\.c$||' | grep -vxE 'reader_stall|reader_close'
}

# stress FLAVOUR: every stress test of a flavour
stress()
{
    local test
    built "build stress with $1" FLAVOUR="$1" stress
    for test in $(stress_tests); do
        beside program "$1 $test" "$BUILD/$1/tests/stress/$test"
    done
    beside program "$1 simulate" "$BUILD/$1/tests/sim/simulate"
    gather
}

# Without a sanitizer, memory is measured too.
suite_stress()
{
    stress release
}

# fuzz FLAVOUR: the inputs that fuzzing has kept, through every target
fuzz()
{
    built "build fuzz replays with $1" FLAVOUR="$1" replays
    for source in tests/fuzz/target_*.c; do
        local target=${source##*/target_}
        target=${target%.c}
        beside program "$1 fuzz $target" "$BUILD/$1/tests/fuzz/replay_$target" "$BUILD/fuzz/corpus/$target"
    done
    gather
}

suite_fuzz()
{
    fuzz release
}

# Calls that fail, crashes, power cuts, full disks.
suite_faults()
{
    local part
    built "build faults" faults
    for part in sweep crash powercut disks; do
        ONLY=$part beside script "faults $part" bash tests/faults/run.sh
    done
    gather
}

suite_tsan()
{
    export TSAN_OPTIONS=halt_on_error=1
    stress tsan
    unset TSAN_OPTIONS
}

# What reaches kernels that have variants: of the unit tests, and of the command line.
kernels=' assemble augment block codec crop effects elements entropy filter golden hash image_codec images indexed
    indexed_decoder photo photo_indexed photos planes reader reader_late reader_packed reader_padded reader_transforms
    resample resize transcode transform turn varying_codec writer '
kernel_cases='export-npy get-kept get-png ingest-digests ingest-every-form stream-npy verify'

# The best variant has run already; these are the others that this machine can run.
suite_variants()
{
    local variants=scalar variant
    grep -qw avx512vl /proc/cpuinfo && variants="scalar avx2"
    for variant in $variants; do
        export APL_CPU=$variant
        unit release "$variant unit" "${kernels//$'\n'/ }"
        # shellcheck disable=SC2086
        cli "$BUILD" "$variant cli" $kernel_cases
        unset APL_CPU
    done
    # What reads stores, by reading instead of mapping them.
    export APL_IO=read APL_SPARSE=13
    for test in get verify golden split reader reader_corrupt reader_state; do
        beside program "read $test" "$BUILD/release/tests/test_$test" -j1
    done
    gather
    unset APL_IO APL_SPARSE
}

# arm64 NAME SOURCE...: tests/arm64/NAME.c with what it tests, built and run for arm64
arm64()
{
    local name=$1
    shift
    [ -e "tests/arm64/$name.c" ] || return
    if ! $cross -static -O2 -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -pthread $(sees READER) \
        -Itests "tests/arm64/$name.c" "$@" -o "$BUILD/arm64-$name" >"$logs/arm64-$name.log" 2>&1; then
        count "arm64 build of $name" 0 1 0 "$logs/arm64-$name.log"
        return
    fi
    program "arm64 $name" "$emulator" "$BUILD/arm64-$name"
}

suite_arm64()
{
    local cross=aarch64-linux-gnu-gcc emulator
    emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static)
    [ "$(uname -m)" = aarch64 ] && emulator=env
    if ! command -v $cross >/dev/null || [ -z "$emulator" ]; then
        leave_out arm64 "needs $cross and qemu-aarch64"
        return
    fi
    arm64 kernels store/codec/filter_scalar.c store/codec/filter_neon.c
    arm64 assembly reader/image/assemble.c reader/image/assemble_shared.c reader/image/assemble_scalar.c \
        reader/image/assemble_for.c reader/image/assemble_race.c reader/image/assemble_neon.c store/base/cpu.c
    arm64 resample reader/photo/resample.c reader/photo/resample_scalar.c reader/photo/resample_neon.c
    arm64 segments reader/photo/code_table.c reader/photo/idct.c reader/photo/segments_scalar.c \
        reader/photo/segments_neon.c
    arm64 colours reader/effects/colour_scalar.c
    arm64 blends reader/effects/blend_scalar.c reader/effects/beta.c store/base/random.c -lm
}

# Those that run make, or measure, have the tree for themselves; those that take longest go first, beside others.
alone='install readme targets sandbox'
long='promises models simulation audit_page'

suite_scripts()
{
    local name
    for name in $long $(ls tests/check_*.sh | sed 's|.*/check_||; s|\.sh$||' | grep -vwE "${long// /|}|${alone// /|}"); do
        beside script "$name" sh "tests/check_$name.sh"
    done
    gather
    for name in $alone; do
        script "$name" sh "tests/check_$name.sh"
    done
}

# python_prepare KIND (of tests/python.sh): what takes long is to fetch packages, so it begins while other suites run
python_prepare()
{
    (
        timeout 3600 sh tests/python.sh prepare "$1" >"$logs/$1-setup.log" 2>&1
        echo $? >"$logs/.prepared-$1"
    ) &
    preparing=$!
    disown # or gather would wait for it
}

python_tests() # KIND (of tests/python.sh)
{
    [ -n "$preparing" ] || python_prepare "$1"
    tail --pid="$preparing" -f /dev/null
    preparing=''
    if [ "$(cat "$logs/.prepared-$1")" = 0 ]; then
        patience=$((2 * patience)) script "$1" sh tests/python.sh run "$1"
    else
        leave_out "$1" "$(tail -n 1 "$logs/$1-setup.log")"
    fi
}

suite_python()
{
    python_tests python
    built "build faults" faults && script "python faults" bash tests/faults/run.sh python
}

suite_frameworks()
{
    python_tests frameworks
}

suite_ecosystem()
{
    python_tests ecosystem
}

# What is worth running after each change: see make test. These unit tests take half of the CPU time of all, and wait for
# make check, as do most cases of the command line.
slow=' failing_collate failing_ingest failing_reader failing_store failing_writer input pickle_damage '
quick_cases='help-apldata help-aplingest misuse-apldata misuse-aplingest misuse-bench get-errors get-listing get-raw get-text
             info info-json verify export-raw no-store'

suite_quick()
{
    local test source
    if [ -n "${T:-}" ]; then
        [ ! -x "$BUILD/release/tests/test_$T" ] || criterion "unit $T" "$BUILD/release/tests/test_$T"
        [ ! -e "tests/cli/cases/$T.sh" ] || script "cli $T" bash tests/cli/run.sh "$T"
        [ ! -e "tests/check_$T.sh" ] || script "$T" sh "tests/check_$T.sh"
        [ $((passed + failed + skipped)) -gt 0 ] && return
        echo "there is no tests/test_$T.c, tests/cli/cases/$T.sh or tests/check_$T.sh" >"$logs/none.log"
        count "$T" 0 1 0 "$logs/none.log"
        return
    fi
    for source in tests/test_*.c; do
        test=${source#tests/test_} test=${test%.c}
        case $slow in *" $test "*) continue ;; esac
        [ -x "$BUILD/release/tests/test_$test" ] && beside criterion "unit $test" "$BUILD/release/tests/test_$test"
    done
    for test in tree headers symbols format; do beside script $test sh tests/check_$test.sh; done
    # shellcheck disable=SC2086
    beside script cli bash tests/cli/run.sh $quick_cases
    gather
}

tree()
{
    git status --porcelain --untracked-files=all 2>/dev/null | grep '^??'
}

suite_litter()
{
    local log=$logs/litter.log
    if ! git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        leave_out "nothing is left behind" "not a git checkout"
        return
    fi
    tree | diff "$logs/.tree" - >"$log" && count "nothing is left behind" 1 0 0 "$log" && return
    count "nothing is left behind" 0 1 0 "$log"
}

tree >"$logs/.tree"
suites=${*:-unit cli stress fuzz faults asan tsan variants arm64 scripts python litter}
case $suites in
python | frameworks | ecosystem | "frameworks ecosystem") ;; # these build what they need
quick)
    targets="all tests"
    [ -z "${T:-}" ] || targets="all $BUILD/mkshapes"
    [ ! -e "tests/test_${T:-}.c" ] || targets="all $BUILD/release/tests/test_$T"
    # shellcheck disable=SC2086
    built build $targets || { echo "0 passed, 1 failed" && exit 1; }
    ;;
*) built build all tests ;;
esac
preparing=''
case " $suites " in *' python '*) python_prepare python ;; esac
for suite in $suites; do
    suite_"$suite"
done

tell_skipped
tell_failed
printf '\n%d h %02d min %02d s\n' $((SECONDS / 3600)) $((SECONDS / 60 % 60)) $((SECONDS % 60))
echo "$passed passed, $failed failed$([ $skipped -eq 0 ] || echo ", $skipped skipped")"
[ $failed -eq 0 ]
