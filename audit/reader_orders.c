/* The orders of real readers: see reader_orders.h. */
#include "reader_orders.h"
#include "inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static apl_status no_memory(apl_error *err)
{
    return inputs_error(err, APL_E_NOMEM, "out of memory");
}

/* ------------------------------------------------------------------------------------------- describing */

/* Store number i: 0 is the first, then those of the mix. */
static apl_store *store_at(const struct reader_orders *o, size_t i, const char **split)
{
    apl_store *store = i ? o->options.mix.sources[i - 1].store : o->store;
    *split = i ? o->options.mix.sources[i - 1].split : o->options.split;
    if (!*split)
        *split = apl_store_split(store, 0)->name;
    return store;
}

size_t reader_orders_store(const struct reader_orders *o, uint32_t i, apl_store **store, uint64_t *own)
{
    const char *split;
    *own = o->ids[i];
    for (size_t k = 0;; k++) {
        *store = store_at(o, k, &split);
        uint64_t records = apl_store_info(*store)->records;
        if (*own < records || k == o->options.mix.count)
            return k;
        *own -= records;
    }
}

static apl_status check_count(const char *split, uint64_t count, apl_error *err)
{
    if (count >= AUDIT_LEAST && count < UINT32_MAX)
        return APL_OK;
    err->status = APL_E_UNSUPPORTED;
    snprintf(err->message, sizeof err->message, "%.64s has %llu records; an audit takes %d to 2^32", split,
             (unsigned long long)count, AUDIT_LEAST);
    return APL_E_UNSUPPORTED;
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static apl_status copy_ids(struct reader_orders *o, apl_error *err)
{
    size_t n = o->options.id_count;
    apl_status status = check_count("the list of ids", n, err);
    if (status != APL_OK)
        return status;
    o->ids = malloc(n * sizeof *o->ids);
    if (!o->ids)
        return no_memory(err);
    o->n = (uint32_t)n;
    memcpy(o->ids, o->options.ids, n * sizeof *o->ids);
    qsort(o->ids, n, sizeof *o->ids, by_id);
    return APL_OK;
}

/* Appends the ids of a store's split, which begin at `first`. */
static apl_status append_ids(struct reader_orders *o, apl_store *store, const char *split, uint64_t first,
                             apl_error *err)
{
    uint64_t count = 0;
    apl_status status = apl_split_ids(store, split, NULL, &count, err);
    if (status != APL_OK || count >= UINT32_MAX - o->n)
        return status != APL_OK ? status : check_count(split, UINT32_MAX, err);
    uint64_t *grown = realloc(o->ids, (o->n + (size_t)count + 1) * sizeof *grown);
    if (!grown)
        return no_memory(err);
    o->ids = grown;
    status = apl_split_ids(store, split, grown + o->n, &count, err);
    for (uint64_t i = 0; status == APL_OK && i < count; i++)
        grown[o->n + i] += first;
    o->n += status == APL_OK ? (uint32_t)count : 0;
    return status;
}

static apl_status list_ids(struct reader_orders *o, apl_error *err)
{
    const char *split;
    uint64_t first = 0;
    apl_status status = APL_OK;
    if (o->options.ids)
        return copy_ids(o, err);
    for (size_t i = 0; i <= o->options.mix.count && status == APL_OK; i++) {
        apl_store *store = store_at(o, i, &split);
        status = append_ids(o, store, split, first, err);
        first += apl_store_info(store)->records;
    }
    char name[80];
    store_at(o, 0, &split);
    snprintf(name, sizeof name, o->options.mix.count ? "the mix" : "split %.64s", split);
    return status == APL_OK ? check_count(name, o->n, err) : status;
}

/* The block of each record, counting only those that hold some of the split. */
static apl_status list_blocks(const struct reader_orders *o, struct audit_sample *s, apl_error *err)
{
    uint32_t *block = malloc(o->n * sizeof *block), blocks = 0;
    uint64_t first = 0, count = 0, own;
    size_t part = SIZE_MAX;
    apl_status status = APL_OK;
    if (!block)
        return no_memory(err);
    s->block = block;
    for (uint32_t i = 0; i < o->n && status == APL_OK; i++) {
        apl_store *store;
        size_t now = reader_orders_store(o, i, &store, &own);
        if (now != part || own - first >= count) {
            status = apl_store_block(store, own, &first, &count, err);
            part = now;
            blocks++;
        }
        block[i] = blocks - 1;
    }
    s->blocks = blocks;
    return status;
}

/* The values of the records from ... that are of one store; *to: the first after them. */
static apl_status read_values(const struct reader_orders *o, const char *field, uint32_t from, uint32_t *to,
                              uint64_t *values, apl_error *err)
{
    apl_store *store, *next;
    uint64_t own;
    size_t part = reader_orders_store(o, from, &store, &own);
    int number = apl_store_find_field(store, field);
    if (number < 0)
        return inputs_error(err, APL_E_NOTFOUND, "one of the stores has no such field");
    uint64_t *ids = malloc((o->n - from) * sizeof *ids);
    if (!ids)
        return no_memory(err);
    for (*to = from; *to < o->n && reader_orders_store(o, *to, &next, &own) == part; ++*to)
        ids[*to - from] = own;
    apl_status status = inputs_values(store, (unsigned)number, ids, *to - from, values + from, err);
    free(ids);
    return status;
}

apl_status reader_orders_classes(const struct reader_orders *o, const char *field, uint32_t *cls,
                                 uint32_t *classes, apl_error *err)
{
    uint64_t *values = malloc(((size_t)o->n * 2 + 1) * sizeof *values);
    apl_status status = values ? APL_OK : no_memory(err);
    for (uint32_t from = 0; from < o->n && status == APL_OK;)
        status = read_values(o, field, from, &from, values, err);
    *classes = status == APL_OK ? inputs_rank(values, o->n, cls) : 0;
    free(values);
    return status;
}

/* The number whose bytes, of the type's size, are the lowest of `bits`. */
static double number_of_bits(const apl_field *field, uint64_t bits)
{
    uint32_t half = (uint32_t)bits;
    float single;
    double both;
    memcpy(&single, &half, sizeof single);
    memcpy(&both, &bits, sizeof both);
    switch (field->dtype) {
    case APL_F32:
        return (double)single;
    case APL_F64:
        return both;
    case APL_I8:
        return (int8_t)bits;
    case APL_I16:
        return (int16_t)bits;
    case APL_I32:
        return (int32_t)bits;
    case APL_I64:
        return (double)(int64_t)bits;
    default:
        return (double)bits;
    }
}

apl_status reader_orders_values(const struct reader_orders *o, const char *field, double *values,
                                apl_error *err)
{
    uint64_t *bits = malloc(((size_t)o->n + 1) * sizeof *bits);
    apl_status status = bits ? APL_OK : no_memory(err);
    for (uint32_t from = 0; from < o->n && status == APL_OK;)
        status = read_values(o, field, from, &from, bits, err);
    for (uint32_t i = 0; i < o->n && status == APL_OK; i++) {
        apl_store *store;
        uint64_t own;
        reader_orders_store(o, i, &store, &own);
        unsigned number = (unsigned)apl_store_find_field(store, field);
        values[i] = number_of_bits(apl_store_field(store, number), bits[i]);
    }
    free(bits);
    return status;
}

/* Of the first target that has classes, where all stores have it. */
static apl_status list_classes(const struct reader_orders *o, struct audit_sample *s, apl_error *err)
{
    int field = inputs_class_field(o->store);
    const char *name = field < 0 ? NULL : apl_store_field(o->store, (unsigned)field)->name, *split;
    for (size_t i = 0; name && i <= o->options.mix.count; i++)
        if (inputs_target(store_at(o, i, &split), name) < 0)
            name = NULL;
    if (!name)
        return APL_OK;
    uint32_t *cls = malloc(o->n * sizeof *cls);
    if (!cls)
        return no_memory(err);
    s->cls = cls;
    return reader_orders_classes(o, name, cls, &s->classes, err);
}

apl_status reader_orders_open(apl_store *store, const apl_reader_options *options,
                              struct reader_orders *orders, struct audit_sample *sample, apl_error *err)
{
    *orders = (struct reader_orders){.store = store, .options = *options};
    orders->options.ranks.world = options->ranks.world ? options->ranks.world : 1;
    apl_status status = list_ids(orders, err);
    if (status == APL_OK)
        status = list_blocks(orders, sample, err);
    if (status == APL_OK)
        status = list_classes(orders, sample, err);
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
        return no_memory(&o->error);
    options.seed = seed;
    options.first_epoch = epoch;
    options.fields = o->load ? options.fields : none;
    options.field_count = o->load ? options.field_count : 0;
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

static uint32_t find(const struct reader_orders *o, uint64_t id)
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
        order[at + i * step] = find(o, ids[i]);
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
