/* Opening and closing readers, and their threads. */
#include "asked.h"
#include "buckets.h"
#include "field_kinds.h"
#include "forks.h"
#include "handles.h"
#include "inside.h"
#include "mix.h"
#include "monitor.h"
#include "options.h"
#include "packing.h"
#include "sizes.h"
#include "state.h"
#include "token_windows.h"
#include "trace.h"
#include "window.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define CLOSE_WAIT_NS 900000000u /* how long close waits for threads before it leaves them to themselves */

/* --------------------------------------------------------------------------------------------- freeing */

/* Frees everything, once nobody holds the reader. */
static void destroy_reader(apl_reader *r)
{
    workers_free(&r->workers);
    outlets_free(r);
    cache_free(r);
    planner_free(&r->planner);
    future_free(&r->future);
    sampler_free(r->spec.options.plan.sampler);
    packing_free(&r->spec.options.pack);
    windows_free(&r->spec.options.windows);
    buckets_free(&r->spec.options.bucket);
    subset_close(&r->spec.subset);
    mix_close(&r->spec);
    kinds_close(&r->spec);
    store_release(r->spec.store);
    reader_free(r);
}

void reader_free(apl_reader *r)
{
    pthread_cond_destroy(&r->work);
    pthread_cond_destroy(&r->done);
    pthread_cond_destroy(&r->help.left);
    pthread_mutex_destroy(&r->lock);
    monitor_free(r);
    free(r);
}

/* --------------------------------------------------------------------------------------------- opening */

/* Memory for the batches of a rank. */
static struct pool *make_pool(const apl_reader *r, const size_t *row, const apl_allocator *allocator,
                              uint64_t bytes)
{
    const struct reader_options *o = &r->spec.options;
    struct pool *pool = pool_new(o->batch_size, r->spec.schema->count, row, allocator, bytes);
    if (pool)
        pool_add_pieces(pool, options_pieces(o), o->pack.row ? options_most(o) : 0);
    for (unsigned i = 0; pool && i < o->part_count; i++)
        pool_add_part(pool, o->parts[i].field, o->parts[i].part, o->parts[i].row_bytes);
    if (pool)
        pool_assure(pool, options_buffers(o));
    if (pool && o->bounded)
        pool_bound(pool);
    return pool;
}

/* allocators: one, or one for each rank that is served. */
static apl_status open_memory(apl_reader *r, const apl_allocator *allocators, apl_error *err)
{
    const struct reader_options *o = &r->spec.options;
    size_t slot[APL_MAX_FIELDS], row[POOL_MAX_COLUMNS];
    unsigned fields = r->spec.schema->count;
    uint32_t slots = (uint32_t)window_slots(&r->spec, o->plan.window) + o->spare_slots;
    sizes_of_slot(&r->spec, slot);
    sizes_of_row(&r->spec, row);
    TRY(cache_open(r, slot, slots, err));
    uint64_t fixed = slab_bytes(slots, fields, slot) + plan_bytes(&o->plan, &r->spec.subset) +
                     packing_bytes(&r->spec) + windows_bytes(&r->spec) + buckets_bytes(&r->spec);
    stats_keep_memory(&r->counters, fixed);
    uint64_t standing = fixed + window_varying_bytes(&r->spec, o->plan.window);
    uint64_t left = o->budget > standing ? o->budget - standing : 0;
    for (unsigned i = 0; i < r->outlet_count; i++) {
        r->outlets[i].pool =
            make_pool(r, row, allocators ? &allocators[r->notify < 0 ? 0 : i] : NULL, left / r->outlet_count);
        if (!r->outlets[i].pool)
            return fail_nomem(err);
    }
    return APL_OK;
}

static apl_status build_parts(apl_reader *r, const apl_allocator *allocators, apl_error *err)
{
    TRY(planner_open(r, err));
    TRY(future_open(r, err));
    TRY(outlets_open(r, err));
    return open_memory(r, allocators, err);
}

static void init_locks(apl_reader *r)
{
    pthread_condattr_t monotonic;
    pthread_mutex_init(&r->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&r->work, &monotonic);
    pthread_cond_init(&r->done, &monotonic);
    pthread_cond_init(&r->help.left, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static apl_status build(apl_reader *r, const apl_reader_options *asked, const apl_allocator *allocators,
                        apl_error *err)
{
    uint64_t epoch, position;
    TRY(options_resolve(&r->spec, asked, err));
    TRY(build_parts(r, allocators ? allocators : asked->allocator, err));
    TRY(state_identify(r, err));
    TRY(state_resume(r, asked->state, asked->state_size, &epoch, &position, err));
    pthread_mutex_lock(&r->lock); /* nobody is there yet; the functions below expect it */
    for (unsigned i = 0; i < r->outlet_count; i++)
        tally_begin(r, &r->outlets[i].tally, epoch, position);
    apl_status status = planner_begin(r, epoch, position, err);
    pthread_mutex_unlock(&r->lock);
    return status == APL_OK ? workers_start(r, err) : status;
}

apl_status reader_new(void (*destroy)(apl_reader *r), apl_reader **reader, apl_error *err)
{
    TRY(trace_open(err));
    apl_reader *r = calloc(1, sizeof *r);
    if (!r)
        return fail_nomem(err);
    r->handle = handles_add(r, destroy);
    if (!r->handle) {
        free(r);
        return fail_nomem(err);
    }
    init_locks(r);
    r->forks = forks_so_far();
    r->notify = -1;
    stats_open(&r->counters);
    *reader = r;
    return APL_OK;
}

apl_status reader_open_served(apl_store *store, const apl_reader_options *options,
                              const apl_allocator *allocators, int notify, apl_reader **reader,
                              apl_error *err)
{
    struct asked asked;
    apl_reader *r;
    TRY(reader_new(destroy_reader, &r, err));
    r->notify = notify;
    r->spec.store = store_retain(store);
    r->spec.schema = &store->manifest.schema;
    apl_status status = asked_take(&asked, options, err);
    if (status == APL_OK)
        status = build(r, &asked.options, allocators, err);
    if (status == APL_OK)
        status = monitor_open(r, asked.options.monitor, store->name, err);
    asked_free(&asked);
    if (status == APL_OK)
        *reader = r;
    else
        apl_reader_close(r);
    return status;
}

apl_status apl_reader_open(apl_store *store, const apl_reader_options *options, apl_reader **reader,
                           apl_error *err)
{
    apl_error own;
    if (!store || !reader)
        return fail(err, APL_E_INVALID, "apl_reader_open: store or reader is NULL");
    return reader_open_served(store, options, NULL, -1, reader, err ? err : &own);
}

/* --------------------------------------------------------------------------------------------- closing */

/* Wakes everybody, and waits until threads and callers have left, or for as long as a close may take. */
static void nothing_left(apl_reader *r)
{
    uint64_t until = now_ns() + CLOSE_WAIT_NS;
    struct timespec limit = {.tv_sec = (time_t)(until / 1000000000u), .tv_nsec = (long)(until % 1000000000u)};
    pthread_mutex_lock(&r->lock);
    calls_close(r);
    monitor_stop(r);
    bool patient = !inside_callback(r); /* which could only wait for itself */
    while (patient && (r->workers.running + r->calls.next + r->calls.next_epoch > 0 || !monitor_has_left(r)))
        patient = pthread_cond_timedwait(&r->done, &r->lock, &limit) != ETIMEDOUT;
    bool left = r->workers.running == 0, unwatched = monitor_has_left(r);
    if (!left) /* a thread may be stuck in a block, which readers to come must not wait for */
        cache_retire(r);
    pthread_mutex_unlock(&r->lock);
    workers_release(r, left);
    monitor_release(r, unwatched);
}

void apl_reader_close(apl_reader *r)
{
    struct handle *handle = handles_hold(r);
    if (!handle)
        return;
    /* In a child, threads of the parent may have held the lock at the fork: nothing can be touched. */
    if (r->forks == forks_so_far() && handles_withdraw(handle)) {
        nothing_left(r);
        handles_drop(handle); /* on behalf of whoever opened it */
    }
    handles_drop(handle);
}
