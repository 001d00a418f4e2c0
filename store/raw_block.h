/* Records that are not coded, a column for each field: what a writer gathers, and what decoding a block gives. */
#ifndef RAW_BLOCK_H
#define RAW_BLOCK_H

#include "bytes.h"
#include "schema.h"

/* The most raw bytes a field may have in one block: a bound for what a reader allocates. */
#define BLOCK_MAX_RAW ((size_t)1 << 30)

/* The values of one field in one block. */
struct raw_column {
    struct buffer values; /* back to back */
    /* Of a field of varying shape, else empty: */
    struct buffer dims; /* its varying dimensions, 4 bytes each, little-endian, record by record */
    struct buffer ends; /* uint64_t: where each value ends in `values` */
    /* Of a kept field, where they were asked for, else empty: struct colour_sums of each value, of no image if it is not indexed. */
    struct buffer colours;
};

/* Some records, not coded. */
struct raw_block {
    uint32_t records, segment;
    uint64_t first; /* number of the first record within the segment */
    struct raw_column columns[APL_MAX_FIELDS];
};

size_t raw_column_bytes(const struct raw_column *column); /* that it holds */
void raw_column_clear(struct raw_column *column);         /* keeps the memory */
void raw_column_free(struct raw_column *column);
void raw_block_clear(struct raw_block *block); /* keeps the memory */
void raw_block_free(struct raw_block *block);
size_t raw_block_bytes(const struct raw_block *block, const struct schema *schema);

/* Appends a record; values as apl_writer_append() has them, but checked here. On failure nothing is appended. */
apl_status raw_block_append(struct raw_block *block, const struct schema *schema, const apl_value *values,
                            apl_error *err);

/* Raw bytes that a value adds to a block. */
size_t raw_value_bytes(const apl_field *field, const apl_value *value);

/* Makes a column of `records` values that all have the shape of `field` one whose first dimension varies, and is the same in each. False:
 * out of memory. */
bool raw_column_vary(struct raw_column *column, const apl_field *field, uint32_t records);

/* Value `record` of a column. */
const uint8_t *raw_column_value(const struct raw_column *column, const apl_field *field, uint32_t record,
                                size_t *bytes);

/* The bytes of value `record` of a column of varying shape, and where among all values it begins. */
size_t raw_column_extent(const struct raw_column *column, uint32_t record, uint64_t *start);

/* The shape of one record's value, of the field's ndim dimensions, those that vary filled in. */
void raw_column_shape(const struct raw_column *column, const apl_field *field, uint32_t record,
                      int64_t *shape);

/* Record `record` as values that can be appended elsewhere; shapes[field] is where varying shapes are put. */
void raw_block_record(const struct raw_block *block, const struct schema *schema, uint32_t record,
                      apl_value *values, int64_t (*shapes)[APL_MAX_DIMS]);

#endif
