/* Blocks: what coding and decoding share. */
#include "block.h"
#include "block_layout.h"
#include "expansion.h"
#include "kept.h"

apl_status block_coder_init(struct block_coder *bc, apl_error *err)
{
    *bc = (struct block_coder){.coder = coder_new(), .hash = hash_stream_new()};
    apl_status status = bc->coder && bc->hash ? expansion_allowed(&bc->expansion, err) : fail_nomem(err);
    if (status != APL_OK)
        block_coder_free(bc);
    return status;
}

void block_coder_free(struct block_coder *bc)
{
    coder_free(bc->coder);
    hash_stream_free(bc->hash);
    buffer_free(&bc->scratch);
    buffer_free(&bc->file);
    buffer_free(&bc->head);
    buffer_free(&bc->index);
    buffer_free(&bc->value);
    kept_free_coder(bc);
    block_coder_hold(bc, NULL, NULL);
    *bc = (struct block_coder){0};
}

void block_coder_hold(struct block_coder *bc, void *held, void (*release)(void *held))
{
    if (bc->held)
        bc->release(bc->held);
    bc->held = held;
    bc->release = release;
}

struct column_spec block_column_spec(const apl_field *field, uint32_t records, size_t raw_bytes)
{
    struct column_spec spec = {
        .records = records, .raw_bytes = raw_bytes, .element_bytes = 1, .ndim = 1, .shape = {-1}};
    if (field_varying(field) == 0) {
        spec.element_bytes = (unsigned)apl_dtype_size(field->dtype);
        spec.ndim = field->ndim;
        memcpy(spec.shape, field->shape, sizeof spec.shape);
    } else if (field->dtype == APL_U8 && field->ndim == 3) {
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
        if (schema->fields[f].role == APL_INPUT) {
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
        if (field->role != APL_INPUT)
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

uint64_t block_head_bytes(unsigned fields, uint32_t records)
{
    return BLOCK_HEAD + (uint64_t)BLOCK_ENTRY * fields + (uint64_t)BLOCK_HASH * records;
}
