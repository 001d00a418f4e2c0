/* Where the time went: see stats.h. */
#include "stats.h"

#include "inside.h"
#include "sized.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

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

void stats_open(struct reader_counters *c)
{
    c->opened_at = now_ns();
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
    if (c->first_batch_ns == 0)
        c->first_batch_ns = now_ns() - c->opened_at;
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

void stats_add_load(struct reader_counters *c, uint64_t ns)
{
    c->load_ns += ns;
}

void stats_add_collate(struct reader_counters *c, uint64_t ns)
{
    c->collate_ns += ns;
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

static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
           ((double)u.ru_utime.tv_usec + (double)u.ru_stime.tv_usec) * 1e-6;
}

static void fill_memory(apl_reader *r, apl_stats *s)
{
    s->memory = r->counters.fixed_bytes;
    for (unsigned i = 0; i < r->outlet_count; i++) {
        const struct outlet *o = &r->outlets[i];
        s->memory += pool_bytes(o->pool);
        s->queued += queue_count_finished(&o->queue);
        s->lent += pool_lent(o->pool);
    }
    s->memory_budget = r->options.budget;
    s->slots = r->cache.slab.slots;
    s->standing_slots = cache_standing(&r->cache);
}

static void fill_stats(apl_reader *r, apl_stats *s)
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
    if (r->provider)
        r->provider->stats(r, s);
    else
        fill_memory(r, s);
}

apl_status apl_reader_stats(apl_reader *r, apl_stats *stats, size_t size)
{
    apl_stats s = {0};
    if (!r || !stats || size == 0)
        return APL_E_INVALID;
    TRY(reader_enter(r, NULL));
    pthread_mutex_lock(&r->lock);
    fill_stats(r, &s);
    pthread_mutex_unlock(&r->lock);
    reader_leave(r);
    s.cpu = cpu_seconds();
    options_give(stats, size, &s, sizeof s);
    return APL_OK;
}

size_t apl_stats_json(const apl_stats *s, char *text, size_t size)
{
    if (!s || (size && !text))
        return 0;
    int n = snprintf(
        text, size,
        "{\"elapsed\": %.6f, \"batches\": %" PRIu64 ", \"records\": %" PRIu64 ", \"blocks\": %" PRIu64 ", "
        "\"wait\": {\"total\": %.9f, \"mean\": %.9f, \"p50\": %.9f, \"p99\": %.9f, \"p999\": %.9f, "
        "\"max\": %.9f}, \"stall\": %.6f, \"first_batch\": %.6f, \"loading\": %.6f, \"assembling\": %.6f, "
        "\"planning\": %.6f, \"blocked\": %.6f, \"bytes\": {\"read\": %" PRIu64 ", \"decoded\": %" PRIu64
        ", \"assembled\": %" PRIu64 "}, \"memory\": %" PRIu64 ", \"memory_budget\": %" PRIu64
        ", \"cpu\": %.6f, \"queued\": %u, \"lent\": %u, \"standing_slots\": %u, \"slots\": %u}",
        s->elapsed, s->batches, s->records, s->blocks, s->wait, s->wait_mean, s->wait_p50, s->wait_p99,
        s->wait_p999, s->wait_max, s->stall, s->first_batch, s->loading, s->assembling, s->planning,
        s->blocked, s->bytes_read, s->bytes_decoded, s->bytes_assembled, s->memory, s->memory_budget, s->cpu,
        s->queued, s->lent, s->standing_slots, s->slots);
    return n < 0 ? 0 : (size_t)n;
}
