/* Fields, and records of them, to test blocks with. */
#ifndef RECORDS_H
#define RECORDS_H

#include "block.h"
#include "samples.h"

#include <criterion/criterion.h>

#define RECORD_FIELDS    16
#define RECORD_VALUE     8192
#define RECORD_DIM_RANGE 5 /* a varying dimension is 0 ... 4 */

static inline void add_field(struct schema *s, const char *name, apl_dtype dtype, apl_role role,
                             unsigned ndim, const int64_t *shape)
{
    apl_error err;
    cr_assert_eq(schema_add(s, name, strlen(name), dtype, role, ndim, shape, &err), APL_OK, "%s",
                 err.message);
}

#define SHAPE_OF(...)                                               \
    sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]) \
    {                                                               \
        __VA_ARGS__                                                 \
    }

/* A field of every kind: pictures, scalars, text, several dimensions that vary. */
static inline void add_every_kind(struct schema *s)
{
    add_field(s, "image", APL_U8, APL_INPUT, SHAPE_OF(3, 8, 8));
    add_field(s, "label", APL_U8, APL_TARGET, 0, NULL);
    add_field(s, "name", APL_UTF8, APL_NAME, SHAPE_OF(-1));
    add_field(s, "boxes", APL_F32, APL_TARGET, SHAPE_OF(-1, 4));
    add_field(s, "crops", APL_U16, APL_INPUT, SHAPE_OF(-1, 3, -1, -1));
    add_field(s, "wide", APL_F64, APL_INPUT, SHAPE_OF(2, 5));
    add_field(s, "flag", APL_BOOL, APL_NAME, 0, NULL);
    add_field(s, "position", APL_U64, APL_POSITION, 0, NULL);
}

/* One record; what it holds hangs on the schema and the seed alone. */
struct record {
    apl_value values[RECORD_FIELDS];
    int64_t shapes[RECORD_FIELDS][APL_MAX_DIMS];
    size_t bytes[RECORD_FIELDS];
    uint8_t data[RECORD_FIELDS][RECORD_VALUE];
};

static inline void make_record(struct record *r, const struct schema *s, uint32_t seed)
{
    uint32_t state = seed * 747796405u + 2891336453u;
    for (unsigned f = 0; f < s->count; f++) {
        const apl_field *field = &s->fields[f];
        r->bytes[f] = apl_dtype_size(field->dtype);
        for (unsigned i = 0; i < field->ndim; i++) {
            int64_t d = field->shape[i];
            r->shapes[f][i] = d < 0 ? (int64_t)(sample_random(&state) >> 8) % RECORD_DIM_RANGE : d;
            r->bytes[f] *= (size_t)r->shapes[f][i];
        }
        cr_assert(r->bytes[f] <= RECORD_VALUE);
        sample_fill(r->data[f], r->bytes[f], SAMPLE_NOISY, 8, seed + f);
        for (size_t i = 0; field->dtype == APL_BOOL && i < r->bytes[f]; i++)
            r->data[f][i] &= 1;
        r->values[f] = (apl_value){r->data[f], field_varying(field) ? r->shapes[f] : NULL};
    }
}

/* Appends `count` records with the seeds first, first+1, ... */
static inline void append_records(struct raw_block *block, const struct schema *s, uint32_t first,
                                  uint32_t count)
{
    static struct record r;
    apl_error err;
    for (uint32_t i = 0; i < count; i++) {
        make_record(&r, s, first + i);
        cr_assert_eq(raw_block_append(block, s, r.values, &err), APL_OK, "%s", err.message);
    }
}

/* Is record `at` of the block the one of that seed? */
static inline void expect_record(const struct raw_block *block, const struct schema *s, uint32_t at,
                                 uint32_t seed)
{
    static struct record r;
    apl_value values[RECORD_FIELDS];
    int64_t shapes[RECORD_FIELDS][APL_MAX_DIMS];
    make_record(&r, s, seed);
    raw_block_record(block, s, at, values, shapes);
    for (unsigned f = 0; f < s->count; f++) {
        size_t bytes;
        const uint8_t *value = raw_column_value(&block->columns[f], &s->fields[f], at, &bytes);
        cr_assert_eq(bytes, r.bytes[f], "record %u, field %u", at, f);
        cr_assert(bytes == 0 || memcmp(value, r.data[f], bytes) == 0, "record %u, field %u", at, f);
        cr_assert_eq(values[f].data, value);
        cr_assert_eq(!values[f].shape, !r.values[f].shape);
        for (unsigned i = 0; values[f].shape && i < s->fields[f].ndim; i++)
            cr_assert_eq(values[f].shape[i], r.shapes[f][i], "record %u, field %u", at, f);
    }
}

#endif
