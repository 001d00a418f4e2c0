/* Kept columns: see kept.h. */
#include "kept.h"

size_t kept_index_bytes(uint32_t records)
{
    return (size_t)(KEPT_LENGTH + KEPT_SUM) * records;
}

apl_status kept_encode(const struct raw_column *column, uint32_t records, struct buffer *out, apl_error *err)
{
    const uint64_t *ends = (const uint64_t *)(const void *)column->ends.data;
    if (!buffer_reserve(out, kept_index_bytes(records) + column->values.size))
        return fail_nomem(err);
    buffer_put(out, column->dims.data, column->dims.size);
    for (uint32_t i = 0; i < records; i++) {
        uint64_t start = i ? ends[i - 1] : 0;
        const uint8_t *value = start ? column->values.data + start : column->values.data;
        buffer_le(out, hash_xxh3_64(value, (size_t)(ends[i] - start)), KEPT_SUM);
    }
    buffer_put(out, column->values.data, column->values.size);
    return APL_OK;
}

static size_t value_bytes(const struct kept_index *index, uint32_t record)
{
    return (size_t)load_le(index->bytes + (size_t)KEPT_LENGTH * record, KEPT_LENGTH);
}

static uint64_t value_sum(const struct kept_index *index, uint32_t record)
{
    return load_le(index->bytes + (size_t)KEPT_LENGTH * index->records + (size_t)KEPT_SUM * record, KEPT_SUM);
}

apl_status kept_take_index(struct block_coder *bc, const apl_field *field, uint32_t records,
                           const struct column_view *column, const uint8_t *bytes, struct kept_index *index,
                           apl_error *err)
{
    size_t size = kept_index_bytes(records);
    uint64_t left = column->coded_bytes - size;
    bc->index.size = 0;
    buffer_put(&bc->index, bytes, size);
    if (bc->index.failed)
        return fail_nomem(err);
    *index = (struct kept_index){records, bc->index.data};
    if (hash_xxh3_64(index->bytes, size) != column->coded_sum)
        return fail(err, APL_E_CORRUPT, "field %s: the checksum of its index is wrong", field->name);
    for (uint32_t i = 0; i < records; i++) {
        uint64_t value = value_bytes(index, i);
        if (value > left || value > APL_MAX_VALUE)
            return fail(err, APL_E_CORRUPT, "field %s: impossible size of record %u of the block",
                        field->name, i);
        left -= value;
    }
    return left == 0
               ? APL_OK
               : fail(err, APL_E_CORRUPT, "field %s: its index and its values do not agree", field->name);
}

void kept_place(const struct kept_index *index, uint32_t record, size_t *offset, size_t *bytes)
{
    *offset = kept_index_bytes(index->records);
    for (uint32_t i = 0; i < record; i++)
        *offset += value_bytes(index, i);
    *bytes = value_bytes(index, record);
}

bool kept_value_ok(const struct kept_index *index, uint32_t record, const uint8_t *value, size_t bytes)
{
    return hash_xxh3_64(value, bytes) == value_sum(index, record);
}

apl_status kept_list(const struct kept_index *index, uint64_t first, struct raw_column *list, apl_error *err)
{
    uint64_t end = 0;
    buffer_put(&list->dims, index->bytes, (size_t)KEPT_LENGTH * index->records);
    buffer_put(&list->values, &first, sizeof first);
    for (uint32_t i = 0; i < index->records; i++) {
        uint64_t sum = value_sum(index, i);
        end += value_bytes(index, i);
        buffer_put(&list->ends, &end, sizeof end);
        buffer_put(&list->values, &sum, sizeof sum);
    }
    return list->dims.failed || list->ends.failed || list->values.failed ? fail_nomem(err) : APL_OK;
}

/* Are the copied values those of the index? */
static apl_status check_values(const apl_field *field, const struct kept_index *index, const uint8_t *values,
                               apl_error *err)
{
    for (uint32_t i = 0; i < index->records; i++) {
        size_t bytes = value_bytes(index, i);
        if (!kept_value_ok(index, i, values, bytes))
            return fail(err, APL_E_CORRUPT, "field %s: the checksum of record %u of the block is wrong",
                        field->name, i);
        values += bytes;
    }
    return APL_OK;
}

apl_status kept_decode(struct block_coder *bc, const apl_field *field, uint32_t records,
                       const struct column_view *column, bool despite, struct buffer *into, apl_error *err)
{
    struct kept_index index;
    size_t head = (size_t)KEPT_LENGTH * records, values = column->raw_bytes - head;
    into->size = 0;
    TRY(kept_take_index(bc, field, records, column, column->coded, &index, err));
    if (!buffer_reserve(into, column->raw_bytes))
        return fail_nomem(err);
    buffer_put(into, index.bytes, head);
    buffer_put(into, column->coded + kept_index_bytes(records), values);
    apl_status status = check_values(field, &index, into->data + head, err);
    if (status == APL_OK && hash_xxh3_64(into->data, into->size) != column->raw_sum)
        status =
            fail(err, APL_E_CORRUPT, "field %s: the checksum of its decoded bytes is wrong", field->name);
    if (status != APL_OK && !despite)
        into->size = 0;
    return status;
}
