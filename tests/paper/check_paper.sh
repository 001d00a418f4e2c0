#!/bin/sh
# The paper's experiments (make paper): all loaders deliver the same records, and the whole of it runs, on a few images.
. tests/lib.sh
BUILD=${BUILD:-build}
paper=$BUILD/release/bench/paper/paper
home=$BUILD/paper/quick
scratch

if [ ! -x "$paper" ]; then
    skip paper "$paper is not built"
    exit 0
fi

runs() # with a row for each loader, and no trial that fails
{
    sh bench/paper/run.sh --quick >"$scratch/said" || return
    cat "$scratch/said"
    [ "$(grep -cE '^\| (plain read|burst buffer|LMDB|APL, window|\*\*APL)' "$scratch/said")" -ge 20 ]
}

digest() # LOADER AHEAD OPTION...
{
    loader=$1 ahead=$2
    shift 2
    "$paper" --digest --plain-images --loader "$loader" --ahead "$ahead" --db "$home/db" --raw "$home/raw" \
        --lmdb "$home/lmdb" --batch-size 64 "$@"
}

# Each record once an epoch, with the same pixels, from each loader, whether training loads, or threads or processes ahead of it.
same_records()
{
    {
        for loader in plain burst lmdb lmdb-raw apl; do
            for ahead in 0 1 3; do
                digest $loader $ahead || return
            done
        done
        for loader in lmdb lmdb-raw; do
            digest $loader 3 --processes || return
        done
    } >"$scratch/sums"
    cat "$scratch/sums"
    [ "$(sed 's/.*: //' "$scratch/sums" | sort -u | wc -l)" = 1 ] && [ "$(wc -l <"$scratch/sums")" = 34 ] &&
        grep -q ' 500 records, ' "$scratch/sums"
}

# A number a name behind the seed's: the loaders shuffle and augment by it, each in its own way, differently in each epoch.
augmented()
{
    for loader in plain apl; do
        "$paper" --digest --loader $loader --db "$home/db" --raw "$home/raw" --seed "$1"
    done
}

different_augmentations()
{
    augmented 1 >"$scratch/one" && augmented 1 >"$scratch/again" && augmented 2 >"$scratch/two" && cat "$scratch/one" &&
        cmp "$scratch/one" "$scratch/again" && [ "$(cat "$scratch/one" "$scratch/two" | sed 's/.* //' | sort -u | wc -l)" -ge 4 ]
}

nothing_staged() # when a trial was killed in its middle: what is staged has no name
{
    mkdir "$scratch/staging" || return
    "$paper" --loader burst --raw "$home/raw" --staging "$scratch/staging" --seconds 60 --blocks 0 >"$scratch/killed" &
    sleep 0.3
    kill -KILL $!
    wait $! 2>/dev/null
    [ -z "$(ls -A "$scratch/staging")" ]
}

# start_processes: training that loads by processes, of which $child is one; $! is training
start_processes()
{
    "$paper" --loader lmdb-raw --ahead 2 --processes --lmdb "$home/lmdb" --seconds 3 --blocks 0 >"$scratch/trained" 2>"$scratch/said" &
    child=
    for try in 1 2 3 4 5 6 7 8 9 10; do
        child=$(cut -d ' ' -f 1 "/proc/$!/task/$!/children")
        [ -z "$child" ] || return 0
        sleep 0.1
    done
    return 1
}

lost_process_told() # rather than waited for, or done without
{
    start_processes || return
    kill -KILL "$child"
    wait $! 2>/dev/null && return 1
    cat "$scratch/said"
    grep -q "a process that loads has ended" "$scratch/said"
}

ended() # PID: within a second
{
    for try in 1 2 3 4 5 6 7 8 9 10; do
        grep -q '^State:[[:space:]]*[RSDT]' "/proc/$1/status" 2>/dev/null || return 0
        sleep 0.1
    done
    return 1
}

no_process_left() # when training was killed
{
    start_processes || return
    kill -KILL $!
    wait $! 2>/dev/null
    ended "$child"
}

nonsense_refused() # before anything is built or installed
{
    ! BUILD=$scratch/nothing sh bench/paper/run.sh --trials "$1" 2>"$scratch/said" && grep "argument --trials" "$scratch/said" &&
        [ ! -e "$scratch/nothing" ]
}

check "paper: no trials are refused at once" nonsense_refused 0
check "paper: so is what is no number" nonsense_refused ten
check "paper: the experiments run" runs
check "paper: all loaders deliver the same records" same_records
check "paper: a seed gives one augmentation" different_augmentations
check "paper: nothing staged is left behind" nothing_staged
check "paper: training that loses a process ends" lost_process_told
check "paper: no process outlives training" no_process_left
