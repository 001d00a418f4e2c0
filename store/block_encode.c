/* Blocks: choosing codecs and coding. The layout is in block.h. */
#include "block.h"
#include "block_layout.h"
#include "kept.h"

/* The raw bytes of a field: the values themselves, or dimensions and values put together in scratch memory; NULL with
 * a size: out of memory. */
static const uint8_t *raw_bytes(struct block_coder *bc, const struct raw_column *column, size_t *size)
{
    if (column->dims.size == 0) {
        *size = column->values.size;
        return column->values.data;
    }
    bc->scratch.size = 0;
    buffer_put(&bc->scratch, column->dims.data, column->dims.size);
    buffer_put(&bc->scratch, column->values.data, column->values.size);
    *size = column->dims.size + column->values.size;
    return bc->scratch.failed ? NULL : bc->scratch.data;
}

/* The first records of a column of images, as many as its codec is chosen by and one more, put together as above. */
static const uint8_t *front_bytes(struct block_coder *bc, const struct raw_column *column,
                                  struct column_spec *spec)
{
    size_t shape = column->dims.size / spec->records, records = 0, values = 0;
    while (records < spec->records && records * shape + values <= CODEC_SAMPLE_BYTES) {
        uint64_t start;
        values += raw_column_extent(column, (uint32_t)records++, &start);
    }
    spec->records = records;
    spec->raw_bytes = records * shape + values;
    bc->scratch.size = 0;
    buffer_put(&bc->scratch, column->dims.data, records * shape);
    buffer_put(&bc->scratch, column->values.data, values);
    return bc->scratch.failed ? NULL : bc->scratch.data;
}

/* The codec that was asked for, for an input that it suits; else the choice is open. */
static int wanted_codec(const apl_field *field, const struct column_spec *spec, int want_id)
{
    if (want_id == CODEC_PICTURE && codec_suits(CODEC_VARYING, spec))
        want_id = CODEC_VARYING;
    return want_id >= 0 && field->role == APL_INPUT && codec_suits((enum codec_id)want_id, spec) ? want_id
                                                                                                 : -1;
}

apl_status block_choose(struct block_coder *bc, struct schema *schema, const struct raw_block *block,
                        int want_id, int want_level, apl_error *err)
{
    const apl_field *unsuitable = NULL;
    bool suits_any = false;
    for (unsigned f = 0; f < schema->count; f++) {
        apl_field *field = &schema->fields[f];
        if (field->media) {
            unsuitable = field->role == APL_INPUT && !unsuitable ? field : unsuitable;
            continue;
        }
        const struct raw_column *column = &block->columns[f];
        size_t size = column->dims.size + column->values.size;
        struct column_spec spec = block_column_spec(field, block->records, size);
        int wanted = wanted_codec(field, &spec, want_id);
        const uint8_t *raw =
            codec_suits(CODEC_VARYING, &spec) ? front_bytes(bc, column, &spec) : raw_bytes(bc, column, &size);
        if (!raw && size)
            return fail_nomem(err);
        suits_any |= wanted >= 0;
        if (wanted < 0 && field->role == APL_INPUT && !unsuitable)
            unsuitable = field;
        TRY(codec_choose(bc->coder, &spec, raw, wanted, want_level, &schema->choices[f], err));
        field->codec = codec_name(schema->choices[f].id);
        field->level = schema->choices[f].level;
    }
    if (want_id >= 0 && !suits_any && unsuitable)
        return fail(err, APL_E_INVALID, "field %s: codec %s does not suit its type or shape",
                    unsuitable->name, codec_name((unsigned)want_id));
    return APL_OK;
}

static void put_entry(uint8_t entry[BLOCK_ENTRY], unsigned codec, size_t raw, size_t coded, uint64_t raw_sum,
                      uint64_t coded_sum)
{
    memset(entry, 0, 8);
    entry[0] = (uint8_t)codec;
    store_le(entry + 8, raw, 8);
    store_le(entry + 16, coded, 8);
    store_le(entry + 24, raw_sum, 8);
    store_le(entry + 32, coded_sum, 8);
}

static apl_status encode_kept(struct block_coder *bc, unsigned codec, const struct raw_column *column,
                              uint32_t records, uint8_t entry[BLOCK_ENTRY], struct buffer *out,
                              apl_error *err)
{
    size_t begin = out->size;
    TRY(kept_encode(bc, codec, column, records, out, err));
    size_t coded = out->size - begin, index = kept_index_bytes(codec, records);
    hash_stream_reset(bc->hash);
    hash_stream_add(bc->hash, column->dims.data, column->dims.size);
    hash_stream_add(bc->hash, column->values.data, column->values.size);
    put_entry(entry, codec, column->dims.size + column->values.size, coded, hash_stream_64(bc->hash),
              hash_xxh3_64(out->data + begin, index));
    return APL_OK;
}

/* Images of any size are coded where they lie: a copy would be large. */
static apl_status encode_apart(struct block_coder *bc, struct codec_choice choice,
                               const struct raw_column *column, const struct column_spec *spec,
                               uint8_t entry[BLOCK_ENTRY], struct buffer *out, apl_error *err)
{
    size_t coded = 0;
    enum codec_id used;
    if (!buffer_reserve(out, codec_bound(spec)))
        return fail_nomem(err);
    uint8_t *to = out->data + out->size;
    TRY(codec_encode_apart(bc->coder, choice, spec, column->dims.data, column->values.data, to, &coded, &used,
                           err));
    hash_stream_reset(bc->hash);
    hash_stream_add(bc->hash, column->dims.data, column->dims.size);
    hash_stream_add(bc->hash, column->values.data, column->values.size);
    put_entry(entry, used, spec->raw_bytes, coded, hash_stream_64(bc->hash), hash_xxh3_64(to, coded));
    out->size += coded;
    return APL_OK;
}

static apl_status encode_column(struct block_coder *bc, const struct schema *schema,
                                const struct raw_block *block, unsigned f, uint8_t entry[BLOCK_ENTRY],
                                struct buffer *out, apl_error *err)
{
    if (schema->fields[f].media)
        return encode_kept(bc, schema_kept_codec(schema, f), &block->columns[f], block->records, entry, out,
                           err);
    const struct raw_column *column = &block->columns[f];
    size_t size = column->dims.size + column->values.size, coded = 0;
    struct column_spec spec = block_column_spec(&schema->fields[f], block->records, size);
    if (schema->choices[f].id == CODEC_VARYING && codec_suits(CODEC_VARYING, &spec))
        return encode_apart(bc, schema->choices[f], column, &spec, entry, out, err);
    const uint8_t *raw = raw_bytes(bc, column, &size);
    if (!raw && size)
        return fail_nomem(err);
    enum codec_id used;
    if (!buffer_reserve(out, codec_bound(&spec)))
        return fail_nomem(err);
    TRY(codec_encode(bc->coder, schema->choices[f], &spec, raw, out->data + out->size, &coded, &used, err));
    put_entry(entry, used, size, coded, hash_xxh3_64(raw, size), hash_xxh3_64(out->data + out->size, coded));
    out->size += coded;
    return APL_OK;
}

apl_status block_encode(struct block_coder *bc, const struct schema *schema, const struct raw_block *block,
                        struct buffer *out, apl_error *err)
{
    uint32_t head = (uint32_t)block_head_bytes(schema->count, block->records);
    out->size = 0;
    if (!buffer_reserve(out, head))
        return fail_nomem(err);
    out->size = head;
    for (unsigned f = 0; f < schema->count; f++) {
        uint8_t entry[BLOCK_ENTRY];
        TRY(encode_column(bc, schema, block, f, entry, out, err));
        memcpy(out->data + BLOCK_HEAD + (size_t)BLOCK_ENTRY * f, entry, BLOCK_ENTRY);
    }
    uint8_t *p = out->data;
    for (uint32_t i = 0; i < block->records; i++) {
        struct hash128 h = block_record_hash(bc, schema, block, i);
        uint8_t *at = p + BLOCK_HEAD + (size_t)BLOCK_ENTRY * schema->count + BLOCK_HASH * (size_t)i;
        store_le(at, h.low, 8);
        store_le(at + 8, h.high, 8);
    }
    store_le(p, BLOCK_MAGIC, 4);
    store_le(p + 4, head, 4);
    store_le(p + 16, block->records, 4);
    store_le(p + 20, block->segment, 4);
    store_le(p + 24, block->first, 8);
    store_le(p + 32, schema->count, 4);
    store_le(p + 36, 0, 4);
    store_le(p + 8, hash_xxh3_64(p + 16, head - 16), 8);
    return APL_OK;
}
