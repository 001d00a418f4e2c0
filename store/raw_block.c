/* Records that are not coded: see raw_block.h. */
#include "raw_block.h"

#include "utf8.h"

void raw_column_clear(struct raw_column *column)
{
    column->values.size = column->dims.size = column->ends.size = column->colours.size = 0;
}

size_t raw_column_bytes(const struct raw_column *column)
{
    return column->values.size + column->dims.size + column->ends.size + column->colours.size;
}

void raw_column_free(struct raw_column *column)
{
    buffer_free(&column->values);
    buffer_free(&column->dims);
    buffer_free(&column->ends);
    buffer_free(&column->colours);
}

void raw_block_clear(struct raw_block *block)
{
    block->records = 0;
    for (unsigned f = 0; f < APL_MAX_FIELDS; f++)
        raw_column_clear(&block->columns[f]);
}

void raw_block_free(struct raw_block *block)
{
    for (unsigned f = 0; f < APL_MAX_FIELDS; f++)
        raw_column_free(&block->columns[f]);
}

size_t raw_block_bytes(const struct raw_block *block, const struct schema *schema)
{
    size_t bytes = 0;
    for (unsigned f = 0; f < schema->count; f++)
        bytes += block->columns[f].values.size + block->columns[f].dims.size;
    return bytes;
}

/* Readers rely on it. */
static apl_status check_bool_values(const apl_field *field, const uint8_t *values, size_t count,
                                    apl_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] > 1)
            return fail(err, APL_E_INVALID, "field %s: a bool is %u, neither 0 nor 1", field->name,
                        values[i]);
    return APL_OK;
}

/* The texts of a list, each of `width` bytes, which the longest has: so that equal lists are equal bytes. */
static apl_status check_text_list(const apl_field *field, const uint8_t *texts, size_t bytes, size_t width,
                                  apl_error *err)
{
    size_t longest = 0;
    for (size_t at = 0; at < bytes; at += width) {
        size_t length = strnlen((const char *)texts + at, width);
        for (size_t i = length; i < width; i++)
            if (texts[at + i])
                return fail(err, APL_E_INVALID, "field %s: text %zu of a list has a NUL in it", field->name,
                            at / width);
        if (!utf8_valid(texts + at, length))
            return fail(err, APL_E_INVALID, "field %s: text %zu of a list is not UTF-8", field->name,
                        at / width);
        longest = length > longest ? length : longest;
    }
    return longest == width
               ? APL_OK
               : fail(err, APL_E_INVALID,
                      "field %s: a list has room for texts of %zu bytes, and its longest has %zu",
                      field->name, width, longest);
}

static apl_status check_text(const apl_field *field, const apl_value *value, size_t bytes, apl_error *err)
{
    if (field_lists_texts(field))
        return check_text_list(field, value->data, bytes, (size_t)value->shape[field->ndim - 1], err);
    return utf8_valid(value->data, bytes)
               ? APL_OK
               : fail(err, APL_E_INVALID, "field %s: a text is not UTF-8", field->name);
}

/* The bytes of a value to be appended, its varying dimensions in `dims`. */
static apl_status value_size(const apl_field *field, const apl_value *value, uint32_t *dims, size_t *bytes,
                             apl_error *err)
{
    *bytes = field->value_bytes;
    unsigned varying = field_varying(field);
    if (varying > 0) {
        if (!value->shape)
            return fail(err, APL_E_INVALID, "field %s: its shape varies, and none was given", field->name);
        unsigned n = 0;
        for (unsigned i = 0; i < field->ndim; i++) {
            int64_t d = value->shape[i];
            if (d < 0 || d > APL_MAX_VALUE || (field->shape[i] >= 0 && d != field->shape[i]))
                return fail(err, APL_E_INVALID, "field %s: dimension %u of a value is %lld", field->name, i,
                            (long long)d);
            if (field->shape[i] < 0)
                dims[n++] = (uint32_t)d;
        }
        if (!field_value_bytes(field, dims, bytes))
            return fail(err, APL_E_INVALID, "field %s: a value of more than %u bytes", field->name,
                        APL_MAX_VALUE);
    }
    if (*bytes && !value->data)
        return fail(err, APL_E_INVALID, "field %s: a value is NULL", field->name);
    return field->dtype == APL_BOOL ? check_bool_values(field, value->data, *bytes, err) : APL_OK;
}

static bool append_value(struct raw_column *column, const apl_field *field, const void *data,
                         const uint32_t *dims, size_t bytes)
{
    unsigned varying = field_varying(field);
    buffer_put(&column->values, data, bytes);
    for (unsigned i = 0; i < varying; i++)
        buffer_le(&column->dims, dims[i], 4); /* NOLINT(clang-analyzer-core.CallAndMessage): has a value */
    if (varying > 0) {
        uint64_t end = column->values.size;
        buffer_put(&column->ends, &end, sizeof end);
    }
    return !column->values.failed && !column->dims.failed && !column->ends.failed;
}

size_t raw_value_bytes(const apl_field *field, const apl_value *value)
{
    uint32_t dims[APL_MAX_DIMS];
    size_t bytes = field->value_bytes;
    if (bytes == 0 && value_size(field, value, dims, &bytes, NULL) != APL_OK)
        return 0;
    return bytes + (size_t)4 * field_varying(field);
}

apl_status raw_block_append(struct raw_block *block, const struct schema *schema, const apl_value *values,
                            apl_error *err)
{
    uint32_t dims[APL_MAX_FIELDS][APL_MAX_DIMS];
    size_t bytes[APL_MAX_FIELDS];
    for (unsigned f = 0; f < schema->count; f++) {
        TRY(value_size(&schema->fields[f], &values[f], dims[f], &bytes[f], err));
        if (schema->fields[f].dtype == APL_UTF8)
            TRY(check_text(&schema->fields[f], &values[f], bytes[f], err));
        if (block->columns[f].values.size + bytes[f] > BLOCK_MAX_RAW / 2)
            return fail(
                err, APL_E_INVALID,
                "field %s: a block would exceed %zu bytes: choose fewer records per block (--block-records)",
                schema->fields[f].name, BLOCK_MAX_RAW / 2);
    }
    for (unsigned f = 0; f < schema->count; f++)
        if (!append_value(&block->columns[f], &schema->fields[f], values[f].data, dims[f], bytes[f]))
            return fail_nomem(err);
    block->records++;
    return APL_OK;
}

bool raw_column_vary(struct raw_column *column, const apl_field *field, uint32_t records)
{
    column->dims.size = column->ends.size = 0;
    for (uint32_t i = 1; i <= records; i++) {
        uint64_t end = (uint64_t)i * field->value_bytes;
        buffer_le(&column->dims, (uint64_t)field->shape[0], 4);
        buffer_put(&column->ends, &end, sizeof end);
    }
    return !column->dims.failed && !column->ends.failed;
}

size_t raw_column_extent(const struct raw_column *column, uint32_t record, uint64_t *start)
{
    const uint64_t *ends = (const uint64_t *)(const void *)column->ends.data;
    *start = record ? ends[record - 1] : 0;
    return (size_t)(ends[record] - *start);
}

const uint8_t *raw_column_value(const struct raw_column *column, const apl_field *field, uint32_t record,
                                size_t *bytes)
{
    if (column->ends.size == 0) {
        *bytes = field->value_bytes;
        return column->values.data + (size_t)record * field->value_bytes;
    }
    uint64_t start;
    *bytes = raw_column_extent(column, record, &start);
    return start ? column->values.data + start : column->values.data; /* NULL, where all values are empty */
}

void raw_column_shape(const struct raw_column *column, const apl_field *field, uint32_t record,
                      int64_t *shape)
{
    const uint8_t *dims = column->dims.data + (size_t)record * field_varying(field) * 4;
    for (unsigned d = 0; d < field->ndim; d++) {
        shape[d] = field->shape[d] < 0 ? (int64_t)load_le(dims, 4) : field->shape[d];
        dims += field->shape[d] < 0 ? 4 : 0;
    }
}

void raw_block_record(const struct raw_block *block, const struct schema *schema, uint32_t record,
                      apl_value *values, int64_t (*shapes)[APL_MAX_DIMS])
{
    for (unsigned f = 0; f < schema->count; f++) {
        const apl_field *field = &schema->fields[f];
        const struct raw_column *column = &block->columns[f];
        bool varying = field_varying(field) > 0;
        size_t bytes;
        values[f] = (apl_value){raw_column_value(column, field, record, &bytes), varying ? shapes[f] : NULL};
        if (varying)
            raw_column_shape(column, field, record, shapes[f]);
    }
}
