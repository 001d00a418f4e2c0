/* A JPEG file of what an indexed image has in its segments, the filler beyond its last column included: for libjpeg. */
#ifndef INDEXED_FILE_H
#define INDEXED_FILE_H

#include "bytes.h"
#include "indexed.h"

static inline void indexed_put_marker(struct buffer *out, unsigned marker, size_t size)
{
    const uint8_t head[4] = {0xff, (uint8_t)marker, (uint8_t)((size + 2) >> 8), (uint8_t)(size + 2)};
    buffer_put(out, head, sizeof head);
}

static inline void indexed_put_code(struct buffer *out, const struct huffman *code, unsigned number)
{
    const uint8_t id = (uint8_t)number;
    indexed_put_marker(out, 0xc4, 1 + sizeof code->counts + code->size);
    buffer_put(out, &id, 1);
    buffer_put(out, code->counts, sizeof code->counts);
    buffer_put(out, code->symbols, code->size);
}

static inline uint32_t indexed_file_width(const struct indexed *x)
{
    return x->segments * x->mcus * 8 * x->rendering.frame.across[0];
}

/* Tables, sizes, components; without JFIF's segment if the colours are RGB, which then are told by the names. */
static inline void indexed_put_head(struct buffer *out, const struct indexed *x)
{
    const struct frame *f = &x->rendering.frame;
    uint32_t width = indexed_file_width(x);
    const uint8_t frame[6] = {8,
                              (uint8_t)(f->height >> 8),
                              (uint8_t)f->height,
                              (uint8_t)(width >> 8),
                              (uint8_t)width,
                              (uint8_t)f->components};
    const char *names = x->rendering.colours == IMAGE_RGB ? "RGB" : "\1\2\3";
    buffer_put(out, "\xff\xd8", 2);
    for (unsigned i = 0; i < f->components; i++) {
        const uint8_t id = (uint8_t)i;
        indexed_put_marker(out, 0xdb, 65);
        buffer_put(out, &id, 1);
        buffer_put(out, x->rendering.tables[i], 64);
    }
    indexed_put_marker(out, 0xc0, 6 + 3 * f->components);
    buffer_put(out, frame, sizeof frame);
    for (unsigned i = 0; i < f->components; i++) {
        const uint8_t component[3] = {(uint8_t)names[i], (uint8_t)(f->across[i] << 4 | f->down[i]),
                                      (uint8_t)i};
        buffer_put(out, component, sizeof component);
    }
    for (unsigned i = 0; i < x->codes; i++) {
        indexed_put_code(out, &x->dc[i], i);
        indexed_put_code(out, &x->ac[i], 0x10 | i);
    }
    const uint8_t restart[2] = {0, (uint8_t)x->mcus}, count = (uint8_t)f->components, rest[3] = {0, 63, 0};
    indexed_put_marker(out, 0xdd, sizeof restart);
    buffer_put(out, restart, sizeof restart);
    indexed_put_marker(out, 0xda, 4 + 2 * f->components);
    buffer_put(out, &count, 1);
    for (unsigned i = 0; i < f->components; i++) {
        const uint8_t component[2] = {(uint8_t)names[i], (uint8_t)(i > 0 ? 0x11 : 0)};
        buffer_put(out, component, sizeof component);
    }
    buffer_put(out, rest, sizeof rest);
}

/* To be freed by the caller; `failed` if out of memory. */
static inline struct buffer indexed_file(const struct indexed *x)
{
    struct buffer out = {.data = NULL};
    size_t at = 0, count = (size_t)x->segments * x->rendering.frame.rows;
    indexed_put_head(&out, x);
    for (size_t k = 0; k < count; k++) {
        const uint8_t marker[2] = {0xff, (uint8_t)(k + 1 < count ? 0xd0 + k % 8 : 0xd9)};
        for (size_t end = at + indexed_length(x, k); at < end; at++)
            buffer_put(&out, x->data[at] == 0xff ? "\xff" : (const char *)(x->data + at),
                       x->data[at] == 0xff ? 2 : 1);
        buffer_put(&out, marker, sizeof marker);
    }
    return out;
}

#endif
