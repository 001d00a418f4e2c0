/* The values of a store and its kinds: see stored_kinds.h. */
#include "stored_kinds.h"

#include "kind_values.h"

#define AT_ONCE 128u /* records */

/* The names of the fields that the tests look at. */
static size_t tested_fields(const struct kind_values *k, const char *names[APL_MAX_FIELDS])
{
    bool wanted[APL_MAX_FIELDS] = {false};
    size_t n = 0;
    for (unsigned i = 0; i < k->count; i++) {
        wanted[k->tests[i].field] = true;
        if (!k->tests[i].alone)
            wanted[k->tests[i].other] = true;
    }
    for (unsigned f = 0; f < k->schema->count; f++)
        if (wanted[f])
            names[n++] = k->schema->fields[f].name;
    return n;
}

/* A row's value in a column, as a writer is given it. */
static apl_value value_in_row(const apl_field *field, const apl_column *column, size_t row)
{
    const uint8_t *data = column->data;
    if (!column->offsets)
        return (apl_value){.data = data + row * field->value_bytes};
    return (apl_value){.data = data + column->offsets[row] * apl_dtype_size(column->dtype),
                       .shape = column->shapes + row * column->ndim};
}

static apl_status check_batch_kinds(const struct kind_values *k, const apl_batch *batch, apl_error *err)
{
    for (size_t row = 0; row < apl_batch_rows(batch); row++) {
        apl_value values[APL_MAX_FIELDS] = {{0}};
        apl_error why;
        for (unsigned f = 0; f < k->schema->count; f++)
            if (apl_batch_column(batch, f))
                values[f] = value_in_row(&k->schema->fields[f], apl_batch_column(batch, f), row);
        apl_status status = kind_values_check(k, values, &why);
        if (status != APL_OK)
            return fail(err, status, "record %llu, %s", (unsigned long long)apl_batch_ids(batch)[row],
                        why.message);
    }
    return APL_OK;
}

apl_status stored_kinds_check(apl_store *store, apl_error *err)
{
    struct kind_values k = {0};
    const char *names[APL_MAX_FIELDS];
    kind_values_begin(&k, &store->manifest.schema);
    apl_get_options options = APL_GET_OPTIONS_INIT;
    options.fields = names;
    options.field_count = tested_fields(&k, names);
    for (uint64_t id = 0; k.count && id < store->manifest.info.records;) {
        uint64_t ids[AT_ONCE];
        size_t n = 0;
        for (; n < AT_ONCE && id < store->manifest.info.records; n++)
            ids[n] = id++;
        apl_batch *batch;
        TRY(apl_store_get_batch(store, ids, n, &options, &batch, err));
        apl_status status = check_batch_kinds(&k, batch, err);
        apl_batch_release(batch);
        if (status != APL_OK)
            return fail_in(err, status, "%s", store->name);
    }
    return APL_OK;
}
