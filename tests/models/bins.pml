/*
 * Spin model of the bins of strict order (reader/bins.c, bins_fill.c). Run by tests/models/check_models.sh.
 *
 *   here                          there
 *   mx                            the mutex of all (struct bins.lock); waiting for `idle` is a step that is blocked
 *   bin_mx[s], shuffled[s]           the mutex of the bin that has place s, and what it was last shuffled for
 *   next_chunk, filled, helping   the same
 *   turns, begun, ripe            those of the one lane
 *   planner                       bins_begin(), bins_fill_all(), and drain_next() for each bin; it may leave an epoch anywhere
 *   helper                        bins_claim() and bins_do(), again and again; it may stop whenever it holds no work
 *
 * Of deliveries it is looked at from how many chunks a bin has them, of which epoch; of draining, that nobody else writes to the bin.
 *
 * Checked: a bin is gathered when all chunks are filled, of this epoch, by one thread at a time; what is drained is the bin of its turn,
 * and stays it; no deadlock, whoever stops.
 *
 * Bugs to plant: BUG_HASTY (an epoch begins while somebody still fills or shuffles for the one before), BUG_RIPE_EARLY (bins are shuffled before
 * all chunks are filled), BUG_UNLOCKED (a bin is shuffled without its lock), BUG_AGAIN (also if it has been shuffled), BUG_AHEAD (a bin whose
 * place another is drained from).
 */
#ifndef HELPERS
#define HELPERS 2
#endif
#ifndef CHUNKS
#define CHUNKS 2
#endif
#ifndef BINS
#define BINS 3
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef EPOCHS
#define EPOCHS 2
#endif

bool mx, bin_mx[SLOTS], over;
byte next_chunk, chunk_count, filled, helping, turns, begun, ripe, epoch;
byte shuffled[SLOTS];
byte chunk_epoch[CHUNKS]; /* that a chunk has been filled for */
byte holds[SLOTS];        /* the bin that a place has, plus 1; 0: being written */
byte writers[SLOTS];

#define LOCK(m) atomic { !(m) -> m = true }
#define UNLOCK(m) m = false

inline fill(c)
{
    assert(chunk_epoch[c] != epoch);
    chunk_epoch[c] = epoch
}

inline gather(s, t)
{
    writers[s]++;
    holds[s] = 0;
    assert(writers[s] == 1);
    k = 0;
    do
    :: k < CHUNKS -> assert(chunk_epoch[k] == epoch); k++
    :: else -> break
    od;
    holds[s] = t + 1;
    writers[s]--
}

inline make_ready(t)
{
    s = t % SLOTS;
#ifndef BUG_UNLOCKED
    LOCK(bin_mx[s]);
#endif
    if
#ifdef BUG_AGAIN
    :: true ->
#else
    :: shuffled[s] <= t ->
#endif
        gather(s, t);
        shuffled[s] = t + 1
#ifndef BUG_AGAIN
    :: else -> skip
#endif
    fi;
#ifndef BUG_UNLOCKED
    UNLOCK(bin_mx[s]);
#endif
}

proctype helper()
{
    byte c, t, s, k;
    do
    :: over -> break
    :: true -> break /* it stops, or is never woken again */
    :: LOCK(mx);
        if
        :: next_chunk < chunk_count ->
            c = next_chunk;
            next_chunk++;
            helping++;
            UNLOCK(mx);
            fill(c);
            LOCK(mx);
            filled++;
            helping--
        :: next_chunk == chunk_count ->
            t = (begun > turns -> begun : turns);
            if
#ifdef BUG_AHEAD
            :: t < ripe && t < turns + SLOTS ->
#else
            :: t < ripe && t + 1 < turns + SLOTS ->
#endif
                begun = t + 1;
                helping++;
                UNLOCK(mx);
                make_ready(t);
                LOCK(mx);
                helping--
            :: else -> skip
            fi
        fi;
        UNLOCK(mx)
    od
}

inline begin()
{
    LOCK(mx);
    next_chunk = 0;
    chunk_count = 0;
    ripe = 0;
    UNLOCK(mx);
#ifndef BUG_HASTY
    atomic { helping == 0 && !mx -> mx = true };
#else
    LOCK(mx);
#endif
    filled = 0;
    UNLOCK(mx);
    epoch++;
    turns = 0;
    begun = 0;
    s = 0;
    do
    :: s < SLOTS -> shuffled[s] = 0; s++
    :: else -> break
    od;
    LOCK(mx);
    chunk_count = CHUNKS;
#ifdef BUG_RIPE_EARLY
    ripe = BINS;
#endif
    UNLOCK(mx)
}

inline fill_all()
{
    LOCK(mx);
    do
    :: filled == chunk_count -> break
    :: filled < chunk_count && next_chunk < chunk_count ->
        c = next_chunk;
        next_chunk++;
        UNLOCK(mx);
        fill(c);
        LOCK(mx);
        filled++
    :: filled < chunk_count && next_chunk == chunk_count ->
        UNLOCK(mx);
        atomic { filled == chunk_count && !mx -> mx = true }
    od;
    ripe = BINS;
    UNLOCK(mx)
}

proctype planner()
{
    byte c, t, s, k, e;
    for (e : 1 .. EPOCHS) {
        begin();
        fill_all();
        t = 0;
        do
        :: t == BINS -> break
        :: t > 0 -> break /* it leaves the epoch */
        :: t < BINS ->
            make_ready(t);
            LOCK(mx);
            turns = t + 1;
            UNLOCK(mx);
            assert(holds[t % SLOTS] == t + 1 && writers[t % SLOTS] == 0); /* at the beginning of draining it */
            assert(holds[t % SLOTS] == t + 1 && writers[t % SLOTS] == 0); /* and at its end */
            t++
        od
    }
    over = true
}

init
{
    byte i;
    atomic {
        run planner();
        for (i : 1 .. HELPERS) {
            run helper()
        }
    }
}
