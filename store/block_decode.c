/* Blocks: decoding fields, and checking what was decoded. */
#include "block.h"
#include "block_layout.h"
#include "kept.h"

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

static apl_status check_coded(const apl_field *field, const struct column_view *v, apl_error *err)
{
    return check_sum(field, "coded", hash_xxh3_64(v->coded, v->coded_bytes), v->coded_sum, err);
}

apl_status block_check_column(const struct schema *schema, const struct block_view *view, unsigned field,
                              apl_error *err)
{
    return check_coded(&schema->fields[field], &view->columns[field], err);
}

apl_status block_check_coded(struct block_coder *bc, const struct schema *schema, struct block_view *view,
                             apl_error *err)
{
    for (unsigned f = 0; f < schema->count; f++)
        TRY(schema->fields[f].media
                ? kept_check(bc, &schema->fields[f], view->records, &view->columns[f], err)
                : check_coded(&schema->fields[f], &view->columns[f], err));
    view->checked = true;
    return APL_OK;
}

/* The shard of a set has source positions of its own. */
static void move_position(const apl_field *field, uint64_t moved, uint8_t *value)
{
    if (moved && field->role == APL_POSITION)
        store_le(value, load_le(value, 8) + moved, 8);
}

/* Decodes a column's raw bytes into `into`, which is empty unless they could be decoded, and compares its checksums. With
 * `despite`, one of the coded bytes that fails does not keep it from that. */
static apl_status decode_raw_column(struct block_coder *bc, const apl_field *field,
                                    const struct block_view *view, unsigned f, bool despite,
                                    struct buffer *into, apl_error *err)
{
    const struct column_view *v = &view->columns[f];
    if (field->media)
        return kept_decode(bc, field, view->records, v, despite, into, err);
    apl_status coded = view->checked ? APL_OK : check_coded(field, v, err);
    if (coded != APL_OK && !despite)
        return coded;
    into->size = 0;
    if (!buffer_reserve(into, v->raw_bytes))
        return fail_nomem(err);
    struct column_spec spec = block_column_spec(field, view->records, v->raw_bytes);
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
    bc->colours = bc->takes_colours ? &column->colours : NULL;
    column->colours.size = 0;
    apl_status status = decode_raw_column(bc, field, view, f, despite, &column->values, err);
    bc->colours = NULL;
    bool decoded = column->values.size == view->columns[f].raw_bytes;
    if (status != APL_OK && !(despite && decoded))
        return status;
    if (varying) {
        apl_status shapes = split_varying(field, view->records, column, status == APL_OK ? err : &inner);
        return status == APL_OK ? shapes : status;
    }
    for (uint32_t i = 0; view->moved && field->value_bytes == 8 && i < view->records; i++)
        move_position(field, view->moved, column->values.data + (size_t)i * 8);
    return status != APL_OK || despite ? status
                                       : check_classes(bc, field, column->values.data, view->records, err);
}

apl_status block_decode_rows(struct block_coder *bc, const struct schema *schema,
                             const struct block_view *view, unsigned f, uint8_t *const *rows, apl_error *err)
{
    const apl_field *field = &schema->fields[f];
    const struct column_view *v = &view->columns[f];
    if (!view->checked)
        TRY(check_coded(field, v, err));
    struct column_spec spec = block_column_spec(field, view->records, v->raw_bytes);
    apl_status status = codec_decode_rows(bc->coder, v->codec, &spec, v->coded, v->coded_bytes, rows, err);
    if (status != APL_OK)
        return fail_in(err, status, "field %s", field->name);
    hash_stream_reset(bc->hash);
    for (uint32_t i = 0; i < view->records; i++)
        hash_stream_add(bc->hash, rows[i], field->value_bytes);
    TRY(check_sum(field, "decoded", hash_stream_64(bc->hash), v->raw_sum, err));
    for (uint32_t i = 0; view->moved && i < view->records; i++)
        move_position(field, view->moved, rows[i]);
    return check_class_rows(bc, field, rows, view->records, err);
}

apl_status block_decode(struct block_coder *bc, const struct schema *schema, const struct block_view *view,
                        struct raw_block *block, apl_error *err)
{
    block->records = 0;
    for (unsigned f = 0; f < schema->count; f++) {
        struct raw_column *column = &block->columns[f];
        raw_column_clear(column);
        TRY(block_decode_column(bc, schema, view, f, false, column, err));
    }
    block->records = view->records;
    block->segment = view->segment;
    block->first = view->first;
    return APL_OK;
}
