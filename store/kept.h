/*
 * Columns of kept fields: values that are files, each with a checksum of its own. Stored as they are (CODEC_KEPT), the coded bytes of
 * n records are:
 *
 *     offset  bytes
 *          0    4 n  of each value: its bytes
 *        4 n    8 n  of each value: XXH3-64
 *       12 n         the values, one after another
 *
 * The first 12 n bytes are the index. The block's checksum of the coded bytes is over the index alone, since each value has its
 * own: so a value can be read and checked with the header and the index, without its neighbours. The raw bytes, and their
 * checksum, are those of any field of varying shape.
 *
 * Of a field whose values may be indexed (CODEC_INDEXED), each is stored in one of three forms: as it came, or as an indexed JPEG image
 * (see jpeg/indexed.h), which is restored whenever the value is asked for, to a sequential file or to a progressive one. The raw bytes
 * are those of the files.
 *
 *     offset  bytes
 *          0    4 n  of each value: its bytes as it is stored
 *        4 n    4 n  of each value: its bytes as it came
 *        8 n    8 n  of each value: XXH3-64 of its bytes as it is stored
 *       16 n      n  of each value: its form, an enum kept_form
 *       17 n         the values as they are stored, one after another
 */
#ifndef KEPT_H
#define KEPT_H

#include "block.h"

#define KEPT_LENGTH 4u
#define KEPT_SUM    8u

enum kept_form { KEPT_AS_IT_CAME, KEPT_INDEXED, KEPT_PROGRESSIVE };
#define KEPT_FORMS 3u

/* An index that has been checked: a copy, in the coder's memory, until the coder takes another. */
struct kept_index {
    uint32_t records;
    bool forms; /* of CODEC_INDEXED */
    const uint8_t *bytes;
};

/* Where a value lies, and what it is. */
struct kept_place {
    uint64_t offset; /* among the column's coded bytes; of a list: in the block */
    size_t bytes;    /* as it is stored */
    uint64_t sum;
    const uint8_t *digest; /* SHA-256, of a value in a list of a pinned store; else NULL */
    size_t file_bytes;     /* as it came */
    enum kept_form form;
};

static inline bool kept_is_indexed(const struct kept_place *place)
{
    return place->form != KEPT_AS_IT_CAME;
}

size_t kept_index_bytes(unsigned codec, uint32_t records);

/* Appends the coded bytes of a column. */
apl_status kept_encode(struct block_coder *bc, unsigned codec, const struct raw_column *column,
                       uint32_t records, struct buffer *out, apl_error *err);

/* Copies the index at `bytes` and checks the copy against the column's entry; the lengths come to what the column has. */
apl_status kept_take_index(struct block_coder *bc, const apl_field *field, uint32_t records,
                           const struct column_view *column, const uint8_t *bytes, struct kept_index *index,
                           apl_error *err);

/* Compares the checksums of the index and of all values of a column. */
apl_status kept_check(struct block_coder *bc, const apl_field *field, uint32_t records,
                      const struct column_view *column, apl_error *err);

struct kept_place kept_place_of(const struct kept_index *index, uint32_t record);

/* Is this the value as it is stored, by its digest if it has one, else by its checksum? */
bool kept_value_ok(const struct kept_place *place, const uint8_t *value);

/* Values of a form. */
uint64_t kept_count(const struct kept_index *index, enum kept_form form);

/* The index as it is held where values are read one by one, later: dims and ends of `list`, which is empty, are those of the column,
 * its values are for kept_listed() alone. `first`: where the values begin in the block. `block`: the whole block of a pinned store, of
 * whose values digests are listed too; or NULL. */
apl_status kept_list(const struct kept_index *index, uint64_t first, const uint8_t *block,
                     struct raw_column *list, apl_error *err);
struct kept_place kept_listed(const struct raw_column *list, uint32_t record);

/* Memory that a list takes for each value; and more, where the store is pinned. */
#define KEPT_LISTED_BYTES 28u
#define KEPT_DIGEST_BYTES 32u

/* Frees what a coder has for indexed values. */
void kept_free_coder(struct block_coder *bc);

/* Appends the file that a value is, of any form, to `out`. Its bytes must have been checked, and must not change. */
apl_status kept_restore(struct block_coder *bc, const struct kept_place *place, const uint8_t *value,
                        struct buffer *out, apl_error *err);

/* The column's raw bytes, checked. With `despite`, values with wrong checksums are reported but stay;
 * of those that cannot be restored there are zeros. */
apl_status kept_decode(struct block_coder *bc, const apl_field *field, uint32_t records,
                       const struct column_view *column, bool despite, struct buffer *into, apl_error *err);

#endif
