/* Those who read: see callers.h. */
#include "callers.h"

#include <stdlib.h>
#include <time.h>

#define OBSERVATIONS 20

void nap(uint32_t us)
{
    struct timespec t = {.tv_nsec = (long)us * 1000};
    nanosleep(&t, NULL);
}

/* --------------------------------------------------------------------------------- what the reader calls back */

/* A load of a store that is mapped cannot be made to fail otherwise. */
apl_status callers_before_load(void *user, uint64_t number, apl_error *err)
{
    const struct run *t = user;
    const struct shape *shape = &shapes[t->scenario.store];
    uint64_t block = number - (shape->first ? (shape->first - 1) / shape->block + 1 : 0);
    if (sim_chance(t->scenario.slow_load * 100))
        nap(sim_below(400));
    bool bad = t->scenario.bad && t->scenario.bad >> block & 1; /* none is where stores are mixed */
    return !t->scenario.read && bad ? fail(err, APL_E_CORRUPT, "damaged") : APL_OK;
}

static void on_batch(void *user, apl_batch *batch)
{
    const struct callback *c = user;
    (void)batch;
    if (sim_chance(c->run->scenario.slow_batch * 100))
        nap(sim_below(400));
    apl_batch *none;
    if (c->reader && sim_chance(500))
        HOLDS(apl_reader_next(c->reader, &none, NULL) == APL_E_REENTRANT);
}

static void *take_memory(void *user, size_t bytes)
{
    const struct callback *c = user;
    if (sim_chance(c->run->scenario.slow_memory * 100))
        nap(sim_below(400));
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void give_memory(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

/* A thread that close has left to itself may call back after all else: these are never freed. */
struct callback *callers_hook(struct run *t, apl_reader_options *o, apl_allocator *allocator)
{
    static struct callback callbacks[256];
    static unsigned used;
    struct callback *c = &callbacks[used++ % 256];
    *c = (struct callback){t, NULL};
    *allocator = (apl_allocator){take_memory, give_memory, c};
    o->allocator = t->scenario.callbacks ? allocator : NULL;
    o->on_batch = t->scenario.callbacks ? on_batch : NULL;
    o->on_batch_user = c;
    return c;
}

/* --------------------------------------------------------------------------------------------------- callers */

static void release(struct caller *c, apl_batch **batch)
{
    apl_batch *b = *batch;
    if (!b)
        return;
    *batch = NULL;
    sim_acquire(batch);
    check_values(c->run, b);
    c->rank->lent--;
    apl_batch_release(b);
}

void callers_release(struct caller *c)
{
    for (unsigned i = 0; i < HELD; i++)
        release(c, &c->held[i]);
    release(c, &c->rank->mailbox);
}

/* Holds it for a while, or leaves it to somebody else. */
static void keep(struct caller *c, apl_batch *batch)
{
    unsigned place = sim_below(HELD + 4);
    for (unsigned i = HELD; c->run->part.hoards && i-- > 0;)
        place = c->held[i] ? place : i;
    apl_batch **to = place < HELD ? &c->held[place] : place == HELD ? &c->rank->mailbox : &batch;
    if (to != &batch) {
        apl_batch *before = *to;
        sim_acquire(to); /* as an exchange of an atomic pointer would */
        *to = batch;
        sim_release(to);
        batch = before;
    }
    release(c, &batch);
}

static bool take_ticket(struct caller *c)
{
    if (c->rank->left <= 0 || (c->run->cancelled && c->run->part.ending == CLOSE))
        return false;
    c->rank->left--;
    c->locked = sim_locked();
    c->inside = true;
    return true;
}

/* With an answer; false: that was the last. */
static bool answered(struct caller *c, apl_status status, apl_batch *batch, uint64_t took, bool lent)
{
    c->inside = false;
    if (status == APL_OK) {
        c->rank->lent++;
        c->refused = c->late = 0;
        check_batch(c->run, c->rank, batch);
        if (sim_chance(3000))
            nap(sim_below(60));
        keep(c, batch);
        return true;
    }
    check_answer(c->run, c->rank, status, took);
    if (status != APL_E_TIMEOUT && status != APL_E_LENT)
        return false;
    if (c->rank->grouped && c->run->broken)
        return false; /* what another rank no longer takes keeps this one waiting */
    c->rank->left++;
    /* Callers whose time is up at once would leave no turn to those who work, and those who wait for a load of seconds by the millisecond
     * would come to no end. */
    if (status == APL_E_TIMEOUT && (c->late++ >= 16 || sim_tick()))
        nap(1000u << (c->late < 160 ? c->late / 16 : 10));
    if (status == APL_E_LENT) {
        HOLDS(lent || c->rank->lent || c->run->part.callers > 1);
        callers_release(c);
        nap(50u << (c->refused < 10 ? c->refused++ : 10));
    }
    return true;
}

static void *call(void *user)
{
    struct caller *c = user;
    bool more = true;
    while (more && take_ticket(c)) {
        apl_batch *batch = NULL;
        apl_error err;
        bool lent = c->rank->lent > 0;
        uint64_t begin = sim_now();
        sim_may_fail(true);
        apl_status status = c->rank->grouped
                                ? apl_reader_next_of(c->rank->reader, c->rank->number, &batch, &err)
                                : apl_reader_next(c->rank->reader, &batch, &err);
        sim_may_fail(false);
        more = answered(c, status, batch, sim_now() - begin, lent);
    }
    if (c->run->part.ending != CLOSE || sim_chance(5000))
        callers_release(c);
    return NULL;
}

/* Asks all that may be asked at any time. */
void *callers_observe(void *user)
{
    const struct rank *rank = user;
    for (unsigned i = 0; i < OBSERVATIONS; i++) {
        apl_stats stats;
        uint8_t state[APL_STATE_BYTES + MOST_DELIVERIES / 8];
        HOLDS(apl_reader_stats(rank->reader, &stats, sizeof stats) == APL_OK);
        apl_receipt receipt = rank_receipt(rank);
        HOLDS(receipt.repeated == 0 && receipt.missing == 0);
        rank_state(rank, state, sizeof state);
        HOLDS(apl_reader_epoch(rank->reader) == receipt.epoch);
        nap(sim_below(300));
    }
    return NULL;
}

void callers_start(struct run *t, struct crew *crew)
{
    crew->n = t->part.world * t->part.callers;
    for (unsigned i = 0; i < t->part.world; i++)
        t->ranks[i].left = t->part.ending == CANCEL || t->part.ending == CLOSE ? 1ll << 60 : t->part.batches;
    for (unsigned i = 0; i < crew->n; i++) {
        struct caller *c = &crew->callers[i];
        *c = (struct caller){.run = t, .rank = &t->ranks[i % t->part.world]};
        HOLDS(pthread_create(&c->thread, NULL, call, c) == 0);
        c->number = (uint64_t)c->thread;
    }
}

bool callers_are_safe(const struct crew *crew)
{
    for (unsigned i = 0; i < crew->n; i++) {
        const struct caller *c = &crew->callers[i];
        const struct thread *thread = sim_find(c->number);
        if (c->inside && thread->locked == c->locked)
            return false; /* about to call: that would be too late */
    }
    return true;
}
