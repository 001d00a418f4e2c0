/* Blocks: checking and reading the header, which nothing is believed of. The layout is in block.h. */
#include "block.h"
#include "block_layout.h"
#include "entropy.h"
#include "expansion.h"
#include "kept.h"

/* The most that coded bytes can decode to. The other codecs hold nothing but frames and tables. */
static uint64_t most_decoded(unsigned codec, uint64_t coded)
{
    return codec == CODEC_RAW ? coded : entropy_most(coded);
}

/* Are the sizes those of a kept column? */
static bool kept_sizes_ok(unsigned codec, uint32_t records, uint64_t raw, uint64_t coded)
{
    if (codec == CODEC_KEPT)
        return coded == raw + (uint64_t)KEPT_SUM * records;
    return coded >= kept_index_bytes(codec, records) && raw <= most_decoded(codec, coded);
}

/* Can a column of that codec, with that many coded bytes, have that many raw ones? */
static apl_status check_codec(const struct schema *schema, unsigned f, uint32_t records, unsigned codec,
                              uint64_t raw, uint64_t coded, apl_error *err)
{
    const apl_field *field = &schema->fields[f];
    bool kept = codec == CODEC_KEPT || codec == CODEC_INDEXED;
    if (!codec_exists(codec) && !kept)
        return fail(err, APL_E_CORRUPT, "field %s: codec %u is not known", field->name, codec);
    if (kept != (field->media != NULL))
        return fail(err, APL_E_CORRUPT, "field %s: codec %u is for fields that are %s", field->name, codec,
                    field->media ? "not kept" : "kept");
    if (kept && codec != schema_kept_codec(schema, f))
        return fail(err, APL_E_CORRUPT, "field %s: codec %u is for fields whose values are %s", field->name,
                    codec, codec == CODEC_INDEXED ? "indexed" : "not indexed");
    if (kept ? !kept_sizes_ok(codec, records, raw, coded) : raw > most_decoded(codec, coded))
        return fail(err, APL_E_CORRUPT, "field %s: %llu coded bytes cannot decode to %llu", field->name,
                    (unsigned long long)coded, (unsigned long long)raw);
    return APL_OK;
}

/* Reads the entry of one field; of the block's coded bytes, *left have not been given to a field yet. */
static apl_status parse_entry(struct cursor *c, const struct schema *schema, unsigned f, uint32_t records,
                              size_t *left, struct column_view *column, apl_error *err)
{
    const apl_field *field = &schema->fields[f];
    uint8_t codec = cursor_u8(c);
    cursor_take(c, 7);
    uint64_t raw = cursor_u64(c), size = cursor_u64(c);
    *column = (struct column_view){.codec = codec, .raw_sum = cursor_u64(c), .coded_sum = cursor_u64(c)};
    unsigned varying = field_varying(field);
    uint64_t least = varying ? (uint64_t)records * varying * 4 : (uint64_t)records * field->value_bytes;
    uint64_t most = varying ? BLOCK_MAX_RAW : least;
    if (raw < least || raw > most || raw > BLOCK_MAX_RAW || size > *left)
        return fail(err, APL_E_CORRUPT, "field %s: impossible sizes", field->name);
    TRY(check_codec(schema, f, records, codec, raw, size, err));
    column->raw_bytes = (size_t)raw;
    column->coded_bytes = (size_t)size;
    *left -= (size_t)size;
    return APL_OK;
}

/* Copies the header to bc->head, and checks the copy: the coded bytes may be those of a mapped file, which others may change
 * at any time. */
static apl_status take_head(struct block_coder *bc, const uint8_t *bytes, size_t size, unsigned fields,
                            apl_error *err)
{
    uint8_t head[BLOCK_HEAD];
    if (size < BLOCK_HEAD)
        return fail(err, APL_E_CORRUPT, "no block header");
    memcpy(head, bytes, BLOCK_HEAD);
    uint32_t head_bytes = (uint32_t)load_le(head + 4, 4), records = (uint32_t)load_le(head + 16, 4);
    if (load_le(head, 4) != BLOCK_MAGIC)
        return fail(err, APL_E_CORRUPT, "no block header");
    if (records == 0 || records > APL_MAX_BLOCK || load_le(head + 32, 4) != fields ||
        head_bytes != block_head_bytes(fields, records) || head_bytes > size)
        return fail(err, APL_E_CORRUPT, "the block header is damaged");
    bc->head.size = 0;
    if (!buffer_reserve(&bc->head, head_bytes))
        return fail_nomem(err);
    buffer_put(&bc->head, head, BLOCK_HEAD);
    buffer_put(&bc->head, bytes + BLOCK_HEAD, head_bytes - BLOCK_HEAD);
    return hash_xxh3_64(bc->head.data + 16, head_bytes - 16) == load_le(head + 8, 8)
               ? APL_OK
               : fail(err, APL_E_CORRUPT, "the block header's checksum is wrong");
}

apl_status block_parse_head(struct block_coder *bc, const uint8_t *bytes, size_t head_bytes, size_t size,
                            const struct schema *schema, struct block_view *view, apl_error *err)
{
    *view = (struct block_view){0};
    TRY(take_head(bc, bytes, head_bytes, schema->count, err));
    const uint8_t *head = bc->head.data;
    *view = (struct block_view){.records = (uint32_t)load_le(head + 16, 4),
                                .segment = (uint32_t)load_le(head + 20, 4),
                                .first = load_le(head + 24, 8),
                                .bytes = size,
                                .header = head,
                                .header_bytes = (uint32_t)bc->head.size,
                                .hashes = head + BLOCK_HEAD + (size_t)BLOCK_ENTRY * schema->count};
    struct cursor c = cursor_over(head + BLOCK_HEAD, (size_t)BLOCK_ENTRY * schema->count);
    size_t left = size - view->header_bytes;
    uint64_t raw = 0;
    for (unsigned f = 0; f < schema->count; f++) {
        size_t offset = size - left;
        TRY(parse_entry(&c, schema, f, view->records, &left, &view->columns[f], err));
        view->columns[f].offset = offset;
        raw += view->columns[f].raw_bytes;
    }
    if (left != 0)
        return fail(err, APL_E_CORRUPT, "the block has %zu bytes too many", left);
    return expansion_check_block(bc->expansion, size, raw, err);
}

apl_status block_parse(struct block_coder *bc, const uint8_t *bytes, size_t size, const struct schema *schema,
                       struct block_view *view, apl_error *err)
{
    TRY(block_parse_head(bc, bytes, size, size, schema, view, err));
    for (unsigned f = 0; f < schema->count; f++)
        view->columns[f].coded = bytes + view->columns[f].offset;
    return APL_OK;
}

struct hash128 block_stored_hash(const struct block_view *view, uint32_t record)
{
    const uint8_t *p = view->hashes + BLOCK_HASH * (size_t)record;
    return (struct hash128){load_le(p, 8), load_le(p + 8, 8)};
}
