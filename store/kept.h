/*
 * Columns of kept fields: values that are files, stored as they are, each with a checksum of its own. The coded bytes of n
 * records:
 *
 *     offset  bytes
 *          0    4 n  of each value: its bytes
 *        4 n    8 n  of each value: XXH3-64
 *       12 n         the values, one after another
 *
 * The first 12 n bytes are the index. The block's checksum of the coded bytes is over the index alone, since each value has its
 * own: so a value can be read and checked with the header and the index, without its neighbours. The raw bytes, and their
 * checksum, are those of any field of varying shape.
 */
#ifndef KEPT_H
#define KEPT_H

#include "block.h"

#define KEPT_LENGTH 4u
#define KEPT_SUM    8u

/* An index that has been checked: a copy, in the coder's memory, until the coder takes another. */
struct kept_index {
    uint32_t records;
    const uint8_t *bytes;
};

size_t kept_index_bytes(uint32_t records);

/* Appends the coded bytes of a column. */
apl_status kept_encode(const struct raw_column *column, uint32_t records, struct buffer *out, apl_error *err);

/* Copies the index at `bytes` and checks the copy against the column's entry; the lengths come to what the column has. */
apl_status kept_take_index(struct block_coder *bc, const apl_field *field, uint32_t records,
                           const struct column_view *column, const uint8_t *bytes, struct kept_index *index,
                           apl_error *err);

/* Where a value lies among the column's coded bytes, and how many bytes it has. */
void kept_place(const struct kept_index *index, uint32_t record, size_t *offset, size_t *bytes);

/* Is this the value? */
bool kept_value_ok(const struct kept_index *index, uint32_t record, const uint8_t *value, size_t bytes);

/* The index as it is held where values are read one by one, later: dims and ends of `list` are those of the column, and in the
 * place of its values is this. `list` is empty; `first`: where the values begin in the block. */
struct kept_places {
    uint64_t first;
    uint64_t sums[]; /* XXH3-64 of each value */
};
apl_status kept_list(const struct kept_index *index, uint64_t first, struct raw_column *list, apl_error *err);

static inline const struct kept_places *kept_places(const struct raw_column *list)
{
    return (const struct kept_places *)(const void *)list->values.data;
}

/* The column's raw bytes, checked. With `despite`, values with wrong checksums are reported but stay. */
apl_status kept_decode(struct block_coder *bc, const apl_field *field, uint32_t records,
                       const struct column_view *column, bool despite, struct buffer *into, apl_error *err);

#endif
