/* Memory and limits of decoded images: see raster.h. */
#include "raster.h"

void raster_free(struct raster *s)
{
    scratch_free(&s->planes);
    *s = (struct raster){.data = NULL};
}

void raster_exchange(struct raster *s, struct scratch *spare, uint32_t height, uint32_t width)
{
    struct scratch old = s->planes;
    s->planes = *spare;
    *spare = old;
    s->data = s->planes.data;
    s->height = height;
    s->width = width;
}

size_t raster_bytes(const struct image_info *info)
{
    return (size_t)info->channels * info->height * info->width * (info->bits / 8);
}

apl_status raster_check(const struct image_info *info, const char *kind, size_t size, unsigned most,
                        apl_error *err)
{
    uint64_t pixels = (uint64_t)info->width * info->height;
    if (info->width == 0 || info->height == 0)
        return fail(err, APL_E_CORRUPT, "%s: an image of %u x %u pixels", kind, info->width, info->height);
    if (info->width > IMAGE_MAX_SIDE || info->height > IMAGE_MAX_SIDE)
        return fail(err, APL_E_UNSUPPORTED, "%s: %u x %u pixels: a side may have %u", kind, info->width,
                    info->height, IMAGE_MAX_SIDE);
    if (pixels > IMAGE_MAX_PIXELS)
        return fail(err, APL_E_UNSUPPORTED, "%s: %u x %u pixels are more than the %llu that are allowed",
                    kind, info->width, info->height, (unsigned long long)IMAGE_MAX_PIXELS);
    if (pixels / 8 / most > size)
        return fail(err, APL_E_CORRUPT, "%s: claims %u x %u pixels, which %zu bytes cannot hold", kind,
                    info->width, info->height, size);
    return APL_OK;
}

apl_status raster_begin(struct raster *s, const struct image_info *info, apl_error *err)
{
    s->channels = info->channels;
    s->height = info->height;
    s->width = info->width;
    s->bits = info->bits;
    s->data = scratch_reserve(&s->planes, raster_bytes(info));
    return s->data ? APL_OK : fail_nomem(err);
}

static void take_bytes_apart(uint8_t *to, const uint8_t *row, uint32_t width, unsigned step)
{
    for (uint32_t x = 0; x < width; x++)
        to[x] = row[(size_t)x * step];
}

static void take_words_apart(uint8_t *to, const uint8_t *row, uint32_t width, unsigned step)
{
    for (uint32_t x = 0; x < width; x++)
        memcpy(to + 2 * (size_t)x, row + 2 * (size_t)x * step, 2);
}

void raster_take_channel(struct raster *s, unsigned channel, uint32_t y, const uint8_t *row, unsigned step)
{
    size_t bytes = s->bits / 8, line = (size_t)channel * s->height + y;
    uint8_t *to = s->data + line * s->width * bytes;
    if (step == 1)
        memcpy(to, row, s->width * bytes);
    else if (bytes == 1)
        take_bytes_apart(to, row, s->width, step);
    else
        take_words_apart(to, row, s->width, step);
}

/* Three bytes a pixel, as most images have them, in one go. */
static void take_rgb(const struct raster *s, uint32_t y, const uint8_t *row)
{
    size_t plane = (size_t)s->height * s->width;
    uint8_t *red = s->data + (size_t)y * s->width, *green = red + plane, *blue = green + plane;
    for (uint32_t x = 0; x < s->width; x++, row += 3) {
        red[x] = row[0];
        green[x] = row[1];
        blue[x] = row[2];
    }
}

void raster_take_row(struct raster *s, uint32_t y, const uint8_t *row, unsigned step)
{
    if (s->channels == 3 && step == 3 && s->bits == 8) {
        take_rgb(s, y, row);
        return;
    }
    for (unsigned c = 0; c < s->channels; c++)
        raster_take_channel(s, c, y, row + c * (s->bits / 8), step);
}

void raster_take_packed(struct raster *s, uint32_t y, uint32_t x, const uint8_t *packed, uint32_t count,
                        unsigned depth)
{
    size_t bytes = s->bits / 8;
    uint8_t *to = s->data + ((size_t)y * s->width + x) * bytes;
    if (depth >= 8) {
        memcpy(to, packed, count * bytes);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        size_t bit = (size_t)i * depth;
        to[i] = (uint8_t)(packed[bit / 8] >> (8 - depth - bit % 8) & ((1u << depth) - 1));
    }
}
