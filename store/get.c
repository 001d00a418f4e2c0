/* Records by their ids: every block decoded once, on as many threads as wished. */
#include "batch.h"
#include "expansion.h"
#include "parallel.h"
#include "sized.h"
#include "store.h"

#include <stdlib.h>

/* A row that is wanted: which block it is in, and where in the batch it goes. */
struct want {
    uint64_t block;
    uint32_t record; /* of the block */
    size_t row;      /* of the batch */
};

/* The values of one block's wanted rows, in fields of varying shape: kept until all sizes are known. */
struct pieces {
    struct raw_column columns[APL_MAX_FIELDS];
};

struct get_worker {
    bool ready;
    struct block_coder bc;
    struct raw_column column;
};

struct get {
    const apl_store *store;
    const struct schema *schema;
    apl_batch *batch;
    bool wanted[APL_MAX_FIELDS];
    bool any_varying;
    struct want *wants; /* sorted by block */
    size_t *starts;     /* of each block among `wants`; one more for the end */
    size_t blocks;
    struct pieces *pieces; /* of each block, if there are fields of varying shape */
    struct get_worker *workers;
    uint64_t fields;            /* a bit for each that is wanted */
    bool whole;                 /* of a store at a URL: blocks are read as a whole, as readers do */
    uint32_t expansion;         /* how many times the files' size the batch may take: see expansion.h */
    atomic_uint_fast64_t taken; /* bytes that it takes */
    atomic_size_t asked;        /* of a store at a URL: blocks that have been asked for ahead */
};

#define BLOCKS_AHEAD 16u

/* -------------------------------------------------------------------------------------------- planning */

static int compare_wants(const void *a, const void *b)
{
    const struct want *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

/* Blocks at a URL are read in one piece if hardly anything of them is left out; or if there is a cache, which is to have them as readers
 * will look for them. Kept files never are. */
#define FEW_BYTES 8u
static bool takes_whole(const struct get *get)
{
    const struct origin *origin = get->store->remote.origin;
    uint64_t wanted = 0, all = 0;
    if (!store_is_elsewhere(get->store) || schema_keeps(get->schema))
        return false;
    for (unsigned f = 0; f < get->schema->count; f++) {
        const apl_field *field = &get->schema->fields[f];
        bool varying = field_varying(field) > 0; /* by how much, is not known */
        all += varying && !get->wanted[f] ? UINT32_MAX : varying ? 0 : field->value_bytes;
        wanted += get->wanted[f] && !varying ? field->value_bytes : 0;
    }
    return (origin && origin->cache) || all - wanted <= all / FEW_BYTES;
}

static apl_status choose_fields(struct get *get, const apl_get_options *options, apl_error *err)
{
    if (!options->fields && options->field_count)
        return fail(err, APL_E_INVALID, "fields is NULL, but field_count is %zu", options->field_count);
    for (unsigned f = 0; f < get->schema->count; f++)
        get->wanted[f] = !options->fields;
    for (size_t i = 0; options->fields && i < options->field_count; i++) {
        unsigned f;
        TRY(store_find_field(get->store, options->fields[i], &f, err));
        get->wanted[f] = true;
    }
    for (unsigned f = 0; f < get->schema->count; f++)
        if (get->wanted[f]) {
            get->any_varying |= field_varying(&get->schema->fields[f]) > 0;
            get->fields |= (uint64_t)1 << f;
        }
    get->whole = takes_whole(get);
    return APL_OK;
}

/* Sorts what is wanted by block. */
static apl_status plan(struct get *get, const uint64_t *ids, size_t n, apl_error *err)
{
    const struct manifest *m = &get->store->manifest;
    if (n > PTRDIFF_MAX / sizeof *get->wants)
        return fail_nomem(err);
    get->wants = calloc(n + 1, sizeof *get->wants);
    get->starts = calloc(n + 1, sizeof *get->starts);
    if (!get->wants || !get->starts)
        return fail_nomem(err);
    bool sorted = true;
    for (size_t i = 0; i < n; i++) {
        if (ids[i] >= m->info.records)
            return fail_records(err,
                                fail(err, APL_E_NOTFOUND, "%s: there is no record %llu: ids are 0 to %llu",
                                     get->store->name, (unsigned long long)ids[i],
                                     (unsigned long long)m->info.records - 1),
                                ids[i], 1);
        const struct segment *s = manifest_segment_of(m, ids[i]);
        uint64_t offset = ids[i] - s->first_id;
        get->wants[i] = (struct want){s->first_block + offset / s->block_records,
                                      (uint32_t)(offset % s->block_records), i};
        sorted = sorted && (i == 0 || get->wants[i - 1].block <= get->wants[i].block);
    }
    if (!sorted)
        qsort(get->wants, n, sizeof *get->wants, compare_wants);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || get->wants[i].block != get->wants[i - 1].block)
            get->starts[get->blocks++] = i;
    get->starts[get->blocks] = n;
    return APL_OK;
}

/* Counts bytes that the batch is to take. */
static apl_status take_memory(struct get *get, uint64_t bytes, apl_error *err)
{
    /* relaxed: a sum, which orders nothing */
    uint64_t before = atomic_fetch_add_explicit(&get->taken, bytes, memory_order_relaxed);
    apl_status status = expansion_check_standing(get->expansion, get->store->manifest.info.file_bytes,
                                                 before + bytes, "fewer records at a time take less", err);
    return status == APL_OK ? APL_OK : fail_in(err, status, "%s", get->store->name);
}

static apl_status batch_of_rows(struct get *get, const uint64_t *ids, size_t n, apl_error *err)
{
    apl_batch *b = calloc(1, sizeof *b);
    if (!b)
        return fail_nomem(err);
    get->batch = b;
    b->rows = n;
    b->fields = get->schema->count;
    b->ids = malloc((n + 1) * sizeof *b->ids);
    if (!b->ids)
        return fail_nomem(err);
    if (n)
        memcpy(b->ids, ids, n * sizeof *ids);
    for (unsigned f = 0; f < b->fields; f++) {
        const apl_field *field = &get->schema->fields[f];
        apl_column *column = &b->columns[f];
        column->dtype = field->dtype;
        column->ndim = field->ndim;
        memcpy(column->shape, field->shape, sizeof column->shape);
        batch_set_dims(column, n);
        if (!get->wanted[f] || field_varying(field) > 0)
            continue;
        if (n > SIZE_MAX / 2 / field->value_bytes)
            return fail_nomem(err);
        column->bytes = n * field->value_bytes;
        TRY(take_memory(get, column->bytes, err));
        column->data = batch_memory(column->bytes);
        if (!column->data)
            return fail_nomem(err);
    }
    return APL_OK;
}

/* -------------------------------------------------------------------------------------------- decoding */

static void copy_fixed(struct get *get, unsigned f, const struct raw_column *column, size_t from, size_t to)
{
    size_t bytes = get->schema->fields[f].value_bytes;
    uint8_t *out = (uint8_t *)get->batch->columns[f].data;
    for (size_t i = from; i < to; i++)
        memcpy(out + get->wants[i].row * bytes, column->values.data + get->wants[i].record * bytes, bytes);
}

static apl_status keep_varying(struct get *get, unsigned f, const struct raw_column *column, size_t from,
                               size_t to, struct raw_column *piece, apl_error *err)
{
    const apl_field *field = &get->schema->fields[f];
    size_t width = 4 * (size_t)field_varying(field);
    for (size_t i = from; i < to; i++) {
        size_t bytes;
        const uint8_t *value = raw_column_value(column, field, get->wants[i].record, &bytes);
        TRY(take_memory(get, bytes, err));
        buffer_put(&piece->values, value, bytes);
        buffer_put(&piece->dims, column->dims.data + get->wants[i].record * width, width);
        uint64_t end = piece->values.size;
        buffer_put(&piece->ends, &end, sizeof end);
    }
    return piece->values.failed || piece->dims.failed || piece->ends.failed ? fail_nomem(err) : APL_OK;
}

/* Of a kept field, only the values that are wanted are read. */
static apl_status keep_kept(struct get *get, struct block_coder *bc, const struct block_view *view,
                            unsigned f, size_t task, apl_error *err)
{
    size_t from = get->starts[task], to = get->starts[task + 1];
    struct raw_column *piece = &get->pieces[task].columns[f];
    struct kept_index index;
    uint64_t number = get->wants[from].block;
    TRY(store_kept_index(get->store, number, bc, view, f, &index, err));
    for (size_t i = from; store_is_elsewhere(get->store) && i < to; i++)
        if (!store_ahead_kept(get->store, number, view, f, &index, get->wants[i].record))
            break;
    for (size_t i = from; i < to; i++) {
        size_t before = piece->values.size;
        apl_status status = store_kept_value(get->store, number, bc, view, f, &index, get->wants[i].record,
                                             &piece->values, err);
        if (status == APL_E_CORRUPT) /* the others of its block may be well */
            return fail_records(err, status, get->batch->ids[get->wants[i].row], 1);
        TRY(status);
        uint64_t end = piece->values.size;
        TRY(take_memory(get, end - before, err));
        buffer_le(&piece->dims, end - before, 4);
        buffer_put(&piece->ends, &end, sizeof end);
    }
    return piece->dims.failed || piece->ends.failed ? fail_nomem(err) : APL_OK;
}

/* One field of a block's rows, of whatever kind. */
static apl_status get_column(struct get *get, struct get_worker *w, struct block_view *view, unsigned f,
                             size_t task, apl_error *err)
{
    const apl_field *field = &get->schema->fields[f];
    size_t from = get->starts[task], to = get->starts[task + 1];
    uint64_t number = get->wants[from].block;
    if (field->media)
        return keep_kept(get, &w->bc, view, f, task, err);
    if (!get->whole)
        TRY(store_block_column(get->store, number, &w->bc, view, f, err));
    apl_status status = block_decode_column(&w->bc, get->schema, view, f, false, &w->column, err);
    if (status != APL_OK)
        return store_block_error(get->store, number, status, err);
    if (field_varying(field) == 0)
        copy_fixed(get, f, &w->column, from, to);
    else
        TRY(keep_varying(get, f, &w->column, from, to, &get->pieces[task].columns[f], err));
    raw_column_clear(&w->column);
    return APL_OK;
}

/* Blocks of a store at a URL are asked for before they are needed, each once. */
static void get_ahead(struct get *get, size_t task)
{
    size_t end = task + BLOCKS_AHEAD < get->blocks ? task + BLOCKS_AHEAD : get->blocks;
    /* relaxed: asking is all that is done */
    size_t next = atomic_load_explicit(&get->asked, memory_order_relaxed);
    while (store_is_elsewhere(get->store) && get->fields && next < end)
        if (atomic_compare_exchange_weak_explicit(&get->asked, &next, next + 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            (void)store_ahead(get->store, get->wants[get->starts[next++]].block, get->whole ? 0 : get->fields,
                              (struct need){false, DUE_UNKNOWN});
}

/* Where the columns are; or, of a block that is read as a whole, the columns. */
static apl_status look_at_block(struct get *get, struct get_worker *w, uint64_t number,
                                struct block_view *view, apl_error *err)
{
    if (get->whole)
        return store_block(get->store, number, &w->bc, view, err);
    TRY(store_block_head(get->store, number, &w->bc, view, err));
    if (store_is_elsewhere(get->store))
        store_ahead_columns(get->store, number, view, get->fields, DUE_UNKNOWN);
    return APL_OK;
}

static apl_status get_block(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct get *get = context;
    struct get_worker *w = &get->workers[worker];
    if (!w->ready)
        TRY(block_coder_init(&w->bc, err));
    w->ready = true;
    struct block_view view;
    get_ahead(get, task);
    TRY(look_at_block(get, w, get->wants[get->starts[task]].block, &view, err));
    for (unsigned f = 0; f < get->schema->count; f++)
        if (get->wanted[f])
            TRY(get_column(get, w, &view, f, task, err));
    return APL_OK;
}

/* -------------------------------------------------------------------------------------- varying shapes */

/* Elements and shape of every row, and with them the offsets. */
static void measure(struct get *get, unsigned f, uint64_t *offsets, int64_t *shapes)
{
    const apl_field *field = &get->schema->fields[f];
    size_t element = apl_dtype_size(field->dtype);
    for (size_t b = 0; b < get->blocks; b++)
        for (size_t i = get->starts[b]; i < get->starts[b + 1]; i++) {
            const struct raw_column *piece = &get->pieces[b].columns[f];
            size_t bytes, k = i - get->starts[b], row = get->wants[i].row;
            raw_column_value(piece, field, (uint32_t)k, &bytes);
            offsets[row + 1] = bytes / element;
            raw_column_shape(piece, field, (uint32_t)k, shapes + row * field->ndim);
        }
    offsets[0] = 0;
    for (size_t row = 0; row < get->batch->rows; row++)
        offsets[row + 1] += offsets[row];
}

static apl_status assemble_varying(struct get *get, unsigned f, apl_error *err)
{
    const apl_field *field = &get->schema->fields[f];
    apl_column *column = &get->batch->columns[f];
    size_t rows = get->batch->rows, element = apl_dtype_size(field->dtype);
    uint64_t *offsets = calloc(rows + 1, sizeof *offsets);
    int64_t *shapes = calloc(rows * field->ndim + 1, sizeof *shapes);
    column->offsets = offsets; /* the batch frees them in any case */
    column->shapes = shapes;
    if (!offsets || !shapes)
        return fail_nomem(err);
    measure(get, f, offsets, shapes);
    column->dims = 1;
    column->dim[0] = (int64_t)offsets[rows];
    column->bytes = (size_t)offsets[rows] * element;
    uint8_t *out = batch_memory(column->bytes);
    column->data = out;
    if (!out)
        return fail_nomem(err);
    for (size_t b = 0; b < get->blocks; b++)
        for (size_t i = get->starts[b]; i < get->starts[b + 1]; i++) {
            size_t bytes;
            const uint8_t *value =
                raw_column_value(&get->pieces[b].columns[f], field, (uint32_t)(i - get->starts[b]), &bytes);
            if (bytes)
                memcpy(out + offsets[get->wants[i].row] * element, value, bytes);
        }
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------- the calls */

static void free_workers(struct get *get, unsigned threads)
{
    for (unsigned i = 0; get->workers && i < threads; i++) {
        block_coder_free(&get->workers[i].bc);
        raw_column_free(&get->workers[i].column);
    }
    free(get->workers);
    get->workers = NULL;
}

static void get_free(struct get *get, unsigned threads)
{
    free_workers(get, threads);
    for (size_t b = 0; get->pieces && b < get->blocks; b++)
        for (unsigned f = 0; f < APL_MAX_FIELDS; f++) {
            raw_column_free(&get->pieces[b].columns[f]);
        }
    free(get->pieces);
    free(get->wants);
    free(get->starts);
}

apl_status apl_store_get_batch(apl_store *store, const uint64_t *ids, size_t n,
                               const apl_get_options *options, apl_batch **batch, apl_error *err)
{
    if (!store || !batch || (n && !ids))
        return fail(err, APL_E_INVALID, "apl_store_get_batch: an argument is NULL");
    apl_get_options o = APL_GET_OPTIONS_INIT;
    TRY(options_take(&o, sizeof o, options, "apl_get_options", err));
    apl_error own;
    err = err ? err : &own;
    struct get get = {.store = store, .schema = &store->manifest.schema};
    unsigned threads = threads_for(o.threads);
    apl_status status;
    GUARD(expansion_allowed(&get.expansion, err));
    GUARD(choose_fields(&get, &o, err));
    GUARD(plan(&get, ids, n, err));
    GUARD(batch_of_rows(&get, ids, n, err));
    get.workers = calloc(threads, sizeof *get.workers);
    get.pieces = get.any_varying ? calloc(get.blocks + 1, sizeof *get.pieces) : NULL;
    GUARD(get.workers && (get.pieces || !get.any_varying) ? APL_OK : fail_nomem(err));
    GUARD(parallel_for(threads, get.blocks, get_block, &get, err));
    free_workers(&get, threads); /* which hold as much as a batch of large values does */
    for (unsigned f = 0; f < get.schema->count; f++)
        if (get.wanted[f] && field_varying(&get.schema->fields[f]) > 0)
            GUARD(assemble_varying(&get, f, err));
    *batch = get.batch;
    get.batch = NULL;
out:
    apl_batch_release(get.batch);
    get_free(&get, threads);
    return status;
}

apl_status apl_store_get(apl_store *store, uint64_t id, apl_batch **batch, apl_error *err)
{
    return apl_store_get_batch(store, &id, 1, NULL, batch, err);
}
