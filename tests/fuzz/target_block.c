/* A block: the first byte picks a schema, the block follows. What can be decoded comes out the same in all ways
 * of decoding, and after being coded again. */
#include "block.h"
#include "fuzz.h"
#include "schemas.h"

#define SOME_RAW \
    ((size_t)8 << 20) /* a block that promises more than this is not decoded: that is only slow */

static struct block_coder bc;

/* Decoding into rows gives the same as decoding the column. */
static apl_status decode_rows(const struct schema *schema, const struct block_view *view, unsigned f,
                              const struct raw_block *block)
{
    size_t bytes = schema->fields[f].value_bytes;
    uint8_t *values = malloc(view->records * bytes), **rows = malloc(view->records * sizeof *rows);
    for (uint32_t i = 0; i < view->records; i++)
        rows[i] = values + (view->records - 1 - i) * bytes;
    apl_status status = block_decode_rows(&bc, schema, view, f, rows, NULL);
    for (uint32_t i = 0; block->records && i < view->records; i++)
        MUST(status == APL_OK && memcmp(rows[i], block->columns[f].values.data + i * bytes, bytes) == 0);
    free(values);
    free(rows);
    return status;
}

static void code_again(const struct schema *schema, const struct raw_block *block)
{
    struct buffer out = {0};
    struct raw_block again = {0};
    struct block_view view;
    apl_error err;
    MUST(block_encode(&bc, schema, block, &out, &err) == APL_OK);
    MUST(block_parse(&bc, out.data, out.size, schema, &view, &err) == APL_OK);
    MUST(block_decode(&bc, schema, &view, &again, &err) == APL_OK);
    for (unsigned f = 0; f < schema->count; f++) {
        const struct buffer *a = &block->columns[f].values, *b = &again.columns[f].values;
        MUST(a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0));
    }
    raw_block_free(&again);
    buffer_free(&out);
}

static void decode(const struct schema *schema, const struct block_view *view)
{
    struct raw_block block = {0}, despite = {0};
    bool good = block_decode(&bc, schema, view, &block, NULL) == APL_OK;
    for (unsigned f = 0; f < schema->count; f++) {
        apl_status status = block_decode_column(&bc, schema, view, f, true, &despite.columns[f], NULL);
        MUST(!good || status == APL_OK);
        if (field_varying(&schema->fields[f]) == 0)
            decode_rows(schema, view, f, &block);
    }
    for (uint32_t i = 0; good && i < view->records; i++) {
        block_record_hash(&bc, schema, &block, i);
        block_stored_hash(view, i);
    }
    if (good)
        code_again(schema, &block);
    raw_block_free(&block);
    raw_block_free(&despite);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct block_view view;
    apl_error err;
    if (size == 0)
        return 0;
    if (!bc.coder)
        MUST(block_coder_init(&bc, &err) == APL_OK);
    const struct schema *schema = fuzz_schema(data[0] % SCHEMAS);
    if (block_parse(&bc, data + 1, size - 1, schema, &view, &err) != APL_OK)
        return 0;
    size_t raw = 0;
    for (unsigned f = 0; f < schema->count; f++)
        raw += view.columns[f].raw_bytes;
    if (raw <= SOME_RAW)
        decode(schema, &view);
    return 0;
}
