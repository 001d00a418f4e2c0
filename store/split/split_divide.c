/* Which part of a division each record falls in. */
#include "parallel.h"
#include "split.h"
#include "split_unit.h"

struct divider_worker {
    bool ready;
    struct split_units units;
    struct block_coder bc;
    struct raw_column column; /* of the classes */
};

struct divider {
    const apl_store *store;
    const struct selection *parent;
    const struct split_set *set;
    const struct split_file *rule; /* any file of the set */
    struct bitset *drawn;          /* NULL: not wanted */
    struct random_key key;
    uint64_t first_block;
    struct divider_worker *workers;
    /* by class: */
    unsigned field;
    struct split_item *items;
    atomic_uint_least64_t item_count;
};

static apl_status worker_ready(const struct divider *d, struct divider_worker *w, apl_error *err)
{
    if (w->ready)
        return APL_OK;
    TRY(split_units_open(d->store, d->rule, &w->units, err));
    TRY(block_coder_init(&w->bc, err));
    w->ready = true;
    return APL_OK;
}

static void divider_free(struct divider_worker *w)
{
    if (w->ready)
        block_coder_free(&w->bc);
    split_units_close(&w->units);
    raw_column_free(&w->column);
}

/* --------------------------------------------------------------------------------------------- by hash */

static uint64_t keyed(const struct divider *d, struct hash128 unit)
{
    uint64_t words[2] = {unit.low, unit.high};
    return siphash(d->key, words, 2);
}

/* floor(hash x parts / 2^64) of many */
uint32_t split_part_drawn(const struct split_file *rule, uint64_t hash)
{
    if (rule->rule == SPLIT_HASH)
        return hash < rule->ratio ? 0 : 1;
    return (uint32_t)(((hash >> 32) * rule->parts + ((hash & UINT32_MAX) * rule->parts >> 32)) >> 32);
}

/* A block whose units are in worker->units, and whose records are the ids first ... first+count-1. */
struct units_block {
    struct divider_worker *worker;
    struct block_view view;
    uint64_t number, first;
    uint32_t count;
};

static apl_status read_units(struct divider *d, unsigned worker, size_t task, struct units_block *b,
                             apl_error *err)
{
    b->worker = &d->workers[worker];
    b->number = d->first_block + task;
    TRY(worker_ready(d, b->worker, err));
    TRY(store_block(d->store, b->number, &b->worker->bc, &b->view, err));
    TRY(split_units_read(&b->worker->units, b->number, &b->view, err));
    manifest_block_ids(&d->store->manifest, b->number, &b->first, &b->count);
    return APL_OK;
}

static apl_status hash_block(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct divider *d = context;
    struct units_block b;
    TRY(read_units(d, worker, task, &b, err));
    for (uint32_t i = 0; i < b.count; i++) {
        if (!selection_has(d->parent, b.first + i))
            continue;
        uint64_t hash = keyed(d, b.worker->units.units[i]), range = hash / (UINT64_MAX / SPLIT_RANGES + 1);
        split_set_add(d->set, split_part_drawn(d->rule, hash), b.first + i - d->parent->first);
        if (d->drawn && !bitset_test(d->drawn, range)) /* threads need not share the word to write it again */
            bitset_set(d->drawn, range);
    }
    return APL_OK;
}

/* -------------------------------------------------------------------------------------------- by class */

static apl_status list_block(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct divider *d = context;
    struct units_block b;
    TRY(read_units(d, worker, task, &b, err));
    const struct schema *schema = &d->store->manifest.schema;
    struct raw_column *column = &b.worker->column;
    apl_status status = block_decode_column(&b.worker->bc, schema, &b.view, d->field, false, column, err);
    if (status != APL_OK)
        return store_block_error(d->store, b.number, status, err);
    unsigned bytes = (unsigned)schema->fields[d->field].value_bytes;
    for (uint32_t i = 0; i < b.count; i++) {
        if (!selection_has(d->parent, b.first + i))
            continue;
        struct hash128 unit = b.worker->units.units[i];
        /* relaxed: only the places matter, which no two threads share; the list is sorted afterwards */
        uint64_t at = atomic_fetch_add_explicit(&d->item_count, 1, memory_order_relaxed);
        d->items[at] =
            (struct split_item){keyed(d, unit), unit, load_le(column->values.data + (size_t)i * bytes, bytes),
                                b.first + i - d->parent->first};
    }
    return APL_OK;
}

static apl_status divide_by_class(struct divider *d, unsigned threads, size_t blocks, apl_error *err)
{
    TRY(split_field(d->store, d->rule->stratify, &d->field, err));
    if (d->parent->records > UINT32_MAX)
        return fail(err, APL_E_UNSUPPORTED, "%s: a split by class of more than 2^32 records", d->store->name);
    d->items = malloc(((size_t)d->parent->records + 1) * sizeof *d->items);
    apl_status status = d->items ? parallel_for(threads, blocks, list_block, d, err) : fail_nomem(err);
    if (status == APL_OK)
        status = split_divide_items(d->set, d->key, d->items,
                                    atomic_load_explicit(&d->item_count, memory_order_relaxed), err);
    free(d->items);
    return status;
}

/* ------------------------------------------------------------------------------------------- the whole */

apl_status split_divide(const apl_store *store, const struct selection *parent, unsigned threads,
                        const struct split_set *set, struct bitset *drawn, apl_error *err)
{
    const struct split_file *rule = &set->files[0];
    struct divider d = {.store = store, .parent = parent, .set = set, .rule = rule, .drawn = drawn};
    /* a key for each generation: records that were below the parent's ratio are no longer low */
    d.key = random_epoch_key(rule->seed, rule->generation, RANDOM_SPLIT);
    size_t blocks = 0;
    if (parent->count) { /* splits of the source begin and end where blocks do */
        d.first_block = manifest_block_of(&store->manifest, parent->first);
        blocks = (size_t)(manifest_block_of(&store->manifest, parent->first + parent->count - 1) + 1 -
                          d.first_block);
    }
    threads = threads_for(threads);
    d.workers = calloc(threads, sizeof *d.workers);
    apl_status status = d.workers ? APL_OK : fail_nomem(err);
    if (status == APL_OK)
        status = split_by_class(rule) ? divide_by_class(&d, threads, blocks, err)
                                      : parallel_for(threads, blocks, hash_block, &d, err);
    for (unsigned i = 0; d.workers && i < threads; i++)
        divider_free(&d.workers[i]);
    free(d.workers);
    return status;
}
