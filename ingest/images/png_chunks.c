/* See png_chunks.h. Lengths are looked at only: the decoders check what the chunks hold. */
#include "png_chunks.h"

#include "bytes.h"
#include "inflate.h"

#define SIGNATURE 8u

/* The next chunk's name, and what it holds; NULL: the end, or less than a chunk. */
static const uint8_t *next_chunk(struct cursor *c, struct cursor *data)
{
    size_t length = cursor_u32be(c);
    const uint8_t *name = cursor_take(c, 4), *bytes = name ? cursor_take(c, length) : NULL;
    if (!bytes || !cursor_take(c, 4))
        return NULL;
    *data = cursor_over(bytes, length);
    return name;
}

static bool is_chunk(const uint8_t *name, const char *wanted)
{
    return memcmp(name, wanted, 4) == 0;
}

bool png_has_end(const uint8_t *bytes, size_t size)
{
    struct cursor c = cursor_over(bytes, size), data;
    const uint8_t *name = cursor_take(&c, SIGNATURE);
    while (name && (name = next_chunk(&c, &data)))
        if (is_chunk(name, "IEND"))
            return true;
    return false;
}

/* The filtered rows of an image, or of one of its passes: a byte each, and pixels of so many bits. */
static uint64_t row_bytes(uint64_t width, uint64_t height, unsigned bits)
{
    return width ? height * (1 + (width * bits + 7) / 8) : 0;
}

/* Of the whole image, by the first chunk. */
static uint64_t data_bytes(const uint8_t *bytes)
{
    static const uint8_t samples[8] = {1, 0, 3, 1, 2, 0, 4, 0};
    static const struct {
        uint8_t left, top, across, down;
    } passes[7] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                   {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    struct cursor c = cursor_over(bytes + SIGNATURE + 8, 13);
    uint64_t width = cursor_u32be(&c), height = cursor_u32be(&c), sum = 0;
    unsigned depth = cursor_u8(&c), bits = depth * samples[cursor_u8(&c) & 7];
    cursor_take(&c, 2);
    if (!cursor_u8(&c))
        return row_bytes(width, height, bits);
    for (unsigned i = 0; i < 7; i++)
        sum += row_bytes((width + passes[i].across - 1 - passes[i].left) / passes[i].across,
                         (height + passes[i].down - 1 - passes[i].top) / passes[i].down, bits);
    return sum;
}

const char *png_data_fault(const uint8_t *bytes, size_t size, struct scratch *room)
{
    struct cursor c = cursor_over(bytes, size), data;
    const uint8_t *name = cursor_take(&c, SIGNATURE);
    uint8_t *all = scratch_reserve(room, size);
    size_t n = 0;
    while (all && name && (name = next_chunk(&c, &data)))
        if (is_chunk(name, "IDAT")) {
            memcpy(all + n, data.at, cursor_left(&data));
            n += cursor_left(&data);
        }
    return n > 0 ? inflate_fault(all, n, data_bytes(bytes)) : NULL;
}

/* acTL tells how many frames there are; fcTL before the pixels, that these are the first of them. */
bool png_has_frames(const uint8_t *bytes, size_t size)
{
    struct cursor c = cursor_over(bytes, size), data;
    const uint8_t *name = cursor_take(&c, SIGNATURE);
    uint32_t frames = 0, shown = 0;
    while (name && (name = next_chunk(&c, &data)) && !is_chunk(name, "IDAT")) {
        if (is_chunk(name, "acTL"))
            frames = cursor_u32be(&data);
        shown |= is_chunk(name, "fcTL");
    }
    return frames > shown;
}
