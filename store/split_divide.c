/* Which side of a split each record falls on. */
#include "parallel.h"
#include "random.h"
#include "split.h"

/* A record in a stratified split. */
struct item {
    uint64_t order; /* the keyed hash of its inputs */
    struct hash128 inputs;
    uint64_t cls;
    uint64_t record; /* of the source's split */
};

struct divider_worker {
    bool ready;
    struct block_coder bc;
    struct raw_column column;
};

struct divider {
    const apl_store *store;
    const struct selection *parent;
    struct split_file *file;
    struct random_key key;
    uint64_t first_block;
    /* stratified: */
    unsigned field;
    struct item *items;
    atomic_uint_least64_t item_count;
    struct divider_worker *workers;
};

static void put_on(struct divider *d, enum split_side side, uint64_t record)
{
    marks_set(&d->file->tables[side], record);
}

/* --------------------------------------------------------------------------------------------- by hash */

static uint64_t keyed(const struct divider *d, struct hash128 inputs)
{
    uint64_t words[2] = {inputs.low, inputs.high};
    return siphash(d->key, words, 2);
}

static apl_status hash_block(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct divider *d = context;
    (void)worker;
    struct buffer scratch = {0};
    struct block_view view;
    uint64_t number = d->first_block + task, first;
    uint32_t count;
    apl_status status = store_block(d->store, number, &scratch, &view, err);
    manifest_block_ids(&d->store->manifest, number, &first, &count);
    for (uint32_t i = 0; status == APL_OK && i < count; i++)
        if (selection_has(d->parent, first + i))
            put_on(d, keyed(d, block_stored_hash(&view, i)) < d->file->ratio ? SPLIT_PART : SPLIT_REST,
                   first + i - d->parent->first);
    buffer_free(&scratch);
    return status;
}

/* ------------------------------------------------------------------------------------------ stratified */

static apl_status list_block(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct divider *d = context;
    struct divider_worker *w = &d->workers[worker];
    struct block_view view;
    uint64_t number = d->first_block + task, first;
    uint32_t count;
    if (!w->ready)
        TRY(block_coder_init(&w->bc, err));
    w->ready = true;
    TRY(store_block(d->store, number, &w->bc.file, &view, err));
    manifest_block_ids(&d->store->manifest, number, &first, &count);
    const struct schema *schema = &d->store->manifest.schema;
    apl_status status = block_decode_column(&w->bc, schema, &view, d->field, false, &w->column, err);
    if (status != APL_OK)
        return store_block_error(d->store, number, status, err);
    unsigned bytes = (unsigned)schema->fields[d->field].value_bytes;
    for (uint32_t i = 0; i < count; i++) {
        if (!selection_has(d->parent, first + i))
            continue;
        struct hash128 inputs = block_stored_hash(&view, i);
        /* relaxed: only the places matter, which no two threads share; the list is sorted afterwards */
        uint64_t at = atomic_fetch_add_explicit(&d->item_count, 1, memory_order_relaxed);
        d->items[at] =
            (struct item){keyed(d, inputs), inputs, load_le(w->column.values.data + (size_t)i * bytes, bytes),
                          first + i - d->parent->first};
    }
    return APL_OK;
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Groups are records with equal inputs. Keyed hashes order them; where two are equal by chance, the inputs'
 * own do. */
static int compare_groups(const struct item *a, const struct item *b)
{
    int c = compare_u64(a->order, b->order);
    c = c ? c : compare_u64(a->inputs.high, b->inputs.high);
    return c ? c : compare_u64(a->inputs.low, b->inputs.low);
}

static int by_group(const void *a, const void *b)
{
    return compare_groups(a, b);
}

static int by_class(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    int c = compare_u64(x->cls, y->cls);
    return c ? c : compare_groups(x, y);
}

/* Where the group that begins at `from` ends. */
static uint64_t group_end(const struct item *items, uint64_t from, uint64_t n)
{
    uint64_t to = from + 1;
    while (to < n && compare_groups(&items[from], &items[to]) == 0)
        to++;
    return to;
}

/* A group whose records have several classes is one of the lowest. */
static void settle_classes(struct item *items, uint64_t n)
{
    for (uint64_t from = 0, to; from < n; from = to) {
        to = group_end(items, from, n);
        uint64_t least = items[from].cls;
        for (uint64_t i = from; i < to; i++)
            least = items[i].cls < least ? items[i].cls : least;
        for (uint64_t i = from; i < to; i++)
            items[i].cls = least;
    }
}

/* ratio x n, to the nearest number; n is below 2^32. */
static uint64_t share(uint64_t ratio, uint64_t n)
{
    uint64_t high = (ratio >> 32) * n, low = (ratio & UINT32_MAX) * n >> 32;
    return (high + low + ((uint64_t)1 << 31)) >> 32;
}

/* Divides the records of one class, items[0 ... n-1]. */
static void divide_class(struct divider *d, const struct item *items, uint64_t n)
{
    uint64_t taken = 0, wanted = share(d->file->ratio, n);
    bool open = true;
    for (uint64_t from = 0, to; from < n; from = to) {
        to = group_end(items, from, n);
        open = open && taken + (to - from) <= wanted;
        taken += to - from;
        for (uint64_t i = from; i < to; i++)
            put_on(d, open ? SPLIT_PART : SPLIT_REST, items[i].record);
    }
}

static void divide_items(struct divider *d)
{
    struct item *items = d->items;
    uint64_t n = atomic_load_explicit(&d->item_count, memory_order_relaxed);
    qsort(items, (size_t)n, sizeof *items, by_group);
    settle_classes(items, n);
    qsort(items, (size_t)n, sizeof *items, by_class);
    for (uint64_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && items[to].cls == items[from].cls; to++)
            continue;
        divide_class(d, items + from, to - from);
    }
}

static apl_status stratify(struct divider *d, unsigned threads, size_t blocks, apl_error *err)
{
    TRY(split_field(d->store, d->file->stratify, &d->field, err));
    if (d->parent->records > UINT32_MAX)
        return fail(err, APL_E_UNSUPPORTED, "%s: a stratified split of more than 2^32 records",
                    d->store->name);
    d->items = malloc(((size_t)d->parent->records + 1) * sizeof *d->items);
    d->workers = calloc(threads, sizeof *d->workers);
    apl_status status = d->items && d->workers ? APL_OK : fail_nomem(err);
    if (status == APL_OK)
        status = parallel_for(threads, blocks, list_block, d, err);
    if (status == APL_OK)
        divide_items(d);
    for (unsigned i = 0; d->workers && i < threads; i++) {
        block_coder_free(&d->workers[i].bc);
        buffer_free(&d->workers[i].column.values);
        buffer_free(&d->workers[i].column.dims);
        buffer_free(&d->workers[i].column.ends);
    }
    free(d->workers);
    free(d->items);
    return status;
}

/* ------------------------------------------------------------------------------------------- the whole */

apl_status split_divide(const apl_store *store, const struct selection *parent, unsigned threads,
                        struct split_file *file, apl_error *err)
{
    struct divider d = {.store = store, .parent = parent, .file = file};
    /* a key for each generation: records that were below the parent's ratio are no longer low */
    d.key = random_epoch_key(file->seed, file->generation, RANDOM_SPLIT);
    size_t blocks = 0;
    if (parent->count) { /* splits of the source begin and end where blocks do */
        d.first_block = manifest_block_of(&store->manifest, parent->first);
        blocks = (size_t)(manifest_block_of(&store->manifest, parent->first + parent->count - 1) + 1 -
                          d.first_block);
    }
    threads = threads ? threads : cores();
    if (file->rule == SPLIT_STRATIFIED)
        TRY(stratify(&d, threads, blocks, err));
    else
        TRY(parallel_for(threads, blocks, hash_block, &d, err));
    for (unsigned side = 0; side < 2; side++)
        file->records[side] = marks_total(&file->tables[side]);
    return APL_OK;
}
