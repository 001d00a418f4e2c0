/* The orders of real readers: see reader_orders.h. */
#include "reader_orders.h"

#include "inputs.h"
#include "order_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

apl_status reader_orders_open(apl_store *store, const apl_reader_options *options,
                              struct reader_orders *orders, struct audit_sample *sample, apl_error *err)
{
    *orders = (struct reader_orders){.store = store, .options = *options};
    orders->options.ranks.world = options->ranks.world ? options->ranks.world : 1;
    apl_status status = order_records_list(orders, sample, err);
    bool sampled = options->sampling && options->sampling->records;
    sample->n = orders->n;
    orders->length = sampled ? (uint32_t)options->sampling->records : orders->n;
    sample->seed = options->seed;
    sample->first_epoch = options->first_epoch;
    sample->batch = options->batch_size ? (uint32_t)options->batch_size : 256;
    return status;
}

/* ---------------------------------------------------------------------------------------------- reading */

static void close_readers(struct reader_orders *o)
{
    for (unsigned r = 0; o->readers && r < o->options.ranks.world; r++)
        apl_reader_close(o->readers[r]);
    free(o->readers);
    o->readers = NULL;
}

void reader_orders_close(struct reader_orders *o, struct audit_sample *sample)
{
    close_readers(o);
    free(o->ids);
    free((void *)sample->block);
    free((void *)sample->cls);
    *o = (struct reader_orders){.store = NULL};
    sample->block = sample->cls = NULL;
}

/* ----------------------------------------------------------------------------------------------- delays */

#define DELAYS 64u /* per epoch: at most this many batches */

/* Sleeps or not, by the clock: no two runs are the same. */
static void dawdle(const struct reader_orders *o)
{
    struct timespec now;
    uint64_t batch = o->options.batch_size ? o->options.batch_size : 256, one_in = o->n / batch / DELAYS + 1;
    if (o->delay_us == 0)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t hash = ((uint64_t)now.tv_nsec + 1) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
    if (hash % one_in == 0)
        nanosleep(&(struct timespec){.tv_nsec = (long)((hash >> 33) % o->delay_us) * 1000}, NULL);
}

/* On the reader's threads. */
static void dawdle_over(void *user, apl_batch *batch)
{
    (void)batch;
    dawdle(user);
}

static apl_status open_readers(struct reader_orders *o, uint64_t seed, uint64_t epoch)
{
    static const char *const none[1];
    apl_reader_options options = o->options;
    apl_status status = APL_OK;
    o->readers = calloc(options.ranks.world, sizeof *o->readers);
    if (!o->readers)
        return inputs_error(&o->error, APL_E_NOMEM, "out of memory");
    options.seed = seed;
    options.first_epoch = epoch;
    options.fields = o->load ? options.fields : none;
    options.field_count = o->load ? options.field_count : 0;
    options.transforms = o->load && !o->raw ? options.transforms : NULL;
    options.transform_count = o->load && !o->raw ? options.transform_count : 0;
    options.on_batch = o->delay_us ? dawdle_over : NULL;
    options.on_batch_user = o;
    for (options.ranks.rank = 0; options.ranks.rank < options.ranks.world && status == APL_OK;
         options.ranks.rank++)
        status = apl_reader_open(o->store, &options, &o->readers[options.ranks.rank], &o->error);
    o->seed = seed;
    o->epoch = epoch;
    return status;
}

/* Moves the readers to the start of an epoch; those that are right before it just continue. */
static apl_status stand_at(struct reader_orders *o, uint64_t seed, uint64_t epoch)
{
    apl_status status = APL_OK;
    if (!o->readers || o->seed != seed || o->epoch + 1 != epoch) {
        close_readers(o);
        return open_readers(o, seed, epoch);
    }
    for (unsigned r = 0; r < o->options.ranks.world && status == APL_OK; r++)
        status = apl_reader_next_epoch(o->readers[r], &o->error);
    o->epoch = epoch;
    return status;
}

uint32_t reader_orders_find(const struct reader_orders *o, uint64_t id)
{
    uint32_t low = 0, high = o->n;
    if (id - o->ids[0] < o->n && o->ids[id - o->ids[0]] == id)
        return (uint32_t)(id - o->ids[0]);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (o->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < o->n && o->ids[low] == id ? low : UINT32_MAX;
}

/* The rows of a batch come one after another in the epoch's order; those of a rank that has lanes of its own, `world` apart. */
static void place_batch(const struct reader_orders *o, const apl_batch *batch, uint64_t at, uint32_t *order)
{
    const uint64_t *ids = apl_batch_ids(batch);
    uint64_t step = o->options.ranks.lanes > 1 ? o->options.ranks.world : 1;
    for (size_t i = 0; i < apl_batch_rows(batch) && at + i * step < o->length; i++)
        order[at + i * step] = reader_orders_find(o, ids[i]);
}

/* In free order, the order of delivery counts. */
static apl_status take_rank(struct reader_orders *o, unsigned rank, uint32_t *order)
{
    apl_batch *batch;
    apl_status status;
    uint64_t taken = 0;
    while ((status = apl_reader_next(o->readers[rank], &batch, &o->error)) == APL_OK) {
        place_batch(o, batch, o->options.order == APL_FREE ? taken : apl_batch_position(batch), order);
        taken += apl_batch_rows(batch);
        if (o->load)
            o->digest = inputs_digest(batch, apl_store_info(o->store)->fields, o->digest);
        if (o->taken)
            o->taken(o->taken_user, batch);
        dawdle(o);
        apl_batch_release(batch);
    }
    return status == APL_END ? APL_OK : status;
}

bool reader_orders_take(void *user, uint64_t seed, uint64_t epoch, uint32_t *order)
{
    struct reader_orders *o = user;
    memset(order, 0xff, o->length * sizeof *order);
    apl_status status = stand_at(o, seed, epoch);
    for (unsigned rank = 0; rank < o->options.ranks.world && status == APL_OK; rank++)
        status = take_rank(o, rank, order);
    return status == APL_OK;
}

/* ---------------------------------------------------------------------------------------------- the window */

static apl_status first_batch(const struct reader_orders *o, uint64_t window, apl_batch **batch,
                              apl_error *err)
{
    static const char *const none[1];
    apl_reader_options options = o->options;
    apl_reader *reader;
    options.window = window;
    options.order = APL_STRICT; /* to be compared, it must not depend on time */
    options.fill = 0;
    options.fields = none;
    options.field_count = 0;
    options.transforms = NULL;
    options.transform_count = 0;
    apl_status status = apl_reader_open(o->store, &options, &reader, err);
    if (status != APL_OK)
        return status;
    status = apl_reader_next(reader, batch, err);
    apl_reader_close(reader);
    return status;
}

/* The window that a reader chooses for 0 depends on the size of values, but its order is the same as with that window given. */
apl_status reader_orders_covers(const struct reader_orders *o, bool *covers, apl_error *err)
{
    apl_batch *own = NULL, *full = NULL;
    *covers = o->options.window >= o->n;
    if (o->options.window)
        return APL_OK;
    apl_status status = first_batch(o, 0, &own, err);
    if (status == APL_OK)
        status = first_batch(o, o->n, &full, err);
    if (status == APL_OK)
        *covers =
            apl_batch_rows(own) == apl_batch_rows(full) &&
            memcmp(apl_batch_ids(own), apl_batch_ids(full), apl_batch_rows(own) * sizeof(uint64_t)) == 0;
    apl_batch_release(own);
    apl_batch_release(full);
    return status;
}
