/* See png_chunks.h. Lengths are looked at only: the decoders check what the chunks hold. */
#include "png_chunks.h"

#include "bytes.h"

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
