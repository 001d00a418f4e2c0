/* PNG files of the plain kind: see png_plain.h. */
#include "png_plain.h"

#include "inflate.h"
#include "png_filter.h"

#define SIGNATURE_BYTES 8

struct png_chunk {
    const uint8_t *kind, *data; /* side by side */
    size_t size;
    uint32_t crc;
};

/* The chunks of image data: where they begin, and what they hold together. */
struct png_data {
    struct cursor chunks;
    size_t count, bytes;
};

static bool take_chunk(struct cursor *c, struct png_chunk *chunk)
{
    chunk->size = cursor_u32be(c);
    chunk->kind = cursor_take(c, 4);
    chunk->data = cursor_take(c, chunk->size);
    chunk->crc = cursor_u32be(c);
    return cursor_ok(c);
}

static bool is_kind(const struct png_chunk *chunk, const char *kind)
{
    return memcmp(chunk->kind, kind, 4) == 0;
}

static bool crc_agrees(const struct png_chunk *chunk)
{
    return inflate_crc32(chunk->kind, 4 + chunk->size) == chunk->crc;
}

/* Passes over what comes before image data, which was found good. */
static bool find_data(struct cursor *c)
{
    struct png_chunk chunk;
    struct cursor next = *c;
    while (take_chunk(&next, &chunk)) {
        if (is_kind(&chunk, "IDAT"))
            return true;
        *c = next;
    }
    return false;
}

/* Is there one run of good chunks of image data, and then the end? */
static bool take_data(const uint8_t *bytes, size_t size, struct png_data *data)
{
    struct cursor c = cursor_over(bytes, size);
    struct png_chunk chunk;
    cursor_take(&c, SIGNATURE_BYTES);
    if (!find_data(&c))
        return false;
    *data = (struct png_data){.chunks = c};
    while (take_chunk(&c, &chunk) && crc_agrees(&chunk)) {
        if (!is_kind(&chunk, "IDAT"))
            return is_kind(&chunk, "IEND") && chunk.size == 0;
        data->count++;
        data->bytes += chunk.size;
    }
    return false;
}

/* The bytes of all chunks: where they lie, if there is one, else put together in `room`. */
static const uint8_t *gather_data(struct png_data data, uint8_t *room)
{
    struct png_chunk chunk = {.data = NULL};
    size_t at = 0;
    for (size_t i = 0; i < data.count && take_chunk(&data.chunks, &chunk); i++) {
        if (data.count == 1)
            return chunk.data;
        memcpy(room + at, chunk.data, chunk.size);
        at += chunk.size;
    }
    return room;
}

/* Filtered rows, each behind the number of its filter, to samples. `above` the first one are zeros. */
static bool take_filtered_rows(struct raster *s, uint8_t *filtered, const uint8_t *above)
{
    size_t n = (size_t)s->width * s->channels;
    for (uint32_t y = 0; y < s->height;) {
        uint32_t rows = s->height - y < PNG_FILTER_ROWS ? s->height - y : PNG_FILTER_ROWS;
        if (!png_unfilter(filtered, rows, above, n, s->channels))
            return false;
        for (; rows > 0; rows--, y++, filtered += 1 + n)
            raster_take_row(s, y, filtered + 1, s->channels);
        above = filtered - n;
    }
    return true;
}

bool png_plain_read(const uint8_t *bytes, size_t size, struct raster *s)
{
    struct png_data data;
    if (!inflate_exists() || s->bits != 8 || !take_data(bytes, size, &data))
        return false;
    size_t row = (size_t)s->width * s->channels, zeros = row + PNG_FILTER_SLACK, rows = s->height * (1 + row);
    uint8_t *work = scratch_reserve(&s->work, zeros + rows + PNG_FILTER_SLACK + data.bytes);
    if (!work)
        return false;
    memset(work, 0, zeros);
    const uint8_t *stream = gather_data(data, work + zeros + rows + PNG_FILTER_SLACK);
    return inflate_whole(stream, data.bytes, work + zeros, rows) && take_filtered_rows(s, work + zeros, work);
}
