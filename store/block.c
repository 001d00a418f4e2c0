/* Blocks: coding, checking, decoding. The layout is in block.h. */
#include "block.h"

#define BLOCK_MAGIC 0x424c5041u /* "APLB" */
#define HEAD        40u
#define ENTRY       40u
#define HASH        16u

apl_status block_coder_init(struct block_coder *bc, apl_error *err)
{
    *bc = (struct block_coder){.coder = coder_new(), .hash = hash_stream_new()};
    if (bc->coder && bc->hash)
        return APL_OK;
    block_coder_free(bc);
    return fail_nomem(err);
}

void block_coder_free(struct block_coder *bc)
{
    coder_free(bc->coder);
    hash_stream_free(bc->hash);
    buffer_free(&bc->scratch);
    buffer_free(&bc->file);
    *bc = (struct block_coder){0};
}

static struct column_spec column_spec(const apl_field *field, uint32_t records, size_t raw_bytes)
{
    struct column_spec spec = {
        .records = records, .raw_bytes = raw_bytes, .element_bytes = 1, .ndim = 1, .shape = {-1}};
    if (field_varying(field) == 0) {
        spec.element_bytes = (unsigned)apl_dtype_size(field->dtype);
        spec.ndim = field->ndim;
        memcpy(spec.shape, field->shape, sizeof spec.shape);
    }
    return spec;
}

struct hash128 block_record_hash(struct block_coder *bc, const struct schema *schema,
                                 const struct raw_block *block, uint32_t record)
{
    const struct raw_column *only = NULL;
    unsigned inputs = 0, at = 0;
    for (unsigned f = 0; f < schema->count; f++)
        if (schema->fields[f].mark == APL_INPUT) {
            inputs++;
            only = &block->columns[f];
            at = f;
        }
    size_t bytes;
    if (inputs == 1 && field_varying(&schema->fields[at]) == 0) { /* the usual case, in one call */
        const uint8_t *value = raw_column_value(only, &schema->fields[at], record, &bytes);
        return hash_xxh3_128(value, bytes);
    }
    hash_stream_reset(bc->hash);
    for (unsigned f = 0; f < schema->count; f++) {
        const apl_field *field = &schema->fields[f];
        if (field->mark != APL_INPUT)
            continue;
        unsigned varying = field_varying(field);
        if (varying)
            hash_stream_add(bc->hash, block->columns[f].dims.data + (size_t)record * varying * 4,
                            (size_t)varying * 4);
        const uint8_t *value = raw_column_value(&block->columns[f], field, record, &bytes);
        hash_stream_add(bc->hash, value, bytes);
    }
    return hash_stream_128(bc->hash);
}

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

/* The codec that was asked for, for an input that it suits; else the choice is open. */
static int wanted_codec(const apl_field *field, const struct column_spec *spec, int want_id)
{
    return want_id >= 0 && field->mark == APL_INPUT && codec_suits((enum codec_id)want_id, spec) ? want_id
                                                                                                 : -1;
}

apl_status block_choose(struct block_coder *bc, struct schema *schema, const struct raw_block *block,
                        int want_id, int want_level, apl_error *err)
{
    const apl_field *unsuitable = NULL;
    bool suits_any = false;
    for (unsigned f = 0; f < schema->count; f++) {
        apl_field *field = &schema->fields[f];
        size_t size;
        const uint8_t *raw = raw_bytes(bc, &block->columns[f], &size);
        if (!raw && size)
            return fail_nomem(err);
        struct column_spec spec = column_spec(field, block->records, size);
        int wanted = wanted_codec(field, &spec, want_id);
        suits_any |= wanted >= 0;
        if (wanted < 0 && field->mark == APL_INPUT && !unsuitable)
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

static apl_status encode_column(struct block_coder *bc, const struct schema *schema,
                                const struct raw_block *block, unsigned f, uint8_t entry[ENTRY],
                                struct buffer *out, apl_error *err)
{
    size_t size, coded = 0;
    const uint8_t *raw = raw_bytes(bc, &block->columns[f], &size);
    if (!raw && size)
        return fail_nomem(err);
    struct column_spec spec = column_spec(&schema->fields[f], block->records, size);
    enum codec_id used;
    if (!buffer_reserve(out, codec_bound(&spec)))
        return fail_nomem(err);
    TRY(codec_encode(bc->coder, schema->choices[f], &spec, raw, out->data + out->size, &coded, &used, err));
    memset(entry, 0, 8);
    entry[0] = (uint8_t)used;
    store_le(entry + 8, size, 8);
    store_le(entry + 16, coded, 8);
    store_le(entry + 24, hash_xxh3_64(raw, size), 8);
    store_le(entry + 32, hash_xxh3_64(out->data + out->size, coded), 8);
    out->size += coded;
    return APL_OK;
}

apl_status block_encode(struct block_coder *bc, const struct schema *schema, const struct raw_block *block,
                        struct buffer *out, apl_error *err)
{
    uint32_t head = HEAD + ENTRY * schema->count + HASH * block->records;
    out->size = 0;
    if (!buffer_reserve(out, head))
        return fail_nomem(err);
    out->size = head;
    for (unsigned f = 0; f < schema->count; f++) {
        uint8_t entry[ENTRY];
        TRY(encode_column(bc, schema, block, f, entry, out, err));
        memcpy(out->data + HEAD + (size_t)ENTRY * f, entry, ENTRY);
    }
    uint8_t *p = out->data;
    for (uint32_t i = 0; i < block->records; i++) {
        struct hash128 h = block_record_hash(bc, schema, block, i);
        uint8_t *at = p + HEAD + (size_t)ENTRY * schema->count + HASH * (size_t)i;
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

/* Reads the entry of one field; its coded bytes begin at *coded. */
static apl_status parse_entry(struct cursor *c, const struct schema *schema, unsigned f, uint32_t records,
                              struct cursor *coded, struct column_view *column, apl_error *err)
{
    const apl_field *field = &schema->fields[f];
    uint8_t codec = cursor_u8(c);
    cursor_take(c, 7);
    uint64_t raw = cursor_u64(c), size = cursor_u64(c);
    *column = (struct column_view){.codec = codec, .raw_sum = cursor_u64(c), .coded_sum = cursor_u64(c)};
    unsigned varying = field_varying(field);
    uint64_t least = varying ? (uint64_t)records * varying * 4 : (uint64_t)records * field->value_bytes;
    uint64_t most = varying ? BLOCK_MAX_RAW : least;
    if (codec >= CODEC_COUNT)
        return fail(err, APL_E_CORRUPT, "field %s: codec %u is not known", field->name, codec);
    if (raw < least || raw > most || raw > BLOCK_MAX_RAW || size > cursor_left(coded))
        return fail(err, APL_E_CORRUPT, "field %s: impossible sizes", field->name);
    column->raw_bytes = (size_t)raw;
    column->coded_bytes = (size_t)size;
    column->coded = cursor_take(coded, (size_t)size);
    return APL_OK;
}

apl_status block_parse(const uint8_t *bytes, size_t size, const struct schema *schema,
                       struct block_view *view, apl_error *err)
{
    struct cursor c = cursor_over(bytes, size);
    uint32_t magic = cursor_u32(&c);
    uint32_t head = cursor_u32(&c);
    uint64_t sum = cursor_u64(&c);
    *view = (struct block_view){.bytes = bytes, .header_bytes = head};
    view->records = cursor_u32(&c);
    view->segment = cursor_u32(&c);
    view->first = cursor_u64(&c);
    uint32_t fields = cursor_u32(&c);
    cursor_u32(&c);
    if (!cursor_ok(&c) || magic != BLOCK_MAGIC)
        return fail(err, APL_E_CORRUPT, "no block header");
    if (view->records == 0 || view->records > APL_MAX_BLOCK || fields != schema->count ||
        head != HEAD + ENTRY * fields + HASH * view->records || head > size)
        return fail(err, APL_E_CORRUPT, "the block header is damaged");
    if (hash_xxh3_64(bytes + 16, head - 16) != sum)
        return fail(err, APL_E_CORRUPT, "the block header's checksum is wrong");
    struct cursor coded = cursor_over(bytes + head, size - head);
    for (unsigned f = 0; f < fields; f++)
        TRY(parse_entry(&c, schema, f, view->records, &coded, &view->columns[f], err));
    if (cursor_left(&coded) != 0)
        return fail(err, APL_E_CORRUPT, "the block has %zu bytes too many", cursor_left(&coded));
    view->hashes = bytes + HEAD + (size_t)ENTRY * fields;
    return APL_OK;
}

struct hash128 block_stored_hash(const struct block_view *view, uint32_t record)
{
    const uint8_t *p = view->hashes + HASH * (size_t)record;
    return (struct hash128){load_le(p, 8), load_le(p + 8, 8)};
}

/* Takes dimensions and values apart, and makes sure that they fit together. */
static apl_status split_varying(const apl_field *field, uint32_t records, const uint8_t *raw, size_t size,
                                struct raw_column *column, apl_error *err)
{
    unsigned varying = field_varying(field);
    size_t head = (size_t)records * varying * 4;
    uint64_t end = 0;
    column->dims.size = column->ends.size = column->values.size = 0;
    for (uint32_t i = 0; i < records; i++) {
        uint32_t dims[APL_MAX_DIMS];
        size_t bytes;
        for (unsigned d = 0; d < varying; d++)
            dims[d] = (uint32_t)load_le(raw + ((size_t)i * varying + d) * 4, 4);
        if (!field_value_bytes(field, dims, &bytes) || bytes > size - head - end)
            return fail(err, APL_E_CORRUPT, "field %s: impossible shape of record %u of the block",
                        field->name, i);
        end += bytes;
        buffer_put(&column->ends, &end, sizeof end);
    }
    if (end != size - head)
        return fail(err, APL_E_CORRUPT, "field %s: shapes and values do not agree", field->name);
    buffer_put(&column->dims, raw, head);
    buffer_put(&column->values, raw + head, size - head);
    return column->dims.failed || column->ends.failed || column->values.failed ? fail_nomem(err) : APL_OK;
}

static apl_status check_sum(const apl_field *field, const char *what, uint64_t is, uint64_t should_be,
                            apl_error *err)
{
    if (is == should_be)
        return APL_OK;
    return fail(err, APL_E_CORRUPT, "field %s: the checksum of its %s bytes is wrong", field->name, what);
}

apl_status block_decode_column(struct block_coder *bc, const struct schema *schema,
                               const struct block_view *view, unsigned f, bool despite,
                               struct raw_column *column, apl_error *err)
{
    const apl_field *field = &schema->fields[f];
    const struct column_view *v = &view->columns[f];
    bool varying = field_varying(field) > 0;
    apl_status coded = check_sum(field, "coded", hash_xxh3_64(v->coded, v->coded_bytes), v->coded_sum, err);
    if (coded != APL_OK && !despite)
        return coded;
    struct buffer *into = varying ? &bc->scratch : &column->values;
    into->size = 0;
    if (!buffer_reserve(into, v->raw_bytes))
        return fail_nomem(err);
    struct column_spec spec = column_spec(field, view->records, v->raw_bytes);
    apl_error inner;
    apl_status status =
        codec_decode(bc->coder, v->codec, &spec, v->coded, v->coded_bytes, into->data, &inner);
    if (status != APL_OK)
        return coded != APL_OK ? coded : fail(err, status, "field %s: %s", field->name, inner.message);
    into->size = v->raw_bytes;
    apl_status raw = coded == APL_OK
                         ? check_sum(field, "decoded", hash_xxh3_64(into->data, into->size), v->raw_sum, err)
                         : coded;
    if (raw != APL_OK && !despite)
        return raw;
    if (varying)
        status =
            split_varying(field, view->records, into->data, into->size, column, raw == APL_OK ? err : &inner);
    return raw != APL_OK ? raw : status;
}

apl_status block_decode_rows(struct block_coder *bc, const struct schema *schema,
                             const struct block_view *view, unsigned f, uint8_t *const *rows, apl_error *err)
{
    const apl_field *field = &schema->fields[f];
    const struct column_view *v = &view->columns[f];
    TRY(check_sum(field, "coded", hash_xxh3_64(v->coded, v->coded_bytes), v->coded_sum, err));
    struct column_spec spec = column_spec(field, view->records, v->raw_bytes);
    apl_status status = codec_decode_rows(bc->coder, v->codec, &spec, v->coded, v->coded_bytes, rows, err);
    if (status != APL_OK)
        return fail_in(err, status, "field %s", field->name);
    hash_stream_reset(bc->hash);
    for (uint32_t i = 0; i < view->records; i++)
        hash_stream_add(bc->hash, rows[i], field->value_bytes);
    return check_sum(field, "decoded", hash_stream_64(bc->hash), v->raw_sum, err);
}

apl_status block_decode(struct block_coder *bc, const struct schema *schema, const struct block_view *view,
                        struct raw_block *block, apl_error *err)
{
    block->records = 0;
    for (unsigned f = 0; f < schema->count; f++) {
        struct raw_column *column = &block->columns[f];
        column->dims.size = column->ends.size = column->values.size = 0;
        TRY(block_decode_column(bc, schema, view, f, false, column, err));
    }
    block->records = view->records;
    block->segment = view->segment;
    block->first = view->first;
    return APL_OK;
}
