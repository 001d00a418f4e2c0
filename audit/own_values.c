/* Values and their records: see own_values.h. */
#include "own_values.h"

#include "inputs.h"
#include "order_records.h"

#include <stdlib.h>
#include <string.h>

/* The fields that are read of a store, by the numbers that they have there. All stores of a mix have those of the first. */
struct field_list {
    const char *name[APL_MAX_FIELDS];
    unsigned column[APL_MAX_FIELDS], count;
};

static struct field_list fields_of(const struct reader_orders *o, const apl_store *store)
{
    struct field_list l = {.count = 0};
    const apl_field *f;
    for (unsigned i = 0; !o->options.fields && (f = apl_store_field(o->store, i)) != NULL; i++)
        l.name[l.count++] = f->name;
    for (size_t i = 0; o->options.fields && i < o->options.field_count; i++)
        l.name[l.count++] = o->options.fields[i];
    for (unsigned i = 0; i < l.count; i++)
        l.column[i] = (unsigned)apl_store_find_field(store, l.name[i]);
    return l;
}

static apl_status get_values(apl_store *store, const struct field_list *fields, const uint64_t *ids,
                             size_t count, apl_batch **batch, apl_error *err)
{
    apl_get_options options = APL_GET_OPTIONS_INIT;
    options.fields = (const char *const *)fields->name;
    options.field_count = fields->count;
    return apl_store_get_batch(store, ids, count, &options, batch, err);
}

/* Records from ... that are of one store, of a few blocks; *to: the first after them. */
static apl_status read_own(struct own_values *v, uint64_t *ids, uint32_t from, uint32_t *to, apl_error *err)
{
    const struct reader_orders *o = v->orders;
    apl_store *store, *next;
    uint64_t own;
    size_t part = order_records_store(o, from, &store, &own);
    struct field_list fields = fields_of(o, store);
    uint64_t most = inputs_chunk(store, fields.name, fields.count);
    for (*to = from; *to < o->n && *to - from < most && order_records_store(o, *to, &next, &own) == part;
         ++*to)
        ids[*to - from] = own;
    apl_batch *batch = NULL;
    apl_status status = get_values(store, &fields, ids, *to - from, &batch, err);
    for (uint32_t i = from; status == APL_OK && i < *to; i++)
        v->own[i] = inputs_row(batch, fields.column, fields.count, i - from);
    apl_batch_release(batch);
    return status;
}

apl_status own_values_open(struct own_values *v, const struct reader_orders *orders, apl_error *err)
{
    *v = (struct own_values){.orders = orders, .own = malloc(((size_t)orders->n + 1) * sizeof *v->own)};
    uint64_t *ids = malloc(((size_t)orders->n + 1) * sizeof *ids);
    apl_status status = ids && v->own ? APL_OK : inputs_no_memory(err);
    for (uint32_t from = 0; status == APL_OK && from < orders->n;)
        status = read_own(v, ids, from, &from, err);
    free(ids);
    return status;
}

void own_values_close(struct own_values *v)
{
    free(v->own);
    v->own = NULL;
}

static bool same_digest(struct digest a, struct digest b)
{
    return a.high == b.high && a.low == b.low;
}

/* Which field of the row is not its record's. */
static void note_first(struct own_values *v, const apl_batch *batch, const struct field_list *here,
                       size_t row, uint32_t record)
{
    apl_store *store;
    apl_batch *right = NULL;
    v->first.part = order_records_store(v->orders, record, &store, &v->first.id);
    struct field_list there = fields_of(v->orders, store);
    v->status = get_values(store, &there, &v->first.id, 1, &right, &v->error);
    for (unsigned i = there.count; v->status == APL_OK && i-- > 0;)
        if (!same_digest(inputs_row(batch, &here->column[i], 1, row),
                         inputs_row(right, &there.column[i], 1, 0)))
            v->first.field = there.name[i];
    apl_batch_release(right);
}

void own_values_take(void *user, const apl_batch *batch)
{
    struct own_values *v = user;
    struct field_list fields = fields_of(v->orders, v->orders->store);
    const uint64_t *ids = apl_batch_ids(batch);
    for (size_t row = 0; row < apl_batch_rows(batch); row++) {
        uint32_t record = reader_orders_find(v->orders, ids[row]);
        if (record == UINT32_MAX)
            continue;
        v->looked_at++;
        if (same_digest(inputs_row(batch, fields.column, fields.count, row), v->own[record]))
            continue;
        if (v->bad++ == 0)
            note_first(v, batch, &fields, row, record);
    }
}
