/* Putting a JPEG file together: see cut.h. */
#include "cut.h"

#define BEHIND      4096u /* bytes behind the end */
#define MOST_HEADER 2048u
#define UNIT        8u /* pixels of a block's side */

/* Rows of MCUs, and segments of a row, that are cut out. */
struct range {
    uint32_t first, end;
};

/* ------------------------------------------------------------------------------------------------ header */

static void put_be16(struct buffer *b, uint32_t v)
{
    buffer_le(b, v >> 8 & 0xff, 1);
    buffer_le(b, v & 0xff, 1);
}

static void put_marker(struct buffer *b, unsigned marker, size_t payload)
{
    buffer_le(b, 0xff, 1);
    buffer_le(b, marker, 1);
    put_be16(b, (uint32_t)payload + 2);
}

static void put_code_table(struct buffer *b, unsigned which, const struct huffman *code)
{
    put_marker(b, 0xc4, 1 + HUFFMAN_LONGEST + code->size);
    buffer_le(b, which, 1);
    buffer_put(b, code->counts, HUFFMAN_LONGEST);
    buffer_put(b, code->symbols, code->size);
}

/* Libjpeg tells colours by these. */
static unsigned component_id(const struct indexed *x, unsigned component)
{
    return x->colours == INDEXED_IS_RGB ? (unsigned)"RGB"[component] : component + 1;
}

static void put_frame(struct buffer *b, const struct indexed *x, uint32_t width, uint32_t height)
{
    unsigned n = x->frame.components;
    put_marker(b, 0xc0, 6 + 3 * (size_t)n);
    buffer_le(b, 8, 1);
    put_be16(b, height);
    put_be16(b, width);
    buffer_le(b, n, 1);
    for (unsigned i = 0; i < n; i++) {
        buffer_le(b, component_id(x, i), 1);
        buffer_le(b, (unsigned)x->frame.across[i] << 4 | x->frame.down[i], 1);
        buffer_le(b, i < x->tables ? i : x->tables - 1, 1);
    }
}

static void put_scan_header(struct buffer *b, const struct indexed *x)
{
    unsigned n = x->frame.components;
    put_marker(b, 0xdd, 2);
    put_be16(b, x->mcus);
    put_marker(b, 0xda, 4 + 2 * (size_t)n);
    buffer_le(b, n, 1);
    for (unsigned i = 0; i < n; i++) {
        buffer_le(b, component_id(x, i), 1);
        buffer_le(b, i > 0 ? 0x11 : 0, 1);
    }
    buffer_le(b, 63 << 8, 3);
}

static void put_header(struct buffer *b, const struct indexed *x, uint32_t width, uint32_t height)
{
    put_be16(b, 0xffd8);
    for (unsigned i = 0; i < x->tables; i++) {
        put_marker(b, 0xdb, 1 + BLOCK_VALUES);
        buffer_le(b, i, 1);
        buffer_put(b, x->table[i], BLOCK_VALUES);
    }
    put_frame(b, x, width, height);
    for (unsigned i = 0; i < x->codes; i++) {
        put_code_table(b, i, &x->dc[i]);
        put_code_table(b, 0x10 | i, &x->ac[i]);
    }
    put_scan_header(b, x);
}

/* ---------------------------------------------------------------------------------------------- segments */

/* Copies a segment, with a zero after each 0xff; `out` has room for twice as much. */
static uint8_t *stuff(const uint8_t *at, size_t bytes, uint8_t *out)
{
    const uint8_t *end = at + bytes;
    for (;;) {
        const uint8_t *mark = memchr(at, 0xff, (size_t)(end - at));
        size_t n = (size_t)(mark ? mark + 1 - at : end - at);
        memcpy(out, at, n);
        out += n;
        at += n;
        if (!mark)
            return out;
        *out++ = 0;
    }
}

/* Bytes of the segments first ... end-1. */
static size_t bytes_between(const struct indexed *x, size_t first, size_t end)
{
    size_t bytes = 0;
    for (; first < end; first++)
        bytes += indexed_length(x, first);
    return bytes;
}

static bool put_segment_rows(struct buffer *b, const struct indexed *x, struct range rows,
                             struct range across)
{
    size_t stride = x->segments, at = bytes_between(x, 0, rows.first * stride + across.first), number = 0;
    for (size_t row = rows.first; row < rows.end; row++) {
        size_t first = row * stride + across.first, end = row * stride + across.end;
        size_t bytes = bytes_between(x, first, end);
        if (!buffer_reserve(b, 2 * bytes + 2 * (end - first)))
            return false;
        uint8_t *out = b->data + b->size;
        for (; first < end; first++) {
            unsigned length = indexed_length(x, first);
            out = stuff(x->data + at, length, out);
            *out++ = 0xff;
            *out++ = (uint8_t)(0xd0 + number++ % 8);
            at += length;
        }
        b->size = (size_t)(out - b->data);
        if (row + 1 < rows.end) /* those between this row's and the next */
            at += bytes_between(x, end, end + stride - (across.end - across.first));
    }
    return true;
}

/* -------------------------------------------------------------------------------------------------- file */

static struct range touched_by(uint32_t from, uint32_t length, uint32_t unit, uint32_t most)
{
    uint64_t end = ((uint64_t)from + length + unit - 1) / unit;
    return (struct range){from / unit, end < most ? (uint32_t)end : most};
}

apl_status cut_make(struct cut *cut, const struct indexed *x, const struct jpeg_region *region,
                    apl_error *err)
{
    struct buffer *b = &cut->file;
    uint32_t across = UNIT * x->frame.across[0] * x->mcus, down = UNIT * x->frame.down[0];
    struct range columns = touched_by(region->left, region->width, across, x->segments);
    struct range rows = touched_by(region->top, region->height, down, x->frame.rows);
    cut->left = columns.first * across;
    cut->top = rows.first * down;
    uint32_t height = (rows.end - rows.first) * down, left = x->frame.height - cut->top;
    b->size = 0;
    b->failed = false;
    if (!buffer_reserve(b, MOST_HEADER))
        return fail_nomem(err);
    put_header(b, x, (columns.end - columns.first) * across, height < left ? height : left);
    if (!put_segment_rows(b, x, rows, columns) || !buffer_reserve(b, BEHIND))
        return fail_nomem(err);
    b->data[b->size - 1] = 0xd9; /* in the place of the last restart marker: the end */
    memset(b->data + b->size, 0, BEHIND);
    b->size += BEHIND;
    return APL_OK;
}

void cut_free(struct cut *cut)
{
    buffer_free(&cut->file);
}
