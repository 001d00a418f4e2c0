/*
 * Random mixes of everything that shapes how a reader works: threads, callers, batches, windows, budgets, orders, samples, ranks, lanes, epochs
 * that are left early, batches that are held and released elsewhere, slow loaders. Every record must come as often as it should. Outside
 * of sanitizers, memory is held against the budget too. A plain main, to be run under the thread sanitizer.
 *
 *     reader_mix [FIRST [MIXES]]     mixes FIRST ... FIRST+MIXES-1, each a pure function of its number
 *
 * Without a number, also mixes with many threads, up to a number of operations.
 */
#include "delivery.h"
#include "reader_case.h"

#define MAX_CALLERS 8
#define MAX_WORLD   4
#define HELD        5
#define CROWDED     1000000 /* the mixes from here on have at least CROWD threads beside their callers */
#define CROWD       16

static struct case_store stores[] = {
    {"small", 37, 0, 8, 4, false, ""},     {"odd", 1003, 50, 16, 4, true, ""},
    {"block", 2000, 0, 128, 4, false, ""}, {"long", 3001, 129, 64, 2, true, ""},
    {"single", 100, 3, 128, 4, false, ""}, {"kept", 700, 20, 16, 4, true, ""},
};
#define STORES (sizeof stores / sizeof *stores) /* names of the last are kept files */

struct mix {
    unsigned number;
    const struct case_store *store;
    apl_reader_options options;
    apl_sampling sampling;
    double weights[10]; /* of the classes */
    unsigned callers, world, epochs;
    uint32_t slow_load, slow_batch; /* of 100: how many are delayed */
    char text[500];
};

/* What one reader's callers share. */
struct crowd {
    const struct mix *mix;
    apl_reader *reader;
    atomic_uint *seen;            /* of each record, over all readers */
    _Atomic(apl_batch *) mailbox; /* held for others to release */
    atomic_llong left;            /* batches until everybody leaves; only for epochs that are left early */
    atomic_ullong batches, rows;
    atomic_bool over;
    atomic_uint memory_over;
};

static apl_status delay_load(void *user, uint64_t number, apl_error *err)
{
    static _Thread_local struct dice dice;
    const struct mix *m = user;
    (void)err;
    dice.state += number;
    if (roll(&dice, 100) < m->slow_load)
        nap(roll(&dice, 400));
    return APL_OK;
}

static void delay_batch(void *user, apl_batch *batch)
{
    static _Thread_local struct dice dice;
    const struct mix *m = user;
    dice.state += apl_batch_position(batch);
    if (roll(&dice, 100) < m->slow_batch)
        nap(roll(&dice, 400));
}

/* ------------------------------------------------------------------------------------------------------ callers */

struct caller {
    struct crowd *crowd;
    struct dice dice;
    apl_batch *held[HELD];
};

static void release_held(struct caller *c)
{
    for (unsigned i = 0; i < HELD; i++) {
        apl_batch_release(c->held[i]);
        c->held[i] = NULL;
    }
    apl_batch_release(atomic_exchange(&c->crowd->mailbox, NULL));
}

static void take(struct caller *c, apl_batch *batch)
{
    struct crowd *w = c->crowd;
    case_check(w->mix->store, batch);
    for (size_t k = 0; k < apl_batch_rows(batch); k++)
        atomic_fetch_add(&w->seen[apl_batch_ids(batch)[k] - w->mix->store->first], 1);
    atomic_fetch_add(&w->rows, apl_batch_rows(batch));
    atomic_fetch_add(&w->batches, 1);
    if (roll(&c->dice, 2))
        nap(roll(&c->dice, 60));
    unsigned place = roll(&c->dice, HELD + 3);
    if (place >= HELD) {
        apl_batch_release(place == HELD ? atomic_exchange(&w->mailbox, batch) : batch);
        return;
    }
    apl_batch_release(c->held[place]);
    c->held[place] = batch;
}

static void *call(void *user)
{
    struct caller *c = user;
    struct crowd *w = c->crowd;
    while (atomic_fetch_sub(&w->left, 1) > 0) {
        apl_batch *batch = NULL;
        apl_error err;
        apl_status status = apl_reader_next(w->reader, &batch, &err);
        if (status == APL_END)
            break;
        if (status == APL_OK) {
            take(c, batch);
            continue;
        }
        if (status != APL_E_LENT) {
            fprintf(stderr, "%d: %s\n", (int)status, err.message);
            abort();
        }
        release_held(c);
        atomic_fetch_add(&w->left, 1);
        nap(50);
    }
    return NULL;
}

/* Asks all that may be asked at any time. */
static void *observe(void *user)
{
    struct crowd *w = user;
    while (!atomic_load(&w->over)) {
        apl_stats stats;
        apl_receipt receipt;
        char text[1024];
        uint8_t state[4096];
        size_t size = sizeof state;
        CHECK(apl_reader_stats(w->reader, &stats, sizeof stats) == APL_OK);
        /* values of varying shape count by their average, which a batch may exceed */
        CHECK(w->mix->store->named || stats.memory <= stats.memory_budget);
        CHECK(apl_stats_json(&stats, text, sizeof text) > 0);
        CHECK(apl_reader_receipt(w->reader, &receipt, sizeof receipt, NULL) == APL_OK &&
              receipt.repeated == 0);
        CHECK(apl_reader_state(w->reader, state, &size, NULL) == APL_OK);
        (void)apl_reader_epoch(w->reader);
        (void)apl_reader_batches(w->reader);
        nap(300);
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------- epochs */

/* Lets the callers of all readers take an epoch, or some batches of it. */
static void run_epoch(struct crowd *crowds, const struct mix *m, struct dice *dice, bool early)
{
    pthread_t threads[MAX_WORLD * MAX_CALLERS];
    struct caller callers[MAX_WORLD * MAX_CALLERS];
    unsigned n = m->world * m->callers;
    for (unsigned i = 0; i < m->world; i++) {
        atomic_store(&crowds[i].left, early ? (long long)roll(dice, 12) : 1ll << 60);
        atomic_store(&crowds[i].batches, 0);
        atomic_store(&crowds[i].rows, 0);
    }
    for (unsigned i = 0; i < n; i++) {
        callers[i] = (struct caller){.crowd = &crowds[i % m->world], .dice = {m->number * 1000u + i}};
        CHECK(pthread_create(&threads[i], NULL, call, &callers[i]) == 0);
    }
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < n; i++)
        release_held(&callers[i]);
}

/* What has been gone through to its end. */
static struct {
    uint64_t epochs, batches, rows;
} done;

static apl_reader *open_judge(apl_store *store, apl_reader_options o)
{
    apl_reader *judge;
    apl_error err;
    o.ranks.rank = 0;
    o.threads = APL_NO_THREADS;
    o.loaders = o.consumers = 0;
    o.memory_budget = 0;
    MUST(apl_reader_open(store, &o, &judge, &err), &err);
    return judge;
}

/* The sample of an epoch, drawn by a reader of which nobody asks anything else: what the others have of an epoch that is handed out,
 * they may overwrite at any time. NULL: each record comes as often. */
static const uint32_t *sample_of(const apl_reader *judge, uint64_t epoch)
{
    struct sampler *sampler = judge->spec.options.plan.sampler;
    if (!sampler)
        return NULL;
    sampler_draw(sampler, epoch);
    return sampler_cumulative(sampler, epoch);
}

/* Of an epoch that is left early, what is to come of it may not have been drawn yet. */
static void check_epoch(struct crowd *crowds, const struct mix *m, const apl_reader *judge, bool early)
{
    const apl_reader *r = crowds[0].reader;
    unsigned reuse = m->options.reuse ? m->options.reuse : 1;
    const uint32_t *first = sample_of(judge, r->outlets[0].tally.epoch);
    uint64_t rows = 0, length = first ? m->options.sampling->records : m->store->records * reuse;
    for (uint64_t i = 0; i < m->store->records; i++) {
        unsigned n = atomic_exchange(&crowds[0].seen[i], 0);
        if (first && early)
            continue;
        unsigned due = first ? first[i + 1] - first[i] : reuse;
        CHECK(n <= due);
        CHECK(n == due || early || m->options.drop_last);
        rows += n;
    }
    if (early)
        return;
    uint64_t whole = (uint64_t)m->world * m->options.batch_size;
    CHECK(rows == (m->options.drop_last ? length / whole * whole : length));
    for (unsigned i = 0; i < m->world; i++) {
        CHECK(atomic_load(&crowds[i].batches) == apl_reader_batches(crowds[i].reader));
        done.batches += atomic_load(&crowds[i].batches);
    }
    done.rows += rows;
    done.epochs++;
}

/* -------------------------------------------------------------------------------------------------------- mixes */

static void choose_threads(struct mix *m, struct dice *d)
{
    static const unsigned some[] = {APL_NO_THREADS, 1, 1, 2, 2, 3, 4, 8, 16, 32};
    m->options.threads = some[roll(d, sizeof some / sizeof *some)];
    if (roll(d, 4) == 0) {
        m->options.loaders = 1 + roll(d, 4);
        m->options.consumers = 1 + roll(d, 4);
    }
    m->callers = roll(d, 2) ? 1 : 1 + roll(d, MAX_CALLERS);
    if (m->number < CROWDED)
        return;
    m->options.loaders = m->options.consumers = 0;
    m->options.threads = CROWD + roll(d, CROWD);
    m->callers = MAX_CALLERS;
}

static void choose_ranks(struct mix *m, struct dice *d)
{
    if (m->options.order == APL_STRICT && roll(d, 3) == 0)
        m->world = 1 + roll(d, MAX_WORLD);
    m->options.ranks.world = m->world;
    unsigned lanes = m->world * (1 + roll(d, 2));
    if (m->world > 1 && !m->options.sequential && roll(d, 2) && lanes <= m->store->records / m->store->block)
        m->options.ranks.lanes = lanes;
}

static void choose_sampling(struct mix *m, struct dice *d)
{
    apl_sampling init = APL_SAMPLING_INIT;
    uint32_t n = (uint32_t)m->store->records;
    if (m->options.sequential || roll(d, 3))
        return;
    m->options.reuse = 1;
    m->sampling = init;
    m->sampling.field = roll(d, 3) ? "label" : NULL;
    m->sampling.replacement = (int)roll(d, 2);
    bool any = m->sampling.field || m->sampling.replacement;
    m->sampling.records = 1 + roll(d, any ? 3 * n : n);
    if (m->sampling.field && roll(d, 2))
        m->sampling.weight_count = 10;
    for (unsigned c = 0; c < 10; c++)
        m->weights[c] = c == m->number % 10 ? 1 : roll(d, 4) ? 0 : (double)roll(d, 100);
}

/* The least that a window needs, as the error tells it. */
static uint64_t least_budget(apl_store *store, apl_reader_options o)
{
    uint64_t budget = 1;
    apl_reader *reader;
    apl_error err;
    for (int i = 0; i < 2; i++) {
        o.memory_budget = budget;
        if (apl_reader_open(store, &o, &reader, &err) == APL_OK) {
            apl_reader_close(reader);
            return budget;
        }
        const char *needs = strstr(err.message, "needs ");
        CHECK(err.status == APL_E_INVALID && needs);
        budget = strtoull(needs + 6, NULL, 10);
    }
    return budget;
}

static struct mix choose(unsigned number)
{
    struct dice d = {number * 7919u + 17};
    struct mix m = {
        .number = number, .store = &stores[roll(&d, STORES)], .world = 1, .epochs = 2 + roll(&d, 4)};
    apl_reader_options init = APL_READER_OPTIONS_INIT;
    uint64_t n = m.store->records, least = m.store->block < n ? m.store->block : n;
    m.options = init;
    m.options.split = "train";
    m.options.order = roll(&d, 2) ? APL_FREE : APL_STRICT;
    m.options.sequential = m.options.order == APL_STRICT && roll(&d, 6) == 0;
    m.options.seed = number;
    m.options.batch_size = roll(&d, 4)   ? 1 + roll(&d, 256)
                           : roll(&d, 2) ? 1 + roll(&d, 4)
                                         : 1 + roll(&d, (uint32_t)n + 1);
    m.options.bins = 1 + roll(&d, 256);
    m.options.reuse = roll(&d, 3) ? 1 : 1 + roll(&d, 3);
    m.options.drop_last = roll(&d, 3) == 0;
    m.options.queue_depth = roll(&d, 9);
    m.options.window = roll(&d, 3) == 0 ? 0 : least + roll(&d, roll(&d, 2) ? (uint32_t)(n - least) + 1 : 100);
    m.options.fill = m.options.order == APL_FREE && m.options.window == 0 && roll(&d, 2);
    m.options.memory_budget = roll(&d, 2) ? 0 : 1 + roll(&d, 2);
    m.slow_load = roll(&d, 3) ? 0 : roll(&d, 60);
    m.slow_batch = roll(&d, 3) ? 0 : roll(&d, 60);
    choose_threads(&m, &d);
    choose_ranks(&m, &d);
    choose_sampling(&m, &d);
    m.options.window *= m.options.ranks.lanes && m.options.window ? m.options.ranks.lanes : 1;
    if (m.slow_batch)
        m.options.on_batch = delay_batch;
    return m;
}

static void describe(struct mix *m)
{
    const apl_reader_options *o = &m->options;
    snprintf(m->text, sizeof m->text,
             "mix %u: store %s, %s%s, threads %d, loaders %u, consumers %u, callers %u, world %u, lanes %u, "
             "batch %zu, window %llu, "
             "bins %u, reuse %u, sampled %llu%s%s%s, drop_last %d, queue_depth %u, budget %llu, slow %u %u",
             m->number, m->store->name,
             o->fill                ? "free, filled"
             : o->order == APL_FREE ? "free"
                                    : "strict",
             o->sequential ? ", sequential" : "", (int)o->threads, o->loaders, o->consumers, m->callers,
             m->world, o->ranks.lanes, o->batch_size, (unsigned long long)o->window, o->bins, o->reuse,
             (unsigned long long)m->sampling.records, m->sampling.replacement ? " again" : "",
             m->sampling.field ? " by class" : "", m->sampling.weight_count ? ", weighted" : "", o->drop_last,
             o->queue_depth, (unsigned long long)o->memory_budget, m->slow_load, m->slow_batch);
    case_doing = m->text;
}

static void run_mix(unsigned number)
{
    struct mix m = choose(number);
    struct crowd crowds[MAX_WORLD] = {0};
    struct load_hook hook = {delay_load, &m};
    struct dice dice = {number};
    pthread_t observer;
    apl_error err;
    apl_store *store = case_open(m.store);
    atomic_uint *seen = calloc(m.store->records, sizeof *seen);
    CHECK(seen);
    m.options.on_batch_user = &m;
    m.options.sampling = m.sampling.records ? &m.sampling : NULL;
    m.sampling.weights = m.sampling.weight_count ? m.weights : NULL;
    if (m.options.memory_budget) /* the least, or room for a part of the records beyond it */
        m.options.memory_budget = least_budget(store, m.options) +
                                  (m.options.memory_budget - 1) * ((2u << 20) + roll(&dice, 1u << 20));
    describe(&m);
    case_watch(SANITIZED ? 240 : 60);
    load_set_hook(&hook);
    for (unsigned i = 0; i < m.world; i++) {
        m.options.ranks.rank = i;
        crowds[i].mix = &m;
        crowds[i].seen = seen;
        MUST(apl_reader_open(store, &m.options, &crowds[i].reader, &err), &err);
    }
    apl_reader *judge = open_judge(store, m.options);
    apl_store_close(store);
    CHECK(pthread_create(&observer, NULL, observe, &crowds[0]) == 0);
    for (unsigned e = 0; e < m.epochs; e++) {
        bool early = roll(&dice, 4) == 0;
        run_epoch(crowds, &m, &dice, early);
        check_epoch(crowds, &m, judge, early);
        for (unsigned i = 0; i < m.world; i++)
            MUST(apl_reader_next_epoch(crowds[i].reader, &err), &err);
    }
    atomic_store(&crowds[0].over, true);
    pthread_join(observer, NULL);
    apl_reader_close(judge);
    apl_batch *last[MAX_WORLD] = {NULL};
    for (unsigned i = 0; i < m.world; i++) {
        if (apl_reader_next(crowds[i].reader, &last[i], &err) != APL_OK)
            last[i] = NULL;
        apl_reader_close(crowds[i].reader);
    }
    for (unsigned i = 0; i < m.world; i++) { /* lent batches outlive their reader */
        if (last[i])
            case_check(m.store, last[i]);
        apl_batch_release(last[i]);
    }
    load_set_hook(NULL);
    free(seen);
}

/* Copies of a record that are drawn far apart hold its slot for long: more records stand than the window has. */
static void run_reuse(uint64_t seed)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_store *store = case_open(&stores[3]);
    apl_reader *reader;
    apl_batch *batch;
    apl_error err;
    o.split = "train";
    o.seed = seed;
    o.batch_size = 198;
    o.window = 700;
    o.reuse = 4;
    o.queue_depth = o.threads = 1;
    case_doing = "reading each record four times through a small window";
    case_watch(SANITIZED ? 60 : 10);
    MUST(apl_reader_open(store, &o, &reader, &err), &err);
    apl_store_close(store);
    while (apl_reader_next(reader, &batch, &err) == APL_OK)
        apl_batch_release(batch);
    apl_reader_close(reader);
}

/* ------------------------------------------------------------------------------------------------------- memory */

#if !SANITIZED
static struct case_store large = {"large", 40000, 0, 128, 32, false, ""};

/* Peak of anonymous memory over two epochs, against the budget. */
static void run_memory(uint64_t window, apl_order order, unsigned threads, bool floats)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_transform t = APL_TRANSFORM_INIT;
    apl_store *store = case_open(&large);
    apl_reader *reader;
    apl_batch *batch;
    apl_error err;
    apl_stats stats;
    uint64_t before = anonymous_bytes(), peak = 0;
    o.window = window;
    o.order = order;
    o.threads = threads;
    t.dtype = APL_F32;
    o.transforms = floats ? &t : NULL;
    o.transform_count = floats;
    MUST(apl_reader_open(store, &o, &reader, &err), &err);
    for (int epoch = 0; epoch < 2; epoch++) {
        for (unsigned i = 0; apl_reader_next(reader, &batch, &err) == APL_OK; i++) {
            uint64_t now = i % 4 ? 0 : anonymous_bytes();
            peak = now > peak ? now : peak;
            apl_batch_release(batch);
        }
        MUST(apl_reader_next_epoch(reader, &err), &err);
    }
    CHECK(apl_reader_stats(reader, &stats, sizeof stats) == APL_OK);
    apl_reader_close(reader);
    apl_store_close(store);
    printf("window %6llu, %s, %u threads, %s: budget %.1f MiB, memory %.1f MiB, peak of anonymous memory "
           "%.1f MiB\n",
           (unsigned long long)window, order == APL_FREE ? "free  " : "strict", threads,
           floats ? "f32" : "u8 ", (double)stats.memory_budget / 1048576, (double)stats.memory / 1048576,
           (double)(peak - before) / 1048576);
    CHECK(stats.memory <= stats.memory_budget);
    CHECK(peak - before <= stats.memory_budget + (32u << 20));
}

static void measure_memory(void)
{
    case_doing = "measuring memory";
    case_watch(120);
    case_write(&large, case_folder);
    run_memory(0, APL_STRICT, 2, false);
    run_memory(4000, APL_STRICT, 2, false);
    run_memory(4000, APL_FREE, 8, true);
    run_memory(20000, APL_STRICT, 4, true);
    run_memory(0, APL_FREE, 2, false);
}
#else
static void measure_memory(void)
{
}
#endif

int main(int argc, char **argv)
{
    unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    unsigned mixes = argc > 2 ? (unsigned)atoi(argv[2]) : times(SANITIZED ? 24 : 200, SANITIZED ? 400 : 2000);
    case_begin();
    for (size_t i = 0; i < STORES; i++)
        (i + 1 == STORES ? case_write_kept : case_write)(&stores[i], case_folder);
    for (uint64_t seed = 0; seed < 8; seed++)
        run_reuse(seed);
    for (unsigned i = first; i < first + mixes; i++)
        run_mix(i);
    unsigned long long before = done.batches, operations = 0;
    for (unsigned i = CROWDED; argc <= 1 && operations < times(SANITIZED ? 2000 : 5000, 1000000); i++) {
        run_mix(i);
        operations = 2 * (done.batches - before); /* each is taken, and released */
    }
    if (argc <= 1)
        measure_memory();
    counted("%u mixes of threads and options, %llu epochs, %llu batches, %llu records", mixes,
            (unsigned long long)done.epochs, (unsigned long long)done.batches, (unsigned long long)done.rows);
    if (argc <= 1)
        counted("%llu operations with %u to %u threads and their %u callers", operations, CROWD,
                2 * CROWD - 1, MAX_CALLERS);
    case_end("reader_mix");
    return 0;
}
