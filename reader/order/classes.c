/* The classes of records: see classes.h. */
#include "classes.h"

#include "block.h"
#include "parallel.h"

#include <stdlib.h>

static apl_status find_field(const apl_store *store, const char *name, bool fractions, unsigned *field,
                             apl_error *err)
{
    TRY(store_find_field(store, name, field, err));
    const apl_field *is = &store->manifest.schema.fields[*field];
    bool whole = (is->dtype >= APL_U8 && is->dtype <= APL_I64) || is->dtype == APL_BOOL;
    bool fraction = is->dtype == APL_F32 || is->dtype == APL_F64;
    if (is->ndim != 0 || !(whole || (fractions && fraction)))
        return fail(err, APL_E_INVALID, "%s: field %s does not hold one %s per record", store->name, is->name,
                    fractions ? "integer, f32 or f64" : "integer");
    return APL_OK;
}

struct class_reader {
    const struct subset *subset;
    unsigned *fields; /* the field's number in the store of each part */
    uint64_t *values; /* either these, */
    double *weights;  /* or these */
    struct class_worker {
        bool ready;
        struct block_coder bc;
        struct raw_column column;
    } * workers;
};

static bool is_signed_type(apl_dtype dtype)
{
    return dtype == APL_I8 || dtype == APL_I16 || dtype == APL_I32 || dtype == APL_I64;
}

static uint64_t value_of(const struct raw_column *column, const apl_field *field, uint32_t record)
{
    unsigned bytes = (unsigned)field->value_bytes;
    uint64_t x = load_le(column->values.data + (size_t)record * bytes, bytes);
    if (is_signed_type(field->dtype) && bytes > 0 && bytes < 8 && x >> (8 * bytes - 1))
        x |= UINT64_MAX << 8 * bytes;
    return x;
}

static double weight_of(const struct raw_column *column, const apl_field *field, uint32_t record)
{
    uint64_t x = value_of(column, field, record);
    uint32_t half = (uint32_t)x;
    float single;
    double both;
    memcpy(&single, &half, sizeof single);
    memcpy(&both, &x, sizeof both);
    return field->dtype == APL_F32        ? (double)single
           : field->dtype == APL_F64      ? both
           : is_signed_type(field->dtype) ? (double)(int64_t)x
                                          : (double)x;
}

/* The column of classes; where there are files beside it, nothing but that, as readers take it. */
static apl_status take_class_column(const apl_store *store, uint64_t number, struct class_worker *w,
                                    unsigned field, struct block_view *view, apl_error *err)
{
    if (!schema_keeps(&store->manifest.schema))
        return store_block(store, number, &w->bc, view, err);
    TRY(store_block_head(store, number, &w->bc, view, err));
    return store_block_column(store, number, &w->bc, view, field, err);
}

static apl_status read_block(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct class_reader *c = context;
    struct class_worker *w = &c->workers[worker];
    const struct subset_block *block = &c->subset->block[task];
    const apl_store *store = c->subset->part[block->part].store;
    const struct schema *schema = &store->manifest.schema;
    unsigned field = c->fields[block->part];
    struct block_view view;
    if (!w->ready)
        TRY(block_coder_init(&w->bc, err));
    w->ready = true;
    TRY(take_class_column(store, block->number, w, field, &view, err));
    apl_status status = block_decode_column(&w->bc, schema, &view, field, false, &w->column, err);
    if (status != APL_OK)
        return store_block_error(store, block->number, status, err);
    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t record = block->chosen ? block->chosen[i] : i;
        if (c->weights)
            c->weights[block->before + i] = weight_of(&w->column, &schema->fields[field], record);
        else
            c->values[block->before + i] = value_of(&w->column, &schema->fields[field], record);
    }
    return APL_OK;
}

static apl_status read_values(const struct class_reader *of, const char *field, apl_error *err)
{
    const struct subset *subset = of->subset;
    unsigned threads = threads_for(0);
    struct class_reader c = *of;
    c.fields = calloc(subset->parts, sizeof *c.fields);
    c.workers = calloc(threads, sizeof *c.workers);
    apl_status status = c.fields && c.workers ? APL_OK : fail_nomem(err);
    for (uint32_t i = 0; i < subset->parts && status == APL_OK; i++)
        status = find_field(subset->part[i].store, field, c.weights != NULL, &c.fields[i], err);
    if (status == APL_OK)
        status = parallel_for(threads, subset->blocks, read_block, &c, err);
    for (unsigned i = 0; c.workers && i < threads; i++) {
        block_coder_free(&c.workers[i].bc);
        raw_column_free(&c.workers[i].column);
    }
    free(c.workers);
    free(c.fields);
    return status;
}

apl_status classes_read(const struct subset *subset, const char *field, uint64_t *values, apl_error *err)
{
    return read_values(&(struct class_reader){.subset = subset, .values = values}, field, err);
}

apl_status field_weights_read(const struct subset *subset, const char *field, double *weights, apl_error *err)
{
    return read_values(&(struct class_reader){.subset = subset, .weights = weights}, field, err);
}
