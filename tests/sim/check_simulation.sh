#!/bin/sh
# Does the simulation (tests/sim) find bugs? Each mutation plants one in a copy of a file of the reader, which is compiled and linked
# with the objects of the release build. Some seed must then fail, and fail in the same way when it is replayed. Without APL_LONG=1
# that is done for some only.
. tests/lib.sh
BUILD=${BUILD:-build}
objects=$BUILD/release
scratch

if [ ! -x "$objects/tests/sim/simulate" ]; then
    skip simulation "needs the simulation: make simulate"
    exit 0
fi
# CC may be more than a word.
cc=$(sed -E 's/ [^ ]+ -std=.*//' "$objects/flags") flags=$(sed 's/.* -std=/-std=/' "$objects/flags")
libraries="$(pkg-config --libs lmdb libzstd libcrypto libjpeg) -lm -pthread"

changed() # FILE SED: that file of the reader with its mutation, as $scratch/mutant.c
{
    sed -E "$2" "reader/$1" >"$scratch/mutant.c"
    if cmp -s "reader/$1" "$scratch/mutant.c"; then
        echo "the mutation changes nothing: reader/$1 no longer has the line that it is for"
        return 1
    fi
}

mutated() # FILE SED: the simulation with it, as $scratch/simulate
{
    changed "$@" || return
    # It may leave a variable unused.
    $cc $flags -w -fsanitize-coverage=trace-pc -include tests/sim/locals.h $(sees READER) -c "$scratch/mutant.c" \
        -o "$scratch/mutant.o" || return
    others=
    for source in tests/sim/*.c reader/*.c reader/*/*.c; do # objects may lie about whose source is gone
        object=$objects/${source%.c}.o
        case $source in reader/*) object=$objects/tests/sim/${source%.c}.o ;; esac
        [ "$source" = "reader/$1" ] || [ ! -e "$object" ] || others="$others $object"
    done
    $cc $flags @tests/sim/wraps -pie -o "$scratch/simulate" "$scratch/mutant.o" $others "$objects/insides.a" $libraries
}

failure() # of a run's words: the line that says what went wrong
{
    grep '^seed [0-9]*: ' "$1"
}

# found FILE SED: a seed fails, and in the same way again
found()
{
    mutated "$1" "$2" || return
    "$scratch/simulate" 100000 >"$scratch/said" && echo "not found" && return 1
    seed=$(sed -n 's/^seed \([0-9]*\): .*/\1/p' "$scratch/said")
    cat "$scratch/said"
    "$scratch/simulate" --trace "$seed" >"$scratch/again"
    [ "$(failure "$scratch/said")" = "$(failure "$scratch/again")" ]
}

check "simulation: giving slots back before they are read is found" found schedule.c \
    '/apl_status status = stale/d; s/(^ *)cache_release\(w->reader, job, w->slots\);/\1cache_release(w->reader, job, w->slots);\n    apl_status status = stale ? APL_OK : collate_batch(w, job, \&job->error);/'
check "simulation: a finished batch that wakes nobody is found" found schedule.c \
    's/^    tell_callers\(r\);$//'
check "simulation: waiting after the lock was released is found" found planner.c 's/return room; .*/return false;/'
[ -n "${APL_LONG:-}" ] || found() { changed "$@"; } # these are only seen to fit the source
check "simulation: asking too late whether all batches are lent is found" found reader.c \
    's/if \(lent\)$/if (all_lent(r, o))/'
check "simulation: closing without waking the workers is found" found calls.c '/r->calls.closing = true;/{n;d}'
check "simulation: a slot of each batch that is not given back is found" found block_cache.c \
    's/(slab_release\(&c->standing.slab, slots, n)\);/\1 - (n > 0));/'
check "simulation: releasing a reader in two steps is found" found handles.c \
    's/(before = )atomic_fetch_sub_explicit\(&h->state, HELD, memory_order_acq_rel\);/\1atomic_load(\&h->state); for (int i = 0; i < 40; i++) free(malloc(1)); atomic_store(\&h->state, before - HELD);/'
check "simulation: a batch that is ended while others make rows of it is found" found runs.c \
    's/while \(job->runs.helpers\)/while (false)/'
check "simulation: helping with a batch that has no rows left is found" found runs.c 's/ < job->runs.rows;/ < UINT32_MAX;/'
check "simulation: the last helper leaving without a word is found" found runs.c '/--job->runs.helpers == 0/{n;s/.*/        (void)0;/}'
check "simulation: planning while a rank has no place for its batch is found" found outlet.c \
    's/if \(outlet_takes_part\(r, &r->outlets\[i\]\) && queue_is_full\(.*\)\)$/if (i == 0 \&\& queue_is_full(\&r->outlets[i].queue))/'
check "simulation: beginning an epoch while batches of a left one are made is found" found outlet.c \
    's/uint64_t first = queue_is_empty.*/uint64_t first = o->tally.epoch;/'
check "simulation: leaving an epoch for all ranks, of which some stay, is found" found reader.c \
    's/if \(!whole && is_last_to_leave\(r, o\)\)/if (!whole)/'
check "simulation: ranks that ask and take and wake nobody are found" found reader.c \
    's/pthread_cond_broadcast\(&r->work\);/;/'
