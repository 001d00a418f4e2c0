/* Equal inputs: see inputs.h. */
#include "inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (64u << 20) /* of decoded inputs at a time */

apl_status inputs_error(apl_error *err, apl_status status, const char *message)
{
    if (err) {
        *err = (apl_error){.status = status};
        snprintf(err->message, sizeof err->message, "%s", message);
    }
    return status;
}

apl_status inputs_no_memory(apl_error *err)
{
    (void)inputs_error(err, APL_E_NOMEM, "out of memory");
    return APL_E_NOMEM;
}

/* ------------------------------------------------------------------------------------------------ hashes */

struct entry {
    uint64_t high, low;
    uint32_t id;
};

/* Appends the shape, where it varies, and the value; returns the new number of parts. */
static size_t add_value(struct digest_part *parts, size_t count, const apl_column *c, size_t row, size_t rows)
{
    size_t from = row * (c->bytes / rows), size = c->bytes / rows;
    if (c->offsets) {
        size_t element = apl_dtype_size(c->dtype);
        from = (size_t)c->offsets[row] * element;
        size = (size_t)(c->offsets[row + 1] - c->offsets[row]) * element;
        parts[count++] = (struct digest_part){c->shapes + row * c->ndim, c->ndim * sizeof *c->shapes};
    }
    parts[count++] = (struct digest_part){(const char *)c->data + from, size};
    return count;
}

struct digest inputs_row(const apl_batch *batch, const unsigned *columns, unsigned count, size_t row)
{
    static const char key[] = "apldata audit";
    struct digest_part parts[1 + 2 * APL_MAX_FIELDS] = {{key, sizeof key}};
    size_t used = 1;
    for (unsigned i = 0; i < count; i++)
        used = add_value(parts, used, apl_batch_column(batch, columns[i]), row, apl_batch_rows(batch));
    return digest_parts(parts, used);
}

static void hash_batch(const apl_batch *batch, unsigned fields, struct entry *out)
{
    unsigned columns[APL_MAX_FIELDS], count = 0;
    for (unsigned i = 0; i < fields; i++)
        if (apl_batch_column(batch, i))
            columns[count++] = i;
    for (size_t row = 0; row < apl_batch_rows(batch); row++) {
        struct digest hash = inputs_row(batch, columns, count, row);
        out[row] = (struct entry){hash.high, hash.low, (uint32_t)apl_batch_ids(batch)[row]};
    }
}

uint64_t inputs_digest(const apl_batch *batch, unsigned fields, uint64_t before)
{
    size_t rows = apl_batch_rows(batch);
    for (unsigned i = 0; i < fields; i++) {
        const apl_column *c = apl_batch_column(batch, i);
        if (!c)
            continue;
        before = digest_seeded(c->data, c->bytes, before);
        if (c->offsets) {
            before = digest_seeded(c->offsets, (rows + 1) * sizeof *c->offsets, before);
            before = digest_seeded(c->shapes, rows * c->ndim * sizeof *c->shapes, before);
        }
    }
    return before;
}

/* The names of the input fields. */
static unsigned list_inputs(const apl_store *store, const char **names)
{
    const apl_field *f;
    unsigned n = 0;
    for (unsigned i = 0; (f = apl_store_field(store, i)) != NULL; i++)
        if (f->role == APL_INPUT)
            names[n++] = f->name;
    return n;
}

uint64_t inputs_chunk(const apl_store *store, const char *const *fields, unsigned count)
{
    const apl_info *info = apl_store_info(store);
    uint64_t bytes = 0, block = info->block_records;
    for (unsigned i = 0; i < count; i++) {
        int field = apl_store_find_field(store, fields[i]);
        bytes += field < 0 ? 0 : apl_store_field(store, (unsigned)field)->raw_bytes;
    }
    uint64_t n = CHUNK_BYTES / (bytes / (info->records ? info->records : 1) + 1);
    return n >= block ? n - n % block : n > 0 ? n : 1;
}

apl_status inputs_each(apl_store *store, const char *const *fields, unsigned count,
                       void (*take)(void *user, const apl_batch *batch), void *user, apl_error *err)
{
    uint64_t records = apl_store_info(store)->records, chunk = inputs_chunk(store, fields, count);
    apl_get_options options = APL_GET_OPTIONS_INIT;
    options.fields = fields;
    options.field_count = count;
    uint64_t *ids = malloc((size_t)chunk * sizeof *ids);
    apl_status status = ids ? APL_OK : inputs_no_memory(err);
    for (uint64_t id = 0, n; status == APL_OK && id < records; id += n) {
        apl_batch *batch = NULL;
        n = records - id < chunk ? records - id : chunk;
        for (uint64_t i = 0; i < n; i++)
            ids[i] = id + i;
        status = apl_store_get_batch(store, ids, (size_t)n, &options, &batch, err);
        if (status == APL_OK)
            take(user, batch);
        apl_batch_release(batch);
    }
    free(ids);
    return status;
}

struct hashing {
    unsigned fields; /* of the store */
    struct entry *entries;
};

static void hash_next(void *user, const apl_batch *batch)
{
    struct hashing *h = user;
    hash_batch(batch, h->fields, h->entries + apl_batch_ids(batch)[0]);
}

static int by_hash(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static apl_status equal_by(apl_store *store, const char *const *fields, unsigned count, uint32_t *equal,
                           apl_error *err)
{
    uint64_t n = apl_store_info(store)->records;
    if (n >= UINT32_MAX)
        return inputs_error(err, APL_E_UNSUPPORTED,
                            "equal values are looked for among less than 2^32 records");
    struct hashing h = {apl_store_info(store)->fields, malloc(((size_t)n + 1) * sizeof *h.entries)};
    struct entry *entries = h.entries;
    if (!entries)
        return inputs_no_memory(err);
    apl_status status = inputs_each(store, fields, count, hash_next, &h, err);
    if (status == APL_OK)
        qsort(entries, (size_t)n, sizeof *entries, by_hash);
    uint32_t lowest = 0;
    for (uint64_t i = 0; status == APL_OK && i < n; i++) {
        if (i == 0 || entries[i].high != entries[i - 1].high || entries[i].low != entries[i - 1].low)
            lowest = entries[i].id;
        equal[entries[i].id] = lowest;
    }
    free(entries);
    return status;
}

apl_status inputs_equal(apl_store *store, uint32_t *equal, apl_error *err)
{
    const char *names[APL_MAX_FIELDS];
    unsigned count = list_inputs(store, names);
    return count ? equal_by(store, names, count, equal, err)
                 : inputs_error(err, APL_E_UNSUPPORTED, "the store has no input fields to compare");
}

apl_status inputs_equal_field(apl_store *store, const char *field, uint32_t *equal, apl_error *err)
{
    return equal_by(store, &field, 1, equal, err);
}

/* ------------------------------------------------------------------------------------------------ classes */

/* A whole number, or a value of the same size: it is only compared. */
static bool is_number(const apl_field *f)
{
    return f->value_bytes == 1 || f->value_bytes == 2 || f->value_bytes == 4 || f->value_bytes == 8;
}

int inputs_class_field(const apl_store *store)
{
    const apl_field *f;
    for (unsigned i = 0; (f = apl_store_field(store, i)) != NULL; i++)
        if (f->classes && f->class_count > 1 && is_number(f))
            return (int)i;
    return -1;
}

int inputs_target(const apl_store *store, const char *name)
{
    const apl_field *f;
    for (unsigned i = 0; (f = apl_store_field(store, i)) != NULL; i++)
        if (strcmp(f->name, name) == 0)
            return is_number(f) ? (int)i : -1;
    return -1;
}

static uint64_t whole_number(const apl_column *c, size_t bytes, size_t row)
{
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    const char *at = (const char *)c->data + row * bytes;
    switch (bytes) {
    case 1:
        return memcpy(&u8, at, 1), u8;
    case 2:
        return memcpy(&u16, at, 2), u16;
    case 4:
        return memcpy(&u32, at, 4), u32;
    default:
        return memcpy(&u64, at, 8), u64;
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

uint32_t inputs_rank(uint64_t *values, uint32_t n, uint32_t *cls)
{
    uint64_t *sorted = values + n;
    uint32_t distinct = 0;
    memcpy(sorted, values, n * sizeof *values);
    qsort(sorted, n, sizeof *sorted, by_value);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || sorted[i] != sorted[distinct - 1])
            sorted[distinct++] = sorted[i];
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t *found = bsearch(&values[i], sorted, distinct, sizeof *sorted, by_value);
        cls[i] = (uint32_t)(found - sorted);
    }
    return distinct;
}

apl_status inputs_values(apl_store *store, unsigned field, const uint64_t *ids, uint32_t n, uint64_t *values,
                         apl_error *err)
{
    const apl_field *f = apl_store_field(store, field);
    apl_get_options options = APL_GET_OPTIONS_INIT;
    apl_batch *labels = NULL;
    options.fields = &f->name;
    options.field_count = 1;
    apl_status status = apl_store_get_batch(store, ids, n, &options, &labels, err);
    for (uint32_t i = 0; status == APL_OK && i < n; i++)
        values[i] = whole_number(apl_batch_column(labels, field), f->value_bytes, i);
    apl_batch_release(labels);
    return status;
}

apl_status inputs_classes(apl_store *store, unsigned field, const uint64_t *ids, uint32_t n, uint32_t *cls,
                          uint32_t *classes, apl_error *err)
{
    uint64_t *values = malloc(((size_t)n * 2 + 1) * sizeof *values);
    apl_status status = values ? inputs_values(store, field, ids, n, values, err) : inputs_no_memory(err);
    *classes = status == APL_OK ? inputs_rank(values, n, cls) : 0;
    free(values);
    return status;
}
