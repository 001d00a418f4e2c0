/*
 * Spin model of reader/block_cache.c, reader/memory/slab.c and what of reader/bins.c they depend on: the life of a block and of its slots.
 * Run by tests/models/check_models.sh.
 *
 *   here                    there
 *   stage, left, stays      struct cached_block, by parity of the epoch; slot: cached_block.slots; passed: cached_block.passed
 *   in_bins                 the bins of plan.c: which records stand (each is delivered once: reuse is 1)
 *   enter                   refill() and enter() of plan.c, then cache_announce() with take_over()
 *   planner                 planner_act(): a draw of a global batch; the first BATCH deliveries are this rank's, the rest are
 *                           passed (cache_pass()); cache_begin_epoch() with stay_choose()
 *   loader                  act_load(): cache_take(), load_block(), cache_loaded() with cached_give_passed(), evict()
 *   maker                   act_collate(): collate_batch(), cache_release(), cache_consume(); then the batch is handed out
 *   refs, value             the slab's counts, and the record that lies in a slot; a slot without references is free
 *
 * An atomic step is what happens with the reader's lock held (see schedule.pml for that lock), or one operation of the slab. What is
 * random there (order of blocks, draws) may be anything here.
 *
 * Searched whole: one epoch with two loaders, two with one; blocks that stay (SPARE) only for the bug planted there.
 *
 * Checked: no deadlock by back-pressure with window + batch - 1 slots, fewer than options_slots() gives; a slot is written only
 * while it is free, and holds what a batch expects until that has been made; counts never below zero; at the end no slot is lost.
 *
 * Bugs to plant: BUG_SLOTS (one slot less), BUG_EARLY (slots are given back before the batch is made), BUG_PASSED (slots of passed
 * deliveries of a block not yet loaded are forgotten), BUG_STAY (a block stays without a count of its own).
 */
#define BLOCKS 3
#define COUNT 2 /* records of a block */
#define RECORDS (BLOCKS * COUNT)
#ifndef WINDOW
#define WINDOW 3
#endif
#define BATCH 2
#ifndef WORLD
#define WORLD 1
#endif
#ifndef SPARE
#define SPARE 0 /* slots for blocks that stay */
#endif
#ifdef BUG_SLOTS
#define SLOTS (WINDOW + BATCH - 2 + SPARE)
#else
#define SLOTS (WINDOW + BATCH - 1 + SPARE)
#endif
#ifndef EPOCHS
#define EPOCHS 2
#endif
#ifndef LOADERS
#define LOADERS 2
#endif
#define SHARE (WORLD == 1 -> RECORDS : RECORDS - BATCH) /* of this rank: all, or one batch of each step of two */
#define JOBS 2
#define NONE 255

mtype = { OUT, QUEUED, LOADING, IN };

typedef cached_block {
    mtype stage;
    bool stays;
    byte left, slot[COUNT], passed
};
typedef job {
    byte n, parity, rec[BATCH]
};

cached_block block[2 * BLOCKS];
byte refs[SLOTS], value[SLOTS], free = SLOTS;
bool in_bins[RECORDS];
byte standing, entered, order[BLOCKS], plan_epoch, planned, epoch, delivered;
bool stay[BLOCKS];
byte first_of_next; /* the block that the next epoch begins with, known ahead if blocks can stay */
job jobs[JOBS];
byte head, used, over;
chan queue = [2 * BLOCKS + 1] of { byte }; /* of places in block[] */

#define B(p, r) block[(p) * BLOCKS + (r) / COUNT]
#define PARITY (plan_epoch % 2)

inline release(s) /* slab_release() of one */
{
    assert(refs[s] > 0);
    refs[s]--;
    free = free + (refs[s] == 0);
    value[s] = (refs[s] == 0 -> NONE : value[s])
}

inline evict(b)
{
    block[b].stage = OUT;
    block[b].stays = false;
    block[b].passed = 0;
    for (m : 0 .. COUNT - 1) { block[b].slot[m] = 0 }
    m = 0
}

inline consume(b) /* cache_consume() */
{
    block[b].left--;
    if
    :: block[b].left == 0 && block[b].stage == IN && !block[b].stays -> evict(b)
    :: else
    fi
}

/* The next block of the order enters: it has stayed, and is here; or it is queued. */
inline enter()
{
    k = order[entered];
    b = PARITY * BLOCKS + k;
    o = (1 - PARITY) * BLOCKS + k;
    entered++;
    standing = standing + COUNT;
    assert(block[b].stage == OUT);
    block[b].left = COUNT;
    for (m : 0 .. COUNT - 1) { in_bins[k * COUNT + m] = true }
    if
    :: block[o].stays -> /* take_over(): its count goes over to this epoch, one more if it stays on */
        block[o].stays = false;
        for (m : 0 .. COUNT - 1) {
            block[b].slot[m] = block[o].slot[m];
            refs[block[b].slot[m]] = refs[block[b].slot[m]] + (stay[k] -> 1 : 0)
        }
        block[b].stays = stay[k];
        block[b].stage = IN;
        if
        :: block[o].left == 0 -> evict(o)
        :: else
        fi
    :: else -> block[b].stage = QUEUED; queue!b
    fi;
    m = 0; k = 0; b = 0; o = 0
}

inline draw() /* any record that stands */
{
    do
    :: entered < BLOCKS && standing + COUNT <= WINDOW -> enter()
    :: else -> break
    od;
    select(d : 0 .. RECORDS - 1);
    do
    :: !in_bins[d] -> d = (d + 1) % RECORDS
    :: else -> break
    od;
    in_bins[d] = false;
    standing--;
    planned++
}

inline pass() /* to another rank */
{
    if
    :: B(PARITY, d).stage == IN -> s = B(PARITY, d).slot[d % COUNT]; release(s); s = 0
    :: else -> B(PARITY, d).passed = B(PARITY, d).passed | (1 << (d % COUNT))
    fi;
    k = PARITY * BLOCKS + d / COUNT;
    consume(k);
    k = 0
}

inline begin_epoch() /* any order of blocks; if blocks can stay, the next epoch's first is known */
{
    entered = 0;
    planned = 0;
    select(k : 0 .. BLOCKS - 1);
    k = (plan_epoch == 0 -> 0 : (SPARE > 0 -> first_of_next : k)); /* the first epoch's may as well be 0, 1, 2 */
    order[0] = k;
    select(m : 1 .. BLOCKS - 1);
    m = (plan_epoch == 0 -> 1 : m);
    order[1] = (k + m) % BLOCKS;
    order[2] = (k + BLOCKS - m) % BLOCKS;
    select(first_of_next : 0 .. BLOCKS - 1);
    first_of_next = (SPARE > 0 -> first_of_next : 0);
    for (m : 0 .. BLOCKS - 1) { stay[m] = SPARE >= COUNT && m == first_of_next && plan_epoch + 1 < EPOCHS }
    k = 0;
    m = 0
}

proctype planner()
{
    byte b, d, k, m, n, o, s;
    atomic { begin_epoch() }
    do
    :: atomic { planned < RECORDS && used < JOBS -> /* planner_act() */
            jobs[(head + used) % JOBS].n = 0;
            jobs[(head + used) % JOBS].parity = PARITY;
            n = 0;
            do
            :: n < BATCH * WORLD && planned < RECORDS ->
                draw();
                if
                :: n < BATCH ->
                    jobs[(head + used) % JOBS].rec[n] = d;
                    jobs[(head + used) % JOBS].n++
                :: else -> pass()
                fi;
                d = 0;
                n++
            :: else -> break
            od;
            n = 0;
            used++
        }
    :: atomic { planned == RECORDS && plan_epoch <= epoch && plan_epoch + 1 < EPOCHS -> plan_epoch++; begin_epoch() }
    :: planned == RECORDS && plan_epoch + 1 == EPOCHS -> break
    od;
    over++
}

proctype loader()
{
    byte b, k, m, s;
    do
    :: atomic { /* cache_take(): the first of the queue, if there are slots for it */
            queue?[b] && free >= COUNT -> queue?b;
            if
            :: block[b].left == 0 -> block[b].stage = OUT; block[b].passed = 0; b = NONE
            :: else ->
                s = 0;
                for (m : 0 .. COUNT - 1) {
                    do
                    :: refs[s] > 0 -> s++
                    :: else -> break
                    od;
                    block[b].slot[m] = s;
                    refs[s] = 1;
                    free--
                }
                block[b].stage = LOADING
            fi;
            s = 0;
            m = 0
        }
        if
        :: b != NONE ->
            for (m : 0 .. COUNT - 1) { value[block[b].slot[m]] = (b % BLOCKS) * COUNT + m } /* load_block() */
            atomic { /* cache_loaded() */
                block[b].stage = IN;
                if
                :: stay[b % BLOCKS] && b / BLOCKS == PARITY ->
                    block[b].stays = true;
#ifndef BUG_STAY
                    for (m : 0 .. COUNT - 1) { refs[block[b].slot[m]]++ }
#endif
                :: else
                fi;
                for (m : 0 .. COUNT - 1) { /* give_passed() */
                    if
#ifndef BUG_PASSED
                    :: block[b].passed & (1 << m) -> s = block[b].slot[m]; release(s); s = 0
#endif
                    :: else
                    fi
                }
                block[b].passed = 0;
                if
                :: block[b].left == 0 && !block[b].stays -> evict(b)
                :: else
                fi
            }
        :: else
        fi;
        b = 0;
        m = 0
    :: epoch == EPOCHS -> break
    od;
    over++
}

#define J jobs[head]

inline give_rows() /* cache_release() */
{
    for (n : 0 .. J.n - 1) { atomic { s = B(J.parity, J.rec[n]).slot[J.rec[n] % COUNT]; release(s); s = 0 } }
}

proctype maker()
{
    byte k, m, n, s;
    do
    :: atomic { used > 0 && B(J.parity, J.rec[0]).stage == IN && (J.n < 2 || B(J.parity, J.rec[1]).stage == IN) -> n = 0 }
#ifdef BUG_EARLY
        give_rows();
#endif
        for (n : 0 .. J.n - 1) { assert(value[B(J.parity, J.rec[n]).slot[J.rec[n] % COUNT]] == J.rec[n]) }
#ifndef BUG_EARLY
        give_rows();
#endif
        atomic {
            for (n : 0 .. J.n - 1) {
                k = J.parity * BLOCKS + J.rec[n] / COUNT;
                consume(k)
            }
            delivered = delivered + J.n; /* handed out */
            J.n = 0; J.parity = 0; J.rec[0] = 0; J.rec[1] = 0;
            n = 0;
            k = 0;
            head = (head + 1) % JOBS;
            used--;
            if
            :: delivered == SHARE -> epoch++; delivered = 0
            :: else
            fi
        }
    :: epoch == EPOCHS -> break
    od;
    over++
}

init {
    byte i;
    atomic {
        for (i : 0 .. 2 * BLOCKS - 1) { block[i].stage = OUT }
        for (i : 1 .. LOADERS) { run loader() }
        run planner();
        run maker()
    }
    over == LOADERS + 2;
    assert(free == SLOTS && len(queue) == 0)
}
