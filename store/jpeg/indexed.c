/* Checking the layout of an indexed image: see indexed.h. */
#include "indexed.h"

static const struct {
    uint8_t components, across, down;
} samplings[] = {
    [INDEXED_GREY] = {1, 1, 1}, [INDEXED_444] = {3, 1, 1}, [INDEXED_422] = {3, 2, 1},
    [INDEXED_420] = {3, 2, 2},  [INDEXED_440] = {3, 1, 2},
};
#define SAMPLINGS (sizeof samplings / sizeof samplings[0])

enum indexed_sampling indexed_sampling_of(const struct frame *f)
{
    if (f->components == 1)
        return INDEXED_GREY;
    return f->across[0] == 2 ? (f->down[0] == 2 ? INDEXED_420 : INDEXED_422)
                             : (f->down[0] == 2 ? INDEXED_440 : INDEXED_444);
}

unsigned indexed_least_bytes(const struct frame *f, unsigned mcus)
{
    return (mcus * frame_blocks(f) * 2 + 7) / 8;
}

static apl_status bad_index(const char *what, apl_error *err)
{
    return fail(err, APL_E_CORRUPT, "indexed JPEG: %s", what);
}

static apl_status take_indexed_head(struct cursor *c, size_t size, struct indexed *x, size_t *end,
                                    apl_error *err)
{
    unsigned layout = cursor_u8(c), sampling = cursor_u8(c), colours = cursor_u8(c);
    struct frame *f = &x->rendering.frame;
    x->mcus = cursor_u8(c);
    f->width = cursor_u16(c);
    f->height = cursor_u16(c);
    *end = cursor_u32(c);
    unsigned tables = cursor_u8(c);
    if (!cursor_ok(c) || layout != INDEXED_LAYOUT)
        return bad_index("it has no layout that is known", err);
    if (sampling >= SAMPLINGS || colours > IMAGE_RGB || (sampling == INDEXED_GREY) != (colours == IMAGE_GREY))
        return bad_index("impossible sampling or colours", err);
    x->rendering.colours = (enum image_colours)colours;
    f->components = samplings[sampling].components;
    memset(f->across, 1, f->components);
    memset(f->down, 1, f->components);
    f->across[0] = samplings[sampling].across;
    f->down[0] = samplings[sampling].down;
    x->tables_bytes = (size_t)BLOCK_VALUES * tables;
    if (x->mcus < 1 || x->mcus > INDEXED_MOST_SEGMENT || tables < 1 || tables > f->components || *end > size)
        return bad_index("impossible sizes", err);
    if (!f->width || !f->height || (uint64_t)f->width * f->height > INDEXED_MOST_PIXELS)
        return bad_index("impossible width or height", err);
    frame_measure(f);
    x->segments = (f->columns + x->mcus - 1) / x->mcus;
    return APL_OK;
}

static apl_status take_tables(struct cursor *c, struct indexed *x, apl_error *err)
{
    struct rendering *r = &x->rendering;
    x->tables = cursor_take(c, x->tables_bytes);
    if (!x->tables || memchr(x->tables, 0, x->tables_bytes))
        return bad_index("no tables of quantisation", err);
    for (size_t i = 0, at = 0; i < r->frame.components; i++) {
        memcpy(r->tables[i], x->tables + at, BLOCK_VALUES);
        at += at + BLOCK_VALUES < x->tables_bytes ? BLOCK_VALUES : 0;
    }
    x->codes = r->frame.components == 1 ? 1 : 2;
    for (unsigned i = 0; i < x->codes; i++)
        if (!huffman_take(c, HUFFMAN_DC, &x->dc[i]) || !huffman_take(c, HUFFMAN_AC, &x->ac[i]))
            return bad_index("no Huffman codes", err);
    return APL_OK;
}

static apl_status take_lengths(struct cursor *c, struct indexed *x, apl_error *err)
{
    uint64_t count = (uint64_t)x->segments * x->rendering.frame.rows, sum = 0;
    unsigned least = indexed_least_bytes(&x->rendering.frame, x->mcus), shortest = UINT16_MAX;
    x->lengths = count <= cursor_left(c) / 2 ? cursor_take(c, (size_t)count * 2) : NULL;
    if (!x->lengths)
        return bad_index("its index is cut off", err);
    for (uint64_t k = 0; k < count; k++) {
        unsigned length = indexed_length(x, (size_t)k);
        sum += length;
        shortest = length < shortest ? length : shortest;
    }
    if (shortest < least || sum != cursor_left(c))
        return bad_index("its index and its segments do not agree", err);
    x->data = c->at;
    x->data_bytes = cursor_left(c);
    return APL_OK;
}

apl_status indexed_parse(const uint8_t *bytes, size_t size, struct indexed *x, apl_error *err)
{
    struct cursor c = cursor_over(bytes, size);
    size_t end;
    *x = (struct indexed){.tables = NULL};
    TRY(take_indexed_head(&c, size, x, &end, err));
    c = cursor_over(bytes, end);
    (void)cursor_take(&c, INDEXED_HEAD);
    TRY(take_tables(&c, x, err));
    TRY(take_lengths(&c, x, err));
    x->restoring = bytes + end;
    x->restoring_bytes = size - end;
    return APL_OK;
}
