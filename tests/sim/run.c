/* A seed's run: see run.h. */
#include "callers.h"

#include "load.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------- readers of a part */

/* The least that the window needs, as the refusals tell it: the first of the least window. */
static uint64_t least_budget(struct run *t, apl_reader_options o)
{
    apl_reader *reader;
    apl_error err;
    o.memory_budget = 1;
    sim_sound(true);
    for (int i = 0; i < 2; i++) {
        if (apl_reader_open(t->store, &o, &reader, &err) == APL_OK) {
            apl_reader_close(reader);
            break;
        }
        const char *needs = strstr(err.message, "needs ");
        if (!needs)
            sim_fail("%s", err.message);
        o.memory_budget = strtoull(needs + 6, NULL, 10);
    }
    sim_sound(false);
    return o.memory_budget;
}

/* What the defaults come to, and for some records' slots more, which keep blocks for the next epoch. */
static uint64_t spare_budget(struct run *t, apl_reader_options o)
{
    apl_reader *reader;
    apl_error err;
    o.memory_budget = 0;
    sim_sound(true);
    if (apl_reader_open(t->store, &o, &reader, &err) != APL_OK)
        sim_fail("%s", err.message);
    sim_sound(false);
    const size_t *bytes = reader->cache.standing.slab.value_bytes;
    uint64_t one = (slab_bytes(1u << 20, reader->spec.schema->count, bytes) >> 20) + 1;
    uint64_t budget = reader->spec.options.budget + slab_bytes(0, reader->spec.schema->count, bytes);
    apl_reader_close(reader);
    return budget + one * (1 + draw(&t->draws, (uint32_t)shapes[t->scenario.store].records));
}

/* Opens the reader of each rank; false if something failed that was made to. */
static bool open_readers(struct run *t, struct crew *crew, const void *state, size_t state_size)
{
    static const unsigned all[MOST_WORLD] = {0, 1, 2};
    apl_reader_options o = t->part.options;
    apl_error err;
    o.ranks.list = t->part.grouped ? all : NULL;
    o.ranks.count = t->part.grouped ? t->part.world : 0;
    o.state = state_size ? state : NULL;
    o.state_size = state_size;
    o.first_epoch = t->epoch;
    if (t->part.budget == 3)
        o.memory_budget = spare_budget(t, o);
    else if (t->part.budget)
        o.memory_budget = least_budget(t, o) + (t->part.budget == 2 ? draw(&t->draws, 100000) : 0);
    for (unsigned i = 0; i < t->part.world; i++) {
        apl_allocator allocator;
        t->ranks[i] = (struct rank){.number = i, .grouped = t->part.grouped};
        if (i > 0 && t->part.grouped) {
            t->ranks[i].reader = t->ranks[0].reader;
            continue;
        }
        struct callback *c = crew->callbacks[i] = callers_hook(t, &o, &allocator);
        o.ranks.rank = i;
        sim_may_fail(true);
        apl_status status = apl_reader_open(t->store, &o, &t->ranks[i].reader, &err);
        sim_may_fail(false);
        c->reader = t->ranks[i].reader;
        if (status == APL_OK)
            continue;
        if (!sim_faults_made)
            sim_fail("a reader cannot be opened: %s", err.message);
        while (i-- > 0)
            apl_reader_close(t->ranks[i].reader);
        return false;
    }
    return true;
}

/* How many readers there are. */
static unsigned readers(const struct run *t)
{
    return t->part.grouped ? 1 : t->part.world;
}

static void close_reader(const struct run *t, struct rank *rank, struct callback *callback)
{
    uint64_t begin = sim_now();
    callback->reader = NULL;
    apl_reader_close(rank->reader);
    rank->reader = NULL;
    uint64_t most =
        t->scenario.faults.hang ? 900000000u : 100000000u; /* ns; no delay comes near the lower one */
    HOLDS(sim_tick() || sim_now() - begin <= most);
}

/* While callers are inside. */
static void interrupt(struct run *t, struct crew *crew)
{
    nap(sim_below(1000));
    for (unsigned i = draw(&t->draws, 200); i > 0; i--)
        sim_point("interrupts", i, NULL);
    t->cancelled = true;
    while (t->part.ending == CLOSE && !callers_are_safe(crew))
        nap(1);
    for (unsigned i = 0; t->part.grouped && i < t->part.world; i++)
        t->ranks[i].cancelled_at = sim_now();
    for (unsigned i = 0; i < readers(t); i++) {
        t->ranks[i].cancelled_at = sim_now();
        if (t->part.ending == CANCEL)
            apl_reader_cancel(t->ranks[i].reader);
        else
            close_reader(t, &t->ranks[i], crew->callbacks[i]);
    }
}

/* Lets callers read until the ending of the part. */
static void read_part(struct run *t, struct crew *crew)
{
    pthread_t observer;
    bool observed = t->part.observed && t->part.ending != CLOSE;
    callers_start(t, crew);
    if (observed)
        HOLDS(pthread_create(&observer, NULL, callers_observe, &t->ranks[0]) == 0);
    if (t->part.ending == CANCEL || t->part.ending == CLOSE)
        interrupt(t, crew);
    for (unsigned i = 0; i < crew->n; i++)
        pthread_join(crew->callers[i].thread, NULL);
    if (observed)
        pthread_join(observer, NULL);
}

/* ------------------------------------------------------------------------------------------------------ epochs */

static void new_epoch(struct run *t)
{
    t->epoch++;
    t->first = t->total = 0;
    t->broken = false;
    memset(t->seen, 0, sizeof t->seen);
    for (unsigned i = 0; i < MOST_WORLD; i++) {
        t->ranks[i].rows = t->ranks[i].skipped = t->ranks[i].after = 0;
        t->ranks[i].ended = false;
        t->ranks[i].error = APL_OK;
    }
}

/* All ranks of a strict order stand at the same place after as many batches. */
static size_t save(struct run *t, uint8_t *state, size_t room)
{
    size_t size = rank_state(&t->ranks[0], state, room);
    uint8_t other[APL_STATE_BYTES + MOST_DELIVERIES / 8];
    for (unsigned i = 1; i < t->part.world; i++) {
        size_t others = rank_state(&t->ranks[i], other, sizeof other);
        HOLDS(others == size && memcmp(state, other, size) == 0);
    }
    return size;
}

/* A rank that has not left the epoch yet may take another batch of it, which must be the one that follows. */
static void linger(struct run *t, struct rank *rank)
{
    apl_batch *batch;
    if (t->part.grouped && draw(&t->draws, 2) &&
        apl_reader_next_of(rank->reader, rank->number, &batch, NULL) == APL_OK) {
        check_batch(t, rank, batch);
        apl_batch_release(batch);
    }
}

/* False: they are no longer of use. */
static bool next_epoch(struct run *t)
{
    apl_error err;
    for (unsigned i = 0; i < t->part.world; i++) {
        apl_status status;
        do {
            uint64_t begin = sim_now();
            sim_may_fail(true);
            status = t->part.grouped ? apl_reader_next_epoch_of(t->ranks[i].reader, i, &err)
                                     : apl_reader_next_epoch(t->ranks[i].reader, &err);
            sim_may_fail(false);
            if (status == APL_E_TIMEOUT)
                check_answer(t, &t->ranks[i], status, sim_now() - begin);
        } while (status == APL_E_TIMEOUT);
        if (status != APL_OK && !sim_faults_made)
            sim_fail("next_epoch: %s", err.message);
        if (status != APL_OK)
            return false;
        if (i + 1 < t->part.world)
            linger(t, &t->ranks[i + 1]);
    }
    return true;
}

/* Reads parts of epochs with one set of readers, as long as they are good for it. Returns the size of the state from which
 * others are to go on; 0: with the epoch. */
static size_t use_readers(struct run *t, struct crew *crew, uint8_t *state, size_t room)
{
    for (;;) {
        HOLDS(check_expect(t));
        read_part(t, crew);
        run_tally.closed += t->part.ending == CLOSE;
        if (t->part.ending == CLOSE) {
            new_epoch(t);
            return 0;
        }
        check_receipts(t);
        t->fresh = false;
        bool whole = !t->broken && !t->cancelled;
        for (unsigned i = 0; i < t->part.world; i++)
            whole = whole && t->ranks[i].ended;
        if (whole)
            check_epoch(t);
        if (!t->broken && (t->part.ending == RESUME || (t->cancelled && t->part.world == 1)))
            return save(t, state, room);
        bool good = !t->cancelled && next_epoch(t) && draw(&t->draws, 2);
        new_epoch(t);
        if (!good || t->epoch >= t->scenario.epochs)
            return 0;
        t->part.ending = draw(&t->draws, 2) ? TO_THE_END : LEAVE;
        t->part.batches = t->part.ending == LEAVE ? (long long)draw(&t->draws, 8) : 1ll << 60;
    }
}

static void finish(struct run *t, struct crew *crew)
{
    for (unsigned i = 0; i < readers(t); i++)
        if (t->ranks[i].reader)
            close_reader(t, &t->ranks[i], crew->callbacks[i]);
    for (unsigned i = 0; i < crew->n; i++) /* batches outlive their reader */
        callers_release(&crew->callers[i]);
}

static void open_stores(struct run *t)
{
    if (t->store)
        return;
    t->store = store_open(&t->scenario, t->scenario.store);
    t->other = store_open(&t->scenario, t->scenario.other);
    t->scenario.source.store = t->other;
}

static void close_stores(struct run *t)
{
    apl_store_close(t->store);
    apl_store_close(t->other);
    t->store = t->other = NULL;
}

static uint64_t begins_at(const uint8_t *state, size_t size)
{
    uint64_t epoch, position = 0;
    HOLDS(!size || apl_state_position(state, size, &epoch, &position, NULL) == APL_OK);
    return position;
}

static void read_epochs(struct run *t)
{
    struct crew crew;
    uint8_t state[APL_STATE_BYTES + MOST_DELIVERIES / 8];
    size_t size = 0;
    unsigned failures = 0;
    while (t->epoch < t->scenario.epochs) {
        scenario_part(&t->scenario, &t->draws, &t->part);
        sim_doing = t->part.text;
        t->cancelled = false;
        crew.n = 0;
        open_stores(t);
        if (failures > 3)
            sim_faults.nomem = sim_faults.no_thread = sim_faults.io_error = 0;
        if (!open_readers(t, &crew, state, size)) {
            failures++;
            continue;
        }
        run_tally.resumed += size > 0;
        t->first = begins_at(state, size);
        t->fresh = true;
        if (t->scenario.close_first)
            close_stores(t);
        size = use_readers(t, &crew, state, sizeof state);
        finish(t, &crew);
    }
    close_stores(t);
}

static void damage_store(struct run *t)
{
    const struct shape *shape = &shapes[t->scenario.store];
    uint64_t before = shape->first ? (shape->first - 1) / shape->block + 1 : 0;
    open_stores(t);
    for (unsigned i = 0; i < 64; i++)
        if (t->scenario.bad >> i & 1)
            sim_damage(t->store->blocks[before + i].offset, t->store->blocks[before + i].size);
}

void run_seed(void *user)
{
    static struct run t; /* for late callbacks too */
    static struct load_hook hook;
    t = (struct run){0};
    scenario_draw(&t.scenario, &t.draws, *(uint64_t *)user);
    sim_doing = t.scenario.text;
    hook = (struct load_hook){callers_before_load, &t};
    decoded_forget(); /* what readers of an earlier seed keep, whose threads never came back */
    load_set_hook(t.scenario.slow_load || !t.scenario.read ? &hook : NULL);
    damage_store(&t);
    if (!check_expect(&t)) {
        scenario_simplify(&t.scenario);
        run_tally.simplified++;
    }
    sim_faults = t.scenario.faults;
    read_epochs(&t);
}
