/*
 * Blocks: some records of one segment, field by field, coded and checked; the values of the LMDB database.
 *
 *     offset  bytes
 *          0      4  magic "APLB"
 *          4      4  header bytes H = 40 + 40 F + 16 n
 *          8      8  XXH3-64 of the bytes 16 ... H-1
 *         16      4  records n
 *         20      4  segment
 *         24      8  number of the first record within the segment
 *         32      4  fields F
 *         36      4  zero
 *         40   40 F  of each field: codec (1), zero (7), raw bytes (8), coded bytes (8),
 *                    XXH3-64 of the raw bytes (8), XXH3-64 of the coded bytes (8)
 *              16 n  of each record: XXH3-128 of its input fields (low half, high half)
 *          H         the coded bytes of field 0, of field 1, ...
 *
 * All numbers are little-endian. The raw bytes of a field of fixed shape are its values one after another;
 * those of a field with varying dimensions are first these dimensions (4 bytes each, record by record), then
 * the values.
 */
#ifndef BLOCK_H
#define BLOCK_H

#include "codec.h"
#include "hash.h"
#include "raw_block.h"

/* What one thread needs to code blocks. */
struct block_coder {
    struct coder *coder;
    struct hash_stream *hash;
    struct buffer scratch;
    struct buffer file;   /* a block's bytes, of a file that is read */
    const uint8_t *whole; /* a block of a pinned store, there, and its digest: see pinned.h; NULL: none */
    size_t whole_bytes;
    uint8_t whole_digest[32];
    struct buffer head;      /* the header of the block that was parsed last */
    struct buffer index;     /* of a kept column: see kept.h */
    struct buffer value;     /* of a kept column, as it is stored */
    struct transcoder *jpeg; /* NULL, until it is needed */
    uint32_t expansion;      /* how many times its size a block may decode to: see expansion.h */
    bool any_class; /* a writer's: values beyond the class names are reported where statistics are taken */
    bool announces; /* what it takes has been asked for by store_ahead(), and so will be what comes next */
    bool takes_colours;     /* of indexed values that are decoded, for statistics */
    struct buffer *colours; /* where those of the column go that is being decoded, or NULL */
    /* What the bytes of the block that was taken last belong to, if they need it kept, and how to release that. */
    void *held;
    void (*release)(void *held);
};

apl_status block_coder_init(struct block_coder *bc, apl_error *err);
void block_coder_free(struct block_coder *bc);

/* Keeps `held` instead of what was kept before, until the next, or until the coder is freed. */
void block_coder_hold(struct block_coder *bc, void *held, void (*release)(void *held));

/* XXH3-128 of a record's input fields: of each, its varying dimensions (4 bytes each, little-endian) and its
 * value. */
struct hash128 block_record_hash(struct block_coder *bc, const struct schema *schema,
                                 const struct raw_block *block, uint32_t record);

/* Picks codec and level of every field by trying them on this block; want_id < 0 and want_level 0 leave it open. A codec that is
 * wanted must suit one input at least; for others the choice is open. */
apl_status block_choose(struct block_coder *bc, struct schema *schema, const struct raw_block *block,
                        int want_id, int want_level, apl_error *err);

/* Codes the block into `out`, which is emptied first. */
apl_status block_encode(struct block_coder *bc, const struct schema *schema, const struct raw_block *block,
                        struct buffer *out, apl_error *err);

/* A coded block, its header checked. Points into the coded bytes, and into the coder's copy of the header. */
struct block_view {
    uint32_t records, segment;
    uint64_t first;
    size_t bytes; /* of the block */
    uint64_t
        moved; /* what is added to source positions, which are those in a shard, to make them those in its set */
    bool checked; /* the checksums of the coded bytes have been compared, and the bytes do not change */
    uint32_t header_bytes;
    const uint8_t *header;
    const uint8_t *hashes; /* 16 bytes a record */
    struct column_view {
        unsigned
            codec; /* an enum codec_id; for kept fields, and for them only, CODEC_KEPT or CODEC_INDEXED */
        size_t raw_bytes, coded_bytes;
        uint64_t raw_sum, coded_sum;
        size_t offset;        /* of the coded bytes in the block */
        const uint8_t *coded; /* NULL, if only the header was parsed */
    } columns[APL_MAX_FIELDS];
};

/* Bytes that the header of a block takes, and so the least that a block does. */
uint64_t block_head_bytes(unsigned fields, uint32_t records);

/* Checks a coded block's header; believes nothing. APL_E_UNSUPPORTED: it would take out of proportion more memory than
 * it has bytes (expansion.h). The view is good until the coder parses another block, or the bytes go. The
 * coded bytes may change meanwhile, as those of a mapped file may: then a checksum of what was decoded from them fails. */
apl_status block_parse(struct block_coder *bc, const uint8_t *bytes, size_t size, const struct schema *schema,
                       struct block_view *view, apl_error *err);

/* The same for a block of `size` bytes of which only the first `head_bytes` are at hand, the header among them. */
apl_status block_parse_head(struct block_coder *bc, const uint8_t *head, size_t head_bytes, size_t size,
                            const struct schema *schema, struct block_view *view, apl_error *err);

/* Compares the checksums of a block's coded bytes, of which the coder has a copy: nothing is decoded. */
apl_status block_check_coded(struct block_coder *bc, const struct schema *schema, struct block_view *view,
                             apl_error *err);

/* The same of one column that is not kept. */
apl_status block_check_column(const struct schema *schema, const struct block_view *view, unsigned field,
                              apl_error *err);

struct hash128 block_stored_hash(const struct block_view *view, uint32_t record);

/* Is the value of that record, in a column of fixed shape, one of the field's classes, if it has any? */
bool block_class_ok(const apl_field *field, const struct raw_column *column, uint32_t record);

/* Checks and decodes one field into `column`. A value beyond the field's class names is an error. With `despite`, checksums
 * that fail are reported but the values are decoded all the same where the codec can, and classes are not looked at: to find
 * out which records have been hurt. */
apl_status block_decode_column(struct block_coder *bc, const struct schema *schema,
                               const struct block_view *view, unsigned field, bool despite,
                               struct raw_column *column, apl_error *err);

/* Checks and decodes one field of fixed shape, record i to rows[i]; no row may be NULL. */
apl_status block_decode_rows(struct block_coder *bc, const struct schema *schema,
                             const struct block_view *view, unsigned field, uint8_t *const *rows,
                             apl_error *err);

/* Checks and decodes all fields. */
apl_status block_decode(struct block_coder *bc, const struct schema *schema, const struct block_view *view,
                        struct raw_block *block, apl_error *err);

#endif
