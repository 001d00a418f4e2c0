/*
 * Spin model of the bins of free order (reader/bins_arrive.c). Run by tests/models/check_models.sh.
 *
 *   here                there
 *   bin_mx[s]           the mutex of the bin that has place s
 *   turn[s], bin[s]     whose bin that is, and what it has
 *   oldest, standing    the atomic counts
 *   putter              bins_put(): its records into their bins, into others where those have been closed, then the count
 *   taker               bins_take(): closes the oldest bin when it has taken all of the one before
 *
 * The bin of a record, and which it goes to when that is closed, may be any. A putter may stop before it counts what it has put.
 *
 * Checked: each record is taken once; who sees n standing takes n, and closes no more bins for it than there are; no deadlock.
 *
 * Bugs to plant: BUG_COUNT_FIRST (records are counted before they lie in their bin), BUG_UNLOCKED (a bin is closed without its lock).
 */
#ifndef PUTTERS
#define PUTTERS 2
#endif
#ifndef BLOCK
#define BLOCK 2
#endif
#define BINS 2
#define RECORDS (PUTTERS * BLOCK)

typedef records {
    byte rec[RECORDS];
    byte size
};

bool bin_mx[BINS];
byte turn[BINS], oldest, standing, taken_all;
records bin[BINS], closed;
byte times[RECORDS];

#define LOCK(m) atomic { !(m) -> m = true }
#define UNLOCK(m) m = false

proctype putter(byte number)
{
    byte k, from, place, s, n;
    bool put;
#ifdef BUG_COUNT_FIRST
    atomic { standing = standing + BLOCK };
#endif
    from = oldest;
    k = 0;
    do
    :: k == BLOCK -> break
    :: k < BLOCK ->
        select(place : 0 .. BINS - 1);
        put = false;
        do
        :: put -> break
        :: !put ->
            s = (from + place) % BINS;
            LOCK(bin_mx[s]);
            if
            :: turn[s] == from + place ->
                n = bin[s].size;
                bin[s].rec[n] = number * BLOCK + k;
                bin[s].size = n + 1;
                put = true;
                UNLOCK(bin_mx[s])
            :: else ->
                UNLOCK(bin_mx[s]);
                from = oldest;
                select(place : 0 .. BINS - 1)
            fi
        od;
        k++
    od;
#ifndef BUG_COUNT_FIRST
    atomic { standing = standing + BLOCK }
#endif
}

inline close_oldest()
{
    s = oldest % BINS;
#ifndef BUG_UNLOCKED
    LOCK(bin_mx[s]);
#endif
    k = 0;
    do
    :: k < bin[s].size -> closed.rec[k] = bin[s].rec[k]; k++
    :: else -> break
    od;
    closed.size = k;
    bin[s].size = 0;
    turn[s] = turn[s] + BINS;
#ifndef BUG_UNLOCKED
    UNLOCK(bin_mx[s]);
#endif
    oldest++
}

proctype taker()
{
    byte n, s, k, closings;
    do
    :: taken_all == RECORDS -> break
    :: standing > 0 ->
        n = standing;
        closings = 0;
        do
        :: n == 0 -> break
        :: n > 0 && closed.size > 0 ->
            d_step {
                closed.size--;
                k = closed.rec[closed.size];
                times[k]++;
                assert(times[k] == 1);
                taken_all++;
                standing = standing - 1;
                n--
            }
        :: n > 0 && closed.size == 0 ->
            close_oldest();
            closings++;
            assert(closings <= BINS)
        od
    od
}

init
{
    byte i;
    atomic {
        for (i : 0 .. BINS - 1) {
            turn[i] = i
        }
        run taker();
        for (i : 0 .. PUTTERS - 1) {
            run putter(i)
        }
    }
}
