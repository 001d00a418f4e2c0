/* The records of an audit: see order_records.h. */
#include "order_records.h"

#include "inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static apl_status no_memory(apl_error *err)
{
    return inputs_error(err, APL_E_NOMEM, "out of memory");
}

/* Store number i: 0 is the first, then those of the mix. */
static apl_store *store_at(const struct reader_orders *o, size_t i, const char **split)
{
    apl_store *store = i ? o->options.mix.sources[i - 1].store : o->store;
    *split = i ? o->options.mix.sources[i - 1].split : o->options.split;
    if (!*split)
        *split = apl_store_split(store, 0)->name;
    return store;
}

size_t order_records_store(const struct reader_orders *o, uint32_t i, apl_store **store, uint64_t *own)
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
        size_t now = order_records_store(o, i, &store, &own);
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
    size_t part = order_records_store(o, from, &store, &own);
    int number = apl_store_find_field(store, field);
    if (number < 0)
        return inputs_error(err, APL_E_NOTFOUND, "one of the stores has no such field");
    uint64_t *ids = malloc((o->n - from) * sizeof *ids);
    if (!ids)
        return no_memory(err);
    for (*to = from; *to < o->n && order_records_store(o, *to, &next, &own) == part; ++*to)
        ids[*to - from] = own;
    apl_status status = inputs_values(store, (unsigned)number, ids, *to - from, values + from, err);
    free(ids);
    return status;
}

apl_status order_records_classes(const struct reader_orders *o, const char *field, uint32_t *cls,
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

apl_status order_records_values(const struct reader_orders *o, const char *field, double *values,
                                apl_error *err)
{
    uint64_t *bits = malloc(((size_t)o->n + 1) * sizeof *bits);
    apl_status status = bits ? APL_OK : no_memory(err);
    for (uint32_t from = 0; from < o->n && status == APL_OK;)
        status = read_values(o, field, from, &from, bits, err);
    for (uint32_t i = 0; i < o->n && status == APL_OK; i++) {
        apl_store *store;
        uint64_t own;
        order_records_store(o, i, &store, &own);
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
    return order_records_classes(o, name, cls, &s->classes, err);
}

apl_status order_records_list(struct reader_orders *orders, struct audit_sample *sample, apl_error *err)
{
    apl_status status = list_ids(orders, err);
    if (status == APL_OK)
        status = list_blocks(orders, sample, err);
    if (status == APL_OK)
        status = list_classes(orders, sample, err);
    return status;
}
