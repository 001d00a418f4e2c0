#!/bin/sh
# Models of the reader's protocols (tests/models), searched through to the last state; and bugs planted in them, which must be
# found. With APL_LONG=1 larger ones too, and more bugs.
. tests/lib.sh
models=$PWD/tests/models
scratch
# To compile small searches well takes longer than to run them.
optimised=-O0
[ -z "${APL_LONG:-}" ] || optimised=-O1

# search MODEL FLAG...: what Spin says of all states of the model, in $scratch/said
search()
{
    model=$1
    shift
    cd "$scratch" && rm -f pan* ./*.trail
    spin -a "$@" "$models/$model.pml" || return
    ${CC:-cc} "$optimised" -w -DSAFETY -DCOLLAPSE -DMEMLIM=2048 -o pan pan.c || return
    ./pan -m100000 >said 2>&1
    grep -E 'errors:|^pan:' said
    ! grep -qE 'Search not completed|max search depth|out of memory|aborted' said || grep -q 'errors: [1-9]' said
}

holds()
{
    search "$@" && grep -q 'errors: 0$\|errors: 0 ' "$scratch/said"
}

# finds MODEL -DBUG_name FLAG...: there is such a bug to plant, and it does not go unnoticed
finds()
{
    grep -q "${2#-D}" "$models/$1.pml" && search "$@" && grep -qE 'assertion violated|invalid end state \(' "$scratch/said"
}

model()
{
    check "models: $* holds" holds "$@"
}

bug()
{
    check "models: $* is found" finds "$@"
}

if ! have spin; then
    skip "models" "needs spin"
    exit
fi
model bins -DHELPERS=1 -DBINS=4 -DSLOTS=3
model bins -DCHUNKS=1 -DBINS=2
bug bins -DBUG_HASTY
bug bins -DBUG_AHEAD
bug bins -DBUG_UNLOCKED
model arriving
bug arriving -DBUG_UNLOCKED
model schedule -DWORKERS=0 -DLEAVE -DBUFFERS=1
model schedule -DWORKERS=1 -DCANCEL -DCALLERS=1
model schedule -DWORKERS=1 -DFREE -DCALLERS=1
model schedule -DWORKERS=1 -DANYTIME -DHASTY -DCALLERS=1
model schedule -DWORKERS=2 -DFAILS -DCALLERS=1
model schedule -DWORKERS=2 -DCONSUMERS=1 -DCALLERS=1
bug schedule -DBUG_NO_SIGNAL -DWORKERS=2 -DCONSUMERS=1
bug schedule -DBUG_DEPTH -DWORKERS=1 -DBUFFERS=3
model block_cache -DEPOCHS=1
model block_cache -DEPOCHS=1 -DWORLD=2
bug block_cache -DBUG_SLOTS
bug block_cache -DBUG_PASSED -DWORLD=2
if [ -n "${APL_LONG:-}" ]; then
    bug bins -DBUG_RIPE_EARLY
    bug bins -DBUG_AGAIN
    model bins
    model bins -DHELPERS=1 -DBINS=4 -DSLOTS=3 -DEPOCHS=3
    bug arriving -DBUG_COUNT_FIRST
    model arriving -DPUTTERS=3
    model arriving -DPUTTERS=2 -DBLOCK=3
    bug schedule -DBUG_LATE_LENT -DWORKERS=0 -DLEAVE -DBUFFERS=1
    bug schedule -DBUG_QUIET -DWORKERS=1
    bug schedule -DBUG_REFERENCE -DWORKERS=1 -DANYTIME
    bug block_cache -DBUG_EARLY
    bug block_cache -DBUG_STAY -DSPARE=2 -DLOADERS=1
    model schedule
    model schedule -DWORKERS=1 -DFREE
    model block_cache -DLOADERS=1
    model schedule -DWORKERS=1 -DCANCEL
    model schedule -DWORKERS=1 -DFAILS
    model schedule -DWORKERS=1 -DANYTIME -DHASTY
    model schedule -DWORKERS=1 -DLEAVE -DANYTIME
    model schedule -DWORKERS=2 -DCONSUMERS=1
fi
