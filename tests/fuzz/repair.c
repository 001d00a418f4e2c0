#include "repair.h"

unsigned draw(unsigned *seed, unsigned below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return below ? (*seed >> 8) % below : 0;
}

void put_interesting(uint8_t *at, unsigned bytes, unsigned *seed)
{
    uint64_t old = load_le(at, bytes), half = (uint64_t)1 << (8 * bytes - 1), top = half * 2;
    const uint64_t values[] = {
        0,       1,       2,        top - 1, top - 2,         half,          half - 1,     old + 1, old - 1,
        old * 2, old / 2, old + 16, -old,    draw(seed, 300), draw(seed, 9), draw(seed, 9)};
    unsigned pick = draw(seed, sizeof values / sizeof *values + 1);
    store_le(
        at, pick < sizeof values / sizeof *values ? values[pick] : old ^ (uint64_t)1 << draw(seed, 8 * bytes),
        bytes);
}

void repair_manifest(uint8_t *bytes, size_t size)
{
    if (size < 24)
        return;
    store_le(bytes + 8, size, 8);
    store_le(bytes + 16, hash_xxh3_64(bytes + 24, size - 24), 8);
}

#define HEAD     40u
#define ENTRY    40u
#define SOME_RAW ((size_t)4 << 20) /* columns above this keep a wrong sum: they would take too long */

/* Decodes the column to learn what its raw bytes are. */
static void repair_raw_sum(struct block_coder *bc, const struct schema *schema, const struct block_view *view,
                           unsigned f, uint8_t *entry)
{
    struct raw_column column = {0};
    if (view->columns[f].raw_bytes <= SOME_RAW) {
        block_decode_column(bc, schema, view, f, true, &column, NULL);
        hash_stream_reset(bc->hash);
        hash_stream_add(bc->hash, column.dims.data, column.dims.size);
        hash_stream_add(bc->hash, column.values.data, column.values.size);
        if (column.dims.size + column.values.size == view->columns[f].raw_bytes)
            store_le(entry + 24, hash_stream_64(bc->hash), 8);
    }
    raw_column_free(&column);
}

static void repair_head(uint8_t *bytes, size_t size)
{
    uint64_t head = load_le(bytes + 4, 4);
    if (head >= 16 && head <= size)
        store_le(bytes + 8, hash_xxh3_64(bytes + 16, head - 16), 8);
}

void repair_block(uint8_t *bytes, size_t size, const struct schema *schema)
{
    struct block_view view;
    struct block_coder bc;
    if (size < HEAD)
        return;
    repair_head(bytes, size);
    if (!schema || block_coder_init(&bc, NULL) != APL_OK)
        return;
    unsigned fields = block_parse(&bc, bytes, size, schema, &view, NULL) == APL_OK ? schema->count : 0;
    for (unsigned f = 0; f < fields; f++) {
        const struct column_view *column = &view.columns[f];
        uint8_t *entry = bytes + HEAD + ENTRY * f;
        store_le(entry + 32, hash_xxh3_64(column->coded, column->coded_bytes), 8);
        view.columns[f].coded_sum = load_le(entry + 32, 8);
        repair_raw_sum(&bc, schema, &view, f, entry);
    }
    block_coder_free(&bc);
    repair_head(bytes, size);
}
