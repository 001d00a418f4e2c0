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
model bins -DDRAWERS=1
model bins -DPUTTERS=1 -DBLOCK=3
bug bins -DBUG_BIN_UNLOCKED
model tickets
model tickets -DSTALLS -DDRAWERS=1
bug tickets -DBUG_LOAD_STORE
bug tickets -DBUG_RELAXED
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
    bug bins -DBUG_COUNT_FIRST
    bug bins -DBUG_COUNT_UNLOCKED
    bug tickets -DBUG_TAG -DBLOCK=2 -DDRAWERS=1 -DBATCH=2
    bug tickets -DBUG_NUMBER -DPUTTERS=3 -DDRAWERS=1
    bug tickets -DBUG_COUNT_FIRST
    bug tickets -DBUG_INSTALL_LATE -DDRAWERS=1
    bug tickets -DBUG_TAKEN_EARLY
    model tickets -DSTALLS
    model tickets -DSEGMENT=2
    model tickets -DDRAWERS=3
    model tickets -DBLOCK=2 -DDRAWERS=1
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
