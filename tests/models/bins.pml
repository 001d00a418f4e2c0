/*
 * Spin model of reader/order/bins.c, the bins of free order. Run by tests/models/check_models.sh.
 *
 *   here                    there
 *   mx                      the mutex of what is left (struct bins.lock)
 *   bin_mx[i]               the mutex of bin i
 *   left, standing          the same; here with a step between reading and writing a count
 *   bin[i].rec, size        the deliveries of bin i
 *   putter                  bins_put(): records into their bins first, then the counts
 *   drawer                  bins_draw(): reserve() for each draw, then fetch() from each bin
 *
 * What is random there (bin of a record, bin and place of a draw) may be anything here, so every outcome is looked at. The reader
 * lets one thread draw at a time; here any number may, since bins.h allows it.
 *
 * Checked: each record is drawn once; a reservation finds what it stands for; the counts add up whenever their
 * lock is free; who sees n standing and is the only one that draws gets n; no deadlock.
 *
 * Bugs to plant: BUG_COUNT_FIRST (records can be reserved before they lie in their bin), BUG_BIN_UNLOCKED (a fetch without the
 * bin's lock), BUG_COUNT_UNLOCKED (a put changes the counts without their lock).
 */
#ifndef PUTTERS
#define PUTTERS 2
#endif
#ifndef DRAWERS
#define DRAWERS 2
#endif
#define BINS 2
#ifndef BLOCK
#define BLOCK 2 /* records that a putter puts at once */
#endif
#define BATCH 2 /* records that a drawer draws at once */
#define RECORDS (PUTTERS * BLOCK)

typedef records {
    byte rec[RECORDS];
    byte size
};

bool mx, bin_mx[BINS];
byte left[BINS], standing;
records bin[BINS];

/* For the checks alone: how often each record was drawn, how many were, which threads are over. */
byte times[RECORDS], drawn_all, over;

#define LOCK(m) atomic { !(m) -> m = true }
#define UNLOCK(m) m = false

inline count(i, n) /* n more can be reserved */
{
    t = left[i];
    left[i] = t + n;
    t = standing;
    standing = t + n
}

inline put_counts()
{
#ifndef BUG_COUNT_UNLOCKED
    LOCK(mx);
#endif
    for (i : 0 .. BINS - 1) {
        count(i, more[i])
    }
#ifndef BUG_COUNT_UNLOCKED
    UNLOCK(mx);
#endif
}

proctype putter(byte number)
{
    byte i, k, t, goes[BLOCK], more[BINS];
    atomic {
        for (k : 0 .. BLOCK - 1) {
            select(i : 0 .. BINS - 1);
            goes[k] = i;
            more[i]++
        }
    }
#ifdef BUG_COUNT_FIRST
    put_counts();
#endif
    for (i : 0 .. BINS - 1) {
        LOCK(bin_mx[i]);
        for (k : 0 .. BLOCK - 1) {
            if
            :: goes[k] == i ->
                t = bin[i].size;
                bin[i].rec[t] = number * BLOCK + k;
                bin[i].size = t + 1
            :: else
            fi
        }
        UNLOCK(bin_mx[i])
    }
#ifndef BUG_COUNT_FIRST
    put_counts();
#endif
    over++
}

inline reserve()
{
    atomic {
        if
        :: left[0] > 0 -> i = 0
        :: left[1] > 0 -> i = 1
        fi;
        reserved[i]++
    }
    t = left[i];
    left[i] = t - 1;
    t = standing;
    standing = t - 1
}

inline fetch() /* all reservations of bin i */
{
#ifndef BUG_BIN_UNLOCKED
    LOCK(bin_mx[i]);
#endif
    do
    :: reserved[i] > 0 ->
        atomic {
            assert(bin[i].size > 0); /* a reservation finds what it stands for */
            select(place : 0 .. bin[i].size - 1);
            k = bin[i].rec[place]
        }
        t = bin[i].size;
        bin[i].rec[place] = bin[i].rec[t - 1];
        bin[i].size = t - 1;
        atomic {
            times[k]++;
            drawn_all++;
            assert(times[k] == 1);
            reserved[i]--
        }
    :: else -> break
    od;
#ifndef BUG_BIN_UNLOCKED
    UNLOCK(bin_mx[i])
#endif
}

proctype drawer()
{
    byte i, k, t, n, seen, place, reserved[BINS];
    do
    :: drawn_all == RECORDS -> break
    :: standing > 0 -> /* bins_standing(), which takes the lock */
        LOCK(mx);
        seen = standing;
        UNLOCK(mx);
        LOCK(mx);
        n = (BATCH < standing -> BATCH : standing);
        assert(DRAWERS > 1 || n >= (BATCH < seen -> BATCH : seen));
        do
        :: n > 0 -> reserve(); n--
        :: else -> break
        od;
        UNLOCK(mx);
        for (i : 0 .. BINS - 1) {
            if
            :: reserved[i] > 0 -> fetch()
            :: else
            fi
        }
    od;
    over++
}

active proctype observer() /* any time that the lock is free */
{
    atomic {
        !mx -> assert(left[0] + left[1] == standing);
        assert(left[0] <= bin[0].size || bin_mx[0]);
        assert(left[1] <= bin[1].size || bin_mx[1])
    }
}

init {
    byte i;
    atomic {
        for (i : 1 .. PUTTERS) { run putter(i - 1) }
        for (i : 1 .. DRAWERS) { run drawer() }
    }
    over == PUTTERS + DRAWERS;
    assert(standing == 0 && left[0] == 0 && left[1] == 0 && bin[0].size == 0 && bin[1].size == 0);
    for (i : 0 .. RECORDS - 1) { assert(times[i] == 1) }
}
