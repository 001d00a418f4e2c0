/*
 * Spin model of reader/schedule.c and reader/reader.c: one lock, the conditions `work` and `done`, threads, callers, epochs, cancel
 * and close. Run by tests/models/check_models.sh.
 *
 *   here                     there
 *   mx, work, done           the lock; who sleeps on each condition, a bit each (sleepers never wake of themselves)
 *   ring, job_*              jobs: a batch is planned, made and handed out; a batch is one block
 *   STEP                     schedule_act(): act_collate(), planner_act() with take_buffer(), act_load()
 *   worker                   run_worker()
 *   caller                   apl_reader_next(): next(), work(), all_lent(), hand_out(); and an application around it that may keep
 *                            a batch over its next call, and gives batches back without the lock
 *   owner                    an application's main thread: apl_reader_next_epoch() with quiet() and skip_rest(), at the end of an
 *                            epoch or before; then apl_reader_close(), at any time that reader.h allows
 *   canceller                apl_reader_cancel(), at any time
 *   take, give, pool_*       pool.c: each call is one step, of its own lock
 *   gone                     destroy() has run; whoever takes the lock after that has used freed memory
 *
 * Checked: no deadlock, no lost wake-up (every caller comes back, or Spin finds an invalid end state); each batch is
 * handed out once an epoch and all of them before APL_END; APL_E_LENT only with batches lent; no more batches planned than the
 * queue is deep; nothing touched after the last reference, and the pool freed once, after its last batch.
 *
 * Sizes: WORKERS (0: callers work), CONSUMERS (so many of them only assemble, the others only load; 0: all do both), CALLERS, DEPTH,
 * BUFFERS, BATCHES an epoch. Ways: FREE (free order), FAILS (a load may fail for good), CANCEL, ANYTIME (close comes at any time),
 * HASTY (close does not wait for threads: its time is over at any moment), LEAVE (a caller may leave for good with a batch).
 *
 * Bugs to plant: BUG_NO_SIGNAL (a load ends without waking anybody), BUG_LATE_LENT (whether all batches are lent is asked after
 * the work, not before), BUG_QUIET (a paused worker does not tell that all is quiet), BUG_REFERENCE (a caller counts for nothing),
 * BUG_DEPTH (no bound on what is planned).
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef CONSUMERS
#define CONSUMERS 0
#endif
#define LOADS (me >= CONSUMERS)
#define MAKES (CONSUMERS == 0 || me < CONSUMERS)
#ifndef CALLERS
#define CALLERS 2
#endif
#ifndef DEPTH
#define DEPTH 2
#endif
#ifndef BUFFERS
#define BUFFERS 2
#endif
#define RING (DEPTH + 1) /* one more than is used, for BUG_DEPTH to be seen */
#ifndef BATCHES
#define BATCHES 2
#endif
#define EPOCHS 2
#define NONE 255
#define OWNER 7
#define ALL ((1 << CALLERS) - 1)

mtype = { OUT, QUEUED, LOADING, IN, PLANNED, MAKING, DONE, BATCH, END, LENT, CANCELLED, FAILED };

bool mx, gone, closing, cancelled, paused, planning, working, ended, failed;
byte work, done, references, threads, busy, callers;
byte ring[RING], head, used;                   /* job numbers; used: tail - head */
mtype job_stage[RING];
byte job_epoch[RING], job_batch[RING];
mtype block[2 * BATCHES];                      /* by parity of the epoch */
byte epoch, position, plan_epoch, plan_position;
byte idle, count, lent;                        /* the pool */
bool pool_closed, pool_gone;

/* The application, and what is checked. */
bool stop;
byte inside, counted, finished, at_epoch, got[EPOCHS * BATCHES], cancel_over;

#define JOB(i) ring[(head + (i)) % RING]
#define BLOCK(e, b) block[((e) % 2) * BATCHES + (b)]
#define BIT(me) (1 << (me))
#define CAN_TAKE (idle > 0 || count < BUFFERS)
#define LOCK atomic { !mx -> assert(!gone); mx = true }
#define SLEEP(on) atomic { on = on | BIT(me); mx = false }; atomic { !(on & BIT(me)) && !mx -> assert(!gone); mx = true }
#define WAKE(on) on = 0

inline give(was_lent) /* give(): back to the pool, or freed if that is closed */
{
    atomic {
        assert(!pool_gone);
        lent = lent - was_lent;
        if
        :: !pool_closed -> idle++
        :: else -> count--; pool_gone = count == 0
        fi
    }
}

inline unreference() /* and release the lock */
{
    atomic {
        references--;
        if
        :: references == 0 -> /* destroy(); pool_close() */
            assert(!gone && threads == 0);
            gone = true;
            idle = idle + used;
            used = 0;
            pool_closed = true;
            count = count - idle;
            idle = 0;
            pool_gone = count == 0
        :: else
        fi;
        mx = false
    }
}

inline begin_epoch(e)
{
    plan_epoch = e;
    plan_position = 0;
    for (i : 0 .. BATCHES - 1) {
#ifdef FREE
        BLOCK(plan_epoch, i) = QUEUED /* cache_announce(): all of them */
#else
        BLOCK(plan_epoch, i) = OUT
#endif
    }
    i = 0
}

inline find_ready() /* ready_job() */
{
    j = NONE;
    i = 0;
    do
    :: i == used -> break
    :: i < used && job_stage[JOB(i)] == PLANNED && BLOCK(job_epoch[JOB(i)], job_batch[JOB(i)]) == IN -> j = JOB(i); break
    :: else -> i++
    od;
    i = 0
}

inline find_load() /* cache_take(): in the order of planning; a block of the epoch before comes first */
{
    b = NONE;
    for (i : 0 .. 2 * BATCHES - 1) {
        k = ((plan_epoch + 1) % 2 * BATCHES + i) % (2 * BATCHES);
        b = (b == NONE && block[k] == QUEUED -> k : b)
    }
    i = 0;
    k = 0
}

inline find_standing() /* free order: may_plan() and bins_draw(), any record that stands; else the next in order */
{
    b = NONE;
#ifdef FREE
    for (i : 0 .. BATCHES - 1) {
        if
        :: BLOCK(plan_epoch, i) == IN && !(drawn & (1 << i)) && b == NONE -> b = i
        :: else
        fi
    }
    i = 0
#else
    b = plan_position
#endif
}
#ifdef FREE
byte drawn; /* of the planned epoch */
#endif

#ifdef BUG_DEPTH
#define IN_DEPTH (used < RING)
#else
#define IN_DEPTH (used < DEPTH)
#endif

inline plan_job()
{
    atomic { !mx -> mx = true; j = JOB(used) }  /* take_buffer() is over */
    if
    :: got_buffer ->
        atomic { job_epoch[j] = plan_epoch; mx = false }; /* draw() */
        atomic {
            !mx -> mx = true;
            find_standing();
            assert(b != NONE && used < DEPTH);
            job_batch[j] = b;
#ifdef FREE
            drawn = drawn | (1 << b);
#else
            BLOCK(plan_epoch, b) = QUEUED;
#endif
            plan_position++;
            job_stage[j] = PLANNED;
            used++
        }
    :: else
    fi
}

/* schedule_act(): with the lock; `did` tells whether there was something to do. */
inline STEP()
{
    atomic {
        did = false;
        j = NONE;
        if
        :: MAKES -> find_ready()
        :: else
        fi;
        if
        :: paused -> j = NONE; b = NONE; may = false
        :: !paused && j != NONE -> job_stage[j] = MAKING; busy++; mx = false; may = false
        :: else ->
            find_standing();
            may = !planning && IN_DEPTH && !failed &&
                  (plan_position == BATCHES -> plan_epoch <= epoch : b != NONE)
        fi
    }
    if
    :: j != NONE -> /* act_collate() */
        atomic { !mx -> mx = true; busy--; job_stage[j] = DONE; WAKE(done); WAKE(work); did = true }
    :: j == NONE && may -> /* planner_act() */
        atomic {
            planning = true;
            busy++;
            got_buffer = false;
            room = plan_position == BATCHES || CAN_TAKE
        }
        if
        :: plan_position == BATCHES ->
            atomic {
                begin_epoch(plan_epoch + 1);
#ifdef FREE
                drawn = 0;
#endif
                got_buffer = true
            }
        :: plan_position < BATCHES && room ->
            mx = false;
            atomic { /* pool_take() */
                if
                :: idle > 0 -> idle--; got_buffer = true
                :: idle == 0 && count < BUFFERS -> count++; got_buffer = true
                :: else
                fi
            }
            plan_job()
        :: else
        fi;
        atomic {
            busy--;
            planning = false;
            if
            :: !got_buffer ->
                if
                :: used == 0 -> WAKE(done)
                :: else
                fi;
                did = room
            :: else -> WAKE(work); did = true
            fi
        }
    :: else
    fi;
    if
    :: !did && !paused && LOADS -> /* act_load() */
        atomic {
            find_load();
            if
            :: b != NONE -> block[b] = LOADING; busy++; mx = false
            :: else
            fi
        }
        if
        :: b != NONE ->
            atomic {
                !mx -> mx = true;
                busy--;
                if
#ifdef FAILS
                :: failed = true; WAKE(done)
#endif
                :: block[b] = IN
                fi;
#ifndef BUG_NO_SIGNAL
                WAKE(work);
#endif
                did = true
            }
        :: else
        fi
    :: else
    fi;
    atomic { j = 0; b = 0; may = false; room = false; got_buffer = false }
}

proctype worker(byte me)
{
    bool did, may, room, got_buffer;
    byte i, j, b, k;
    LOCK;
    do
    :: closing -> break
    :: else ->
        STEP();
        if
        :: did
        :: else ->
#ifndef BUG_QUIET
            if
            :: paused && busy == 0 -> WAKE(done)
            :: else
            fi;
#endif
            SLEEP(work)
        fi
    od;
    atomic { did = false; threads--; WAKE(done); unreference() }
}

inline find_finished() /* finished_job(): of free order any, which changes places with the first */
{
    j = NONE;
    i = 0;
    do
#ifdef FREE
    :: i == used -> break
#else
    :: i == used || i == 1 -> break
#endif
    :: else ->
        if
        :: job_stage[JOB(i)] == DONE && job_epoch[JOB(i)] == epoch -> j = JOB(i); JOB(i) = JOB(0); JOB(0) = j; break
        :: else -> i++
        fi
    od;
    i = 0
}

inline hand_out()
{
    lent++; /* pool_lend() */
    i = job_epoch[j] * BATCHES + job_batch[j];
    got[i]++;
    assert(got[i] == 1);
    i = 0;
    job_stage[j] = OUT;
    position++;
    ended = position == BATCHES;
    head = (head + 1) % RING;
    used--;
    WAKE(work);
    if
    :: callers > 1 -> WAKE(done)
    :: else
    fi
}

inline check_end()
{
    for (i : 0 .. BATCHES - 1) { assert(skipped_epoch == epoch + 1 || got[epoch * BATCHES + i] == 1) }
    i = 0
}
byte skipped_epoch; /* 1 + the epoch that was not read to its end */

inline is_lent() /* all_lent(): two questions to the pool */
{
    lent_all = used == 0 && !planning && plan_epoch == epoch && lent > 0;
    lent_all = lent_all && !CAN_TAKE
}

proctype caller(byte me)
{
    bool did, may, room, got_buffer, lent_all;
    byte i, j, b, k, held, next_epoch;
    mtype said;
    do
    :: stop -> break
    :: atomic { !stop && (cancelled || at_epoch >= next_epoch && (said != LENT || CAN_TAKE || lent == 0 || ended)) ->
            said = 0; inside = inside | BIT(me) }
        atomic {
            !mx -> assert(!gone);
            mx = true;
#ifndef BUG_REFERENCE
            references++;
            callers++;
#endif
            counted = counted | BIT(me)
        }
        do
        :: said != 0 -> break
        :: else ->
            atomic {
                find_finished();
                if
                :: cancelled || closing -> said = CANCELLED
                :: !(cancelled || closing) && ended -> said = END; next_epoch = epoch + 1; check_end()
                :: !(cancelled || closing) && !ended && j != NONE -> hand_out(); said = BATCH
                :: else ->
                    if
                    :: failed -> said = FAILED
                    :: else
                    fi
                fi;
                j = 0
            }
            if
            :: said != 0 -> break
            :: else
            fi;
#ifndef BUG_LATE_LENT
            is_lent();
#endif
#if WORKERS == 0
            did = false;
            if
            :: !working ->
                working = true;
                STEP();
                working = false;
                if
                :: did -> WAKE(done)
                :: else
                fi
            :: else
            fi;
            if
            :: did || failed -> did = false; lent_all = false; goto again
            :: else
            fi;
#endif
#ifdef BUG_LATE_LENT
            is_lent();
#endif
            if
            :: lent_all -> said = LENT; lent_all = false; assert(used == 0)
            :: else ->
                if
                :: used == 0 -> WAKE(work)
                :: else
                fi;
                SLEEP(done)
            fi;
again:      skip
        od;
        atomic {
#ifndef BUG_REFERENCE
            callers--;
#endif
            if
            :: closing || threads == 0 -> WAKE(done)
            :: else
            fi;
            inside = inside & ~BIT(me);
            counted = counted & ~BIT(me);
#ifdef BUG_REFERENCE
            mx = false
#else
            unreference()
#endif
        }
        if /* the application */
        :: said == BATCH -> held++; said = 0
#ifdef LEAVE
        :: said == BATCH -> held++; break
#endif
        :: said == END && next_epoch < EPOCHS
        :: said == LENT
        :: else -> break
        fi;
        if /* keeps one batch, or none; what it may not keep it releases, without the lock */
        :: held == 1 && said == 0 -> skip
        :: held > 0 -> give(1); held--
        :: held == 0 -> skip
        fi
    od;
    do
    :: held > 0 -> give(1); held--
    :: else -> break
    od;
    atomic { said = 0; next_epoch = 0; finished = finished | BIT(me) }
}

inline next_epoch_call() /* apl_reader_next_epoch() */
{
    LOCK;
    if
    :: callers > 0 -> mx = false /* APL_E_INVALID: once more */
    :: callers == 0 && ended && (plan_epoch > epoch || used == 0) ->
        atomic { epoch++; position = 0; ended = false; WAKE(work); mx = false; at_epoch = epoch; called = true }
    :: else ->
        paused = true; /* quiet() */
        do
        :: busy > 0 && !cancelled -> SLEEP(done)
        :: else -> break
        od;
        atomic {
            if
            :: busy == 0 -> /* skip_rest() */
                skipped_epoch = (ended -> skipped_epoch : epoch + 1);
                count = count; idle = idle + used; /* schedule_clear() */
                used = 0;
                for (i : 0 .. 2 * BATCHES - 1) { block[i] = OUT }
                epoch++;
                position = 0;
                ended = false;
                begin_epoch(epoch)
#ifdef FREE
                ; drawn = 0
#endif
            :: else
            fi;
            paused = false;
            WAKE(work);
            mx = false;
            at_epoch = epoch;
            called = true
        }
    fi
}

active proctype canceller()
{
#ifdef CANCEL
    if
    :: atomic { !mx && references > 0 -> assert(!gone); cancelled = true; WAKE(done) }
    :: stop -> skip
    fi;
#endif
    cancel_over = true
}

init {
    byte i;
    byte me = OWNER;
    bool called, patient = true;
    atomic {
        references = 1 + WORKERS;
        threads = WORKERS;
        for (i : 0 .. RING - 1) { ring[i] = i; job_stage[i] = OUT }
        for (i : 0 .. 2 * BATCHES - 1) { block[i] = OUT }
        begin_epoch(0);
#if WORKERS > 0
        for (i : 1 .. WORKERS) { run worker(i - 1) }
#endif
        for (i : 1 .. CALLERS) { run caller(WORKERS + i - 1) }
        i = 0
    }
    do
    :: at_epoch + 1 < EPOCHS && !cancelled -> /* after the end, or at any time */
        called = false;
        do
        :: called -> break
        :: !called && (callers == 0) -> next_epoch_call()
        :: !called && finished == ALL << WORKERS -> break
        od;
        if
        :: finished == ALL << WORKERS -> break
        :: else
        fi
    :: finished == ALL << WORKERS -> break
#ifdef ANYTIME
    :: true -> break
#endif
    od;
    called = false;
    stop = true;
    (cancel_over && (inside & ~counted) == 0); /* apl_reader_close(): no call may begin any more */
    LOCK;
    closing = true;
    WAKE(work);
    WAKE(done);
    do
    :: patient && threads + callers > 0 ->
        atomic { done = done | BIT(OWNER); mx = false };
        if
        :: atomic { !(done & BIT(OWNER)) && !mx -> mx = true }
#ifdef HASTY
        :: atomic { !mx -> mx = true; done = done & ~BIT(OWNER); patient = false }
#endif
        fi
    :: else -> break
    od;
    mx = false; /* let_threads_go() */
    LOCK;
    atomic { unreference() }
    finished == ALL << WORKERS && gone;
    assert(lent == 0 && (pool_gone || references > 0 || count == 0))
}
