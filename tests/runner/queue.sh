# The jobs of tests/run.sh, of all suites in one queue: no core waits for the end of a suite. As many jobs as there are cores
# run at a time: more would disturb those that look at what happens in time. Half of them are long ones, which so begin early, beside short ones,
# as long as there are jobs of both kinds. One of those that mostly wait, for what they made hang, runs beside them. What is told keeps the order in which jobs were queued.

cores=$(nproc)
at_most=$cores
commands=() needs=() kinds=() made=() # of each job: what it runs, what must be ready, its kind, and what it makes ready
ended=() told=0
build=() long=() short=() idle=() # jobs that have not begun, by kind
long_running=0 idle_running=0
declare -A running=() # process to job
declare -A targets=() # of make, for each flavour
declare -A ready=()

# queue KIND NEEDS COMMAND...: a function to run when what it NEEDS is ready; KIND is build, long, short or idle
queue()
{
    local job=${#commands[@]}
    local -n waiting=$1
    waiting+=("$job")
    kinds+=("$1") needs+=("$2")
    shift 2
    commands+=("$(printf '%q ' "$@")")
}

# makes_ready NAME NEEDS COMMAND...: a job that others need
makes_ready()
{
    made[${#commands[@]}]=$1
    shift
    queue build "$@"
}

# build FLAVOUR TARGET...: what is to be built, in one go, before the jobs that need the flavour. The release comes first: what
# flavours share is built with it, as two makes at a time must not build the same.
build()
{
    local flavour=$1 before=
    shift
    [ "$flavour" = release ] || { before=release && build release all tests; }
    [ -n "${targets[$flavour]-}" ] || makes_ready "$flavour" "$before" make_flavour "$flavour"
    targets[$flavour]+=" $*"
}

# make_flavour FLAVOUR: a failure counts as one failed test
make_flavour()
{
    local log=$logs/build-$1.log parallel=-j$cores
    [ "$1" = release ] || parallel=-j$(((cores + 1) / 2)) # beside what tests the release
    case ${MAKEFLAGS-} in *jobserver*) parallel= ;; esac
    # shellcheck disable=SC2086
    $MAKE --no-print-directory -k $parallel FLAVOUR="$1" ${targets[$1]} >"$log" 2>&1
    count "build $1" 0 $(($? != 0)) 0 "$log"
}

# with NAME=VALUE... COMMAND...: the command, in an environment with these
with()
{
    while [[ $1 == *=* ]]; do
        export "${1?}" 2>/dev/null # bash warns of a locale that only programs can open, by LOCPATH
        shift
    done
    "$@"
}

is_ready() # JOB
{
    local need
    for need in ${needs[$1]}; do [ -n "${ready[$need]-}" ] || return 1; done
}

# tally KIND CHANGE: how many run
tally()
{
    case $1 in
    long) long_running=$((long_running + $2)) ;;
    idle) idle_running=$((idle_running + $2)) ;;
    esac
}

# begin KIND: the first job of that kind that is ready
begin()
{
    local -n waiting=$1
    local i job
    for i in "${!waiting[@]}"; do
        job=${waiting[i]}
        is_ready "$job" || continue
        run_job "$job" &
        running[$!]=$job
        tally "$1" 1
        unset "waiting[$i]"
        return
    done
    return 1
}

begin_next()
{
    begin build && return
    [ $long_running -ge $(((at_most + 1) / 2)) ] || ! begin long || return 0
    begin short || begin long
}

run_job() # JOB
{
    result=$logs/.result.$1 begun=$SECONDS
    : >"$result"
    spent=0
    eval "${commands[$1]}"
}

end() # PROCESS
{
    local job=${running[$1]}
    unset "running[$1]"
    ended[job]=1
    tally "${kinds[job]}" -1
    [ -z "${made[job]-}" ] || ready[${made[job]}]=1
    while [ -n "${ended[told]-}" ]; do
        tell_all "$logs/.result.$told"
        told=$((told + 1))
    done
}

# run_jobs: all that are queued
run_jobs()
{
    local process
    while true; do
        [ $idle_running -gt 0 ] || begin idle
        while [ $((${#running[@]} - idle_running)) -lt "$at_most" ] && begin_next; do :; done
        [ ${#running[@]} -gt 0 ] || break
        wait -n -p process "${!running[@]}"
        end "$process"
    done
    [ $told -eq ${#commands[@]} ] || tell "jobs that never began" 0 1 0 /dev/null 0 0
}
