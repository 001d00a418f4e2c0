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
    buffer_free(&bc->head);
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
    uint32_t head = (uint32_t)block_head_bytes(schema->count, block->records);
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

/* The most that coded bytes can decode to. Of zstd, each of a frame's blocks takes 4 bytes at least and gives 128 KiB at
 * most; the other codecs hold nothing but frames and tables. */
static uint64_t most_decoded(unsigned codec, uint64_t coded)
{
    return codec == CODEC_RAW ? coded : coded * ((128u << 10) / 4);
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
    if (raw > most_decoded(codec, size))
        return fail(err, APL_E_CORRUPT, "field %s: %llu coded bytes cannot decode to %llu", field->name,
                    (unsigned long long)size, (unsigned long long)raw);
    column->raw_bytes = (size_t)raw;
    column->coded_bytes = (size_t)size;
    column->coded = cursor_take(coded, (size_t)size);
    return APL_OK;
}

uint64_t block_head_bytes(unsigned fields, uint32_t records)
{
    return HEAD + (uint64_t)ENTRY * fields + (uint64_t)HASH * records;
}

/* Copies the header to bc->head, and checks the copy: the coded bytes may be those of a mapped file, which others may change
 * at any time. */
static apl_status take_head(struct block_coder *bc, const uint8_t *bytes, size_t size, unsigned fields,
                            apl_error *err)
{
    uint8_t head[HEAD];
    if (size < HEAD)
        return fail(err, APL_E_CORRUPT, "no block header");
    memcpy(head, bytes, HEAD);
    uint32_t head_bytes = (uint32_t)load_le(head + 4, 4), records = (uint32_t)load_le(head + 16, 4);
    if (load_le(head, 4) != BLOCK_MAGIC)
        return fail(err, APL_E_CORRUPT, "no block header");
    if (records == 0 || records > APL_MAX_BLOCK || load_le(head + 32, 4) != fields ||
        head_bytes != block_head_bytes(fields, records) || head_bytes > size)
        return fail(err, APL_E_CORRUPT, "the block header is damaged");
    bc->head.size = 0;
    if (!buffer_reserve(&bc->head, head_bytes))
        return fail_nomem(err);
    buffer_put(&bc->head, head, HEAD);
    buffer_put(&bc->head, bytes + HEAD, head_bytes - HEAD);
    return hash_xxh3_64(bc->head.data + 16, head_bytes - 16) == load_le(head + 8, 8)
               ? APL_OK
               : fail(err, APL_E_CORRUPT, "the block header's checksum is wrong");
}

apl_status block_parse(struct block_coder *bc, const uint8_t *bytes, size_t size, const struct schema *schema,
                       struct block_view *view, apl_error *err)
{
    *view = (struct block_view){0};
    TRY(take_head(bc, bytes, size, schema->count, err));
    const uint8_t *head = bc->head.data;
    *view = (struct block_view){.records = (uint32_t)load_le(head + 16, 4),
                                .segment = (uint32_t)load_le(head + 20, 4),
                                .first = load_le(head + 24, 8),
                                .header = head,
                                .header_bytes = (uint32_t)bc->head.size,
                                .hashes = head + HEAD + (size_t)ENTRY * schema->count};
    struct cursor c = cursor_over(head + HEAD, (size_t)ENTRY * schema->count);
    struct cursor coded = cursor_over(bytes + view->header_bytes, size - view->header_bytes);
    for (unsigned f = 0; f < schema->count; f++)
        TRY(parse_entry(&c, schema, f, view->records, &coded, &view->columns[f], err));
    if (cursor_left(&coded) != 0)
        return fail(err, APL_E_CORRUPT, "the block has %zu bytes too many", cursor_left(&coded));
    return APL_OK;
}

struct hash128 block_stored_hash(const struct block_view *view, uint32_t record)
{
    const uint8_t *p = view->hashes + HASH * (size_t)record;
    return (struct hash128){load_le(p, 8), load_le(p + 8, 8)};
}

/* Takes dimensions and values apart, which column->values holds together, and makes sure that they fit together. The values
 * move to the front: a second copy of a large column would take as much memory again. */
static apl_status split_varying(const apl_field *field, uint32_t records, struct raw_column *column,
                                apl_error *err)
{
    unsigned varying = field_varying(field);
    struct buffer *raw = &column->values;
    size_t head = (size_t)records * varying * 4, size = raw->size;
    uint64_t end = 0;
    column->dims.size = column->ends.size = raw->size = 0;
    for (uint32_t i = 0; i < records; i++) {
        uint32_t dims[APL_MAX_DIMS];
        size_t bytes;
        for (unsigned d = 0; d < varying; d++)
            dims[d] = (uint32_t)load_le(raw->data + ((size_t)i * varying + d) * 4, 4);
        if (!field_value_bytes(field, dims, &bytes) || bytes > size - head - end)
            return fail(err, APL_E_CORRUPT, "field %s: impossible shape of record %u of the block",
                        field->name, i);
        end += bytes;
        buffer_put(&column->ends, &end, sizeof end);
    }
    if (end != size - head)
        return fail(err, APL_E_CORRUPT, "field %s: shapes and values do not agree", field->name);
    buffer_put(&column->dims, raw->data, head);
    memmove(raw->data, raw->data + head, size - head);
    raw->size = size - head;
    return column->dims.failed || column->ends.failed ? fail_nomem(err) : APL_OK;
}

/* The largest of n numbers, which need not be aligned; a loop of its own for each width, so that a number is one load. */
static inline uint32_t largest(const uint8_t *numbers, size_t n, unsigned bytes)
{
    uint32_t most = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t v = 0;
        memcpy(&v, numbers + i * bytes, bytes);
        most = v > most ? v : most;
    }
    return most;
}

static uint32_t largest_class(const uint8_t *values, size_t n, size_t bytes)
{
    return bytes == 1 ? largest(values, n, 1) : bytes == 2 ? largest(values, n, 2) : largest(values, n, 4);
}

static apl_status no_class(const apl_field *field, uint32_t record, uint64_t value, apl_error *err)
{
    return fail(err, APL_E_CORRUPT, "field %s: record %u of the block has class %llu, but there are %llu",
                field->name, record, (unsigned long long)value, (unsigned long long)field->class_count);
}

bool block_class_ok(const apl_field *field, const struct raw_column *column, uint32_t record)
{
    size_t bytes = field->value_bytes;
    return field->class_count == 0 ||
           load_le(column->values.data + record * bytes, (unsigned)bytes) < field->class_count;
}

/* Has each value of a field with class names one? */
static apl_status check_classes(const struct block_coder *bc, const apl_field *field, const uint8_t *values,
                                uint32_t records, apl_error *err)
{
    size_t bytes = field->value_bytes;
    if (bc->any_class || field->class_count == 0 ||
        largest_class(values, records, bytes) < field->class_count)
        return APL_OK;
    uint32_t i = 0;
    while (load_le(values + i * bytes, (unsigned)bytes) < field->class_count)
        i++;
    return no_class(field, i, load_le(values + i * bytes, (unsigned)bytes), err);
}

static apl_status check_class_rows(const struct block_coder *bc, const apl_field *field, uint8_t *const *rows,
                                   uint32_t records, apl_error *err)
{
    for (uint32_t i = 0; !bc->any_class && field->class_count && i < records; i++) {
        uint64_t value = load_le(rows[i], (unsigned)field->value_bytes);
        if (value >= field->class_count)
            return no_class(field, i, value, err);
    }
    return APL_OK;
}

static apl_status check_sum(const apl_field *field, const char *what, uint64_t is, uint64_t should_be,
                            apl_error *err)
{
    if (is == should_be)
        return APL_OK;
    return fail(err, APL_E_CORRUPT, "field %s: the checksum of its %s bytes is wrong", field->name, what);
}

/* Decodes a column's raw bytes into `into`, which is empty unless they could be decoded, and compares its checksums. With
 * `despite`, one of the coded bytes that fails does not keep it from that. */
static apl_status decode_raw_column(struct block_coder *bc, const apl_field *field,
                                    const struct block_view *view, unsigned f, bool despite,
                                    struct buffer *into, apl_error *err)
{
    const struct column_view *v = &view->columns[f];
    apl_status coded = check_sum(field, "coded", hash_xxh3_64(v->coded, v->coded_bytes), v->coded_sum, err);
    if (coded != APL_OK && !despite)
        return coded;
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
    if (coded != APL_OK)
        return coded;
    return check_sum(field, "decoded", hash_xxh3_64(into->data, into->size), v->raw_sum, err);
}

apl_status block_decode_column(struct block_coder *bc, const struct schema *schema,
                               const struct block_view *view, unsigned f, bool despite,
                               struct raw_column *column, apl_error *err)
{
    const apl_field *field = &schema->fields[f];
    bool varying = field_varying(field) > 0;
    apl_error inner;
    apl_status status = decode_raw_column(bc, field, view, f, despite, &column->values, err);
    bool decoded = column->values.size == view->columns[f].raw_bytes;
    if (status != APL_OK && !(despite && decoded))
        return status;
    if (varying) {
        apl_status shapes = split_varying(field, view->records, column, status == APL_OK ? err : &inner);
        return status == APL_OK ? shapes : status;
    }
    return status != APL_OK || despite ? status
                                       : check_classes(bc, field, column->values.data, view->records, err);
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
    TRY(check_sum(field, "decoded", hash_stream_64(bc->hash), v->raw_sum, err));
    return check_class_rows(bc, field, rows, view->records, err);
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
