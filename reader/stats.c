/* Where the time went: see stats.h. */
#include "stats.h"

#include "inside.h"
#include "parallel.h"
#include "plain_number.h"
#include "sized.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* The longest wait that counts in bucket i: 1, 1.5, 2, 3, 4, 6, ... ns. */
static uint64_t wait_bucket_ns(unsigned i)
{
    uint64_t power = (uint64_t)1 << (i / 2);
    return i & 1 ? power + power / 2 : power;
}

void stats_count_wait(struct reader_counters *c, uint64_t ns)
{
    unsigned i = 0;
    while (i + 1 < WAIT_BUCKETS && wait_bucket_ns(i) < ns)
        i++;
    c->waits[i]++;
    c->wait_ns += ns;
    c->longest_wait_ns = ns > c->longest_wait_ns ? ns : c->longest_wait_ns;
}

/* Adds up what has held since it was last done. */
static void mark(struct reader_counters *c, uint64_t now)
{
    uint64_t ns = now > c->marked_at ? now - c->marked_at : 0;
    c->marked_at += ns;
    if (c->waiting == 0 || c->first_batch_ns == 0)
        return;
    c->starved_ns += ns;
    c->unused_loaders_ns += ns * c->idle_loaders;
    c->unused_consumers_ns += ns * c->idle_consumers;
    c->held_ns += c->held ? ns : 0;
}

void stats_begin_wait(struct reader_counters *c, uint64_t now)
{
    mark(c, now);
    c->waiting++;
}

void stats_end_wait(struct reader_counters *c, uint64_t now)
{
    mark(c, now);
    c->waiting--;
}

void stats_divide_wait(struct reader_counters *c, uint64_t since, const struct milestones *batch)
{
    if (c->first_batch_ns == 0 || since == 0)
        return;
    uint64_t planned = batch->planned > since ? batch->planned : since;
    uint64_t begun = batch->begun > planned ? batch->begun : planned;
    uint64_t done = batch->done > begun ? batch->done : begun;
    c->wait_planning_ns += planned - since;
    c->wait_loading_ns += begun - planned;
    c->wait_assembling_ns += done - begun;
}

void stats_begin_idle(struct reader_counters *c, uint64_t now, bool loads, bool collates)
{
    mark(c, now);
    c->idle_loaders += loads;
    c->idle_consumers += collates;
}

void stats_end_idle(struct reader_counters *c, uint64_t now, bool loads, bool collates)
{
    mark(c, now);
    c->idle_loaders -= loads;
    c->idle_consumers -= collates;
}

void stats_set_held(struct reader_counters *c, bool held)
{
    if (held == c->held)
        return;
    mark(c, now_ns());
    c->held = held;
}

static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
           ((double)u.ru_utime.tv_usec + (double)u.ru_stime.tv_usec) * 1e-6;
}

void stats_open(struct reader_counters *c)
{
    c->opened_at = now_ns();
    c->cpu_at_open = cpu_seconds();
}

void stats_keep_memory(struct reader_counters *c, uint64_t bytes)
{
    c->fixed_bytes = bytes;
}

void stats_count_batch(struct reader_counters *c, uint64_t records, uint64_t bytes)
{
    c->batches++;
    c->records += records;
    c->bytes_assembled += bytes;
    if (c->first_batch_ns)
        return;
    uint64_t now = now_ns();
    mark(c, now);
    c->first_batch_ns = now - c->opened_at;
}

void stats_count_block(struct reader_counters *c, uint64_t bytes_read, uint64_t bytes_decoded)
{
    c->blocks++;
    c->bytes_read += bytes_read;
    c->bytes_decoded += bytes_decoded;
}

void stats_add_read(struct reader_counters *c, uint64_t bytes)
{
    c->bytes_read += bytes;
}

static void add_spent(struct spent *sum, const struct spent *parts)
{
    sum->reading += parts->reading;
    sum->images += parts->images;
    sum->callback += parts->callback;
}

void stats_add_load(struct reader_counters *c, uint64_t ns, const struct spent *parts)
{
    c->load_ns += ns;
    add_spent(&c->in_loads, parts);
}

void stats_add_collate(struct reader_counters *c, uint64_t ns, const struct spent *parts)
{
    c->collate_ns += ns;
    add_spent(&c->in_batches, parts);
}

void stats_add_plan(struct reader_counters *c, uint64_t ns)
{
    c->plan_ns += ns;
}

void stats_add_blocked(struct reader_counters *c, uint64_t ns)
{
    c->blocked_ns += ns;
}

static double seconds(uint64_t ns)
{
    return (double)ns * 1e-9;
}

/* The time below which the fraction `q` of the waits stayed, to within a quarter of itself. */
static double quantile(const struct reader_counters *c, double q)
{
    uint64_t all = 0, seen = 0;
    for (unsigned i = 0; i < WAIT_BUCKETS; i++)
        all += c->waits[i];
    if (all == 0)
        return 0;
    for (unsigned i = 0; i < WAIT_BUCKETS; i++) {
        seen += c->waits[i];
        if ((double)seen >= q * (double)all) {
            double top = seconds(wait_bucket_ns(i));
            return top < seconds(c->longest_wait_ns) ? top : seconds(c->longest_wait_ns);
        }
    }
    return seconds(c->longest_wait_ns);
}

static uint64_t see_counter(const atomic_uint_fast64_t *counter)
{
    /* relaxed: it only has to be near */
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Of each store once, if it is mixed with itself. */
static void add_traffic(const apl_reader *r, apl_stats *s)
{
    for (uint32_t i = 0; i < r->spec.sources.count; i++) {
        const struct origin *origin = r->spec.sources.source[i].store->remote.origin;
        bool again = false;
        for (uint32_t k = 0; k < i; k++)
            again = again || r->spec.sources.source[k].store->remote.origin == origin;
        if (!origin || again)
            continue;
        s->requests += see_counter(&origin->traffic.requests);
        s->bytes_fetched += see_counter(&origin->traffic.bytes);
        s->retries += see_counter(&origin->traffic.retries);
        s->cache_hits += see_counter(&origin->traffic.hits);
        s->bytes_cached += see_counter(&origin->traffic.hit_bytes);
        s->cache_damaged += see_counter(&origin->traffic.bad_parts);
    }
}

static void fill_counted(apl_reader *r, apl_stats *s)
{
    const struct reader_counters *c = &r->counters;
    uint64_t waits = 0;
    for (unsigned i = 0; i < WAIT_BUCKETS; i++)
        waits += c->waits[i];
    s->elapsed = seconds(now_ns() - c->opened_at);
    s->batches = c->batches;
    s->records = c->records;
    s->blocks = c->blocks;
    s->wait = seconds(c->wait_ns);
    s->wait_mean = waits ? s->wait / (double)waits : 0;
    s->wait_p50 = quantile(c, 0.5);
    s->wait_p99 = quantile(c, 0.99);
    s->wait_p999 = quantile(c, 0.999);
    s->wait_max = seconds(c->longest_wait_ns);
    s->stall = s->elapsed > 0 ? s->wait / s->elapsed : 0;
    s->first_batch = seconds(c->first_batch_ns);
    s->loading = seconds(c->load_ns);
    s->assembling = seconds(c->collate_ns);
    s->planning = seconds(c->plan_ns);
    s->blocked = seconds(c->blocked_ns);
    s->bytes_read = c->bytes_read;
    s->bytes_decoded = c->bytes_decoded;
    s->bytes_assembled = c->bytes_assembled;
}

static void fill_memory(apl_reader *r, apl_stats *s)
{
    s->memory = r->counters.fixed_bytes + r->cache.varying_bytes;
    s->memory_budget = r->spec.options.budget;
    s->slots = r->cache.standing.slab.slots;
    s->standing_slots = cache_standing(&r->cache);
    for (unsigned i = 0; i < r->outlet_count; i++) {
        const struct outlet *o = &r->outlets[i];
        s->memory += pool_bytes(o->pool);
        s->queued += queue_count_finished(&o->queue);
        s->lent += pool_lent(o->pool);
    }
}

static void fill_ranks(const apl_reader *r, apl_stats *s)
{
    const struct outlet *slowest = &r->outlets[0];
    for (unsigned i = 0; i < r->outlet_count; i++) {
        const struct outlet *o = &r->outlets[i];
        slowest = o->waited < slowest->waited ? o : slowest;
    }
    s->ranks = r->outlet_count;
    s->slowest_rank = slowest->rank;
}

/* Where waits came from. */
static void fill_waits(apl_reader *r, apl_stats *s)
{
    struct reader_counters *c = &r->counters;
    const struct reader_options *o = &r->spec.options;
    mark(c, now_ns());
    s->starved = seconds(c->starved_ns);
    s->wait_planning = seconds(c->wait_planning_ns);
    s->wait_loading = seconds(c->wait_loading_ns);
    s->wait_assembling = seconds(c->wait_assembling_ns);
    s->unused_loaders = seconds(c->unused_loaders_ns);
    s->unused_consumers = seconds(c->unused_consumers_ns);
    s->held = seconds(c->held_ns);
    s->reading = seconds(c->in_loads.reading);
    s->reading_kept = seconds(c->in_batches.reading);
    s->images = seconds(c->in_batches.images);
    s->callback = seconds(c->in_batches.callback);
    s->waiting = c->waiting;
    s->threads = o->threads;
    s->loaders = o->loaders;
    s->consumers = o->consumers;
    s->queue_depth = o->queue_depth;
    s->cores = cores();
    s->served = r->provider != NULL;
}

/* With the lock held. */
static void fill_stats(apl_reader *r, apl_stats *s)
{
    fill_counted(r, s);
    fill_ranks(r, s);
    fill_waits(r, s);
    if (r->provider)
        r->provider->stats(r, s);
    else
        fill_memory(r, s);
    add_traffic(r, s);
    s->cpu = cpu_seconds();
    s->cpu_since_open = s->cpu - r->counters.cpu_at_open;
}

apl_status apl_reader_stats(apl_reader *r, apl_stats *stats, size_t size)
{
    apl_stats s = {0};
    if (!r || !stats || !room_ok(size))
        return APL_E_INVALID;
    TRY(reader_enter(r, NULL));
    pthread_mutex_lock(&r->lock);
    fill_stats(r, &s);
    pthread_mutex_unlock(&r->lock);
    reader_leave(r);
    options_give(stats, size, &s, sizeof s);
    return APL_OK;
}

/* The members that apl_stats_json() writes, without the bracket at the end. */
static size_t write_first(const apl_stats *s, char *text, size_t size)
{
    int n = plain_print(
        text, size,
        "{\"elapsed\": %.6f, \"batches\": %" PRIu64 ", \"records\": %" PRIu64 ", \"blocks\": %" PRIu64 ", "
        "\"wait\": {\"total\": %.9f, \"mean\": %.9f, \"p50\": %.9f, \"p99\": %.9f, \"p999\": %.9f, "
        "\"max\": %.9f}, \"stall\": %.6f, \"first_batch\": %.6f, \"loading\": %.6f, \"assembling\": %.6f, "
        "\"planning\": %.6f, \"blocked\": %.6f, \"bytes\": {\"read\": %" PRIu64 ", \"decoded\": %" PRIu64
        ", \"assembled\": %" PRIu64 "}, \"memory\": %" PRIu64 ", \"memory_budget\": %" PRIu64
        ", \"cpu\": %.6f, \"queued\": %u, \"lent\": %u, \"standing_slots\": %u, \"slots\": %u",
        s->elapsed, s->batches, s->records, s->blocks, s->wait, s->wait_mean, s->wait_p50, s->wait_p99,
        s->wait_p999, s->wait_max, s->stall, s->first_batch, s->loading, s->assembling, s->planning,
        s->blocked, s->bytes_read, s->bytes_decoded, s->bytes_assembled, s->memory, s->memory_budget, s->cpu,
        s->queued, s->lent, s->standing_slots, s->slots);
    return n < 0 ? 0 : (size_t)n;
}

/* Those after them, likewise. */
static size_t write_more(const apl_stats *s, char *text, size_t size)
{
    int n = plain_print(
        text, size,
        ", \"starved\": %.6f, \"wait_planning\": %.6f, \"wait_loading\": %.6f, \"wait_assembling\": %.6f, "
        "\"unused_loaders\": %.6f, \"unused_consumers\": %.6f, \"held\": %.6f, \"reading\": %.6f, "
        "\"reading_kept\": %.6f, \"images\": %.6f, \"callback\": %.6f, \"waiting\": %u, \"threads\": %u, "
        "\"loaders\": %u, \"consumers\": %u, \"queue_depth\": %u, \"cores\": %u, \"ranks\": %u, "
        "\"slowest_rank\": %u, \"served\": %u, \"remote\": {\"requests\": %" PRIu64 ", \"bytes\": %" PRIu64
        ", \"retries\": %" PRIu64 ", \"cache_hits\": %" PRIu64 ", \"cache_bytes\": %" PRIu64
        ", \"cache_damaged\": %" PRIu64 "}, \"cpu_since_open\": %.6f",
        s->starved, s->wait_planning, s->wait_loading, s->wait_assembling, s->unused_loaders,
        s->unused_consumers, s->held, s->reading, s->reading_kept, s->images, s->callback, s->waiting,
        s->threads, s->loaders, s->consumers, s->queue_depth, s->cores, s->ranks, s->slowest_rank, s->served,
        s->requests, s->bytes_fetched, s->retries, s->cache_hits, s->bytes_cached, s->cache_damaged,
        s->cpu_since_open);
    return n < 0 ? 0 : (size_t)n;
}

/* What is left of `size` bytes of text after the first `n`, and where; none: for a length alone. */
#define AFTER(text, size, n) ((n) < (size) ? (text) + (n) : NULL), ((n) < (size) ? (size) - (n) : 0)

static size_t write_json(const apl_stats *s, bool all, char *text, size_t size)
{
    size_t n = write_first(s, text, size);
    if (all)
        n += write_more(s, AFTER(text, size, n));
    return n + (size_t)snprintf(AFTER(text, size, n), "}");
}

size_t apl_stats_json(const apl_stats *s, char *text, size_t size)
{
    return s && (text || !size) ? write_json(s, false, text, size) : 0;
}

size_t apl_stats_json_all(const apl_stats *stats, size_t stats_size, char *text, size_t size)
{
    apl_stats s = {0};
    if (!stats || !room_ok(stats_size) || (size && !text))
        return 0;
    options_give(&s, sizeof s, stats, stats_size);
    return write_json(&s, true, text, size);
}
