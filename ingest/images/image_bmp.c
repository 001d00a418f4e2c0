/* BMP: palettes of 1, 4 and 8 bits, and 16, 24 and 32 bits a pixel, not compressed; from the bottom up or the top down. */
#include "image_kinds.h"

#define FILE_HEADER 14u
#define CORE_HEADER 12u /* OS/2's: sides of 16 bits */
#define INFO_HEADER 40u

enum { BMP_RGB = 0, BMP_FIELDS = 3, BMP_ALPHA_FIELDS = 6 };

struct bmp {
    uint32_t offset, header, bits, compression, colours;
    bool top_down;
    uint32_t mask[4]; /* red, green, blue, alpha */
    const uint8_t *palette;
    unsigned entry; /* bytes of one of the palette */
};

static apl_status bad_bmp(const char *what, apl_error *err)
{
    return fail(err, APL_E_CORRUPT, "BMP: %s", what);
}

static void take_sides(struct cursor *c, struct bmp *bmp, struct image_info *info)
{
    bool core = bmp->header == CORE_HEADER;
    info->width = core ? cursor_u16(c) : cursor_u32(c);
    int64_t height = core ? cursor_u16(c) : (int32_t)cursor_u32(c);
    bmp->top_down = height < 0;
    info->height = (uint32_t)(height < 0 ? -height : height);
    cursor_u16(c); /* planes */
    bmp->bits = cursor_u16(c);
    bmp->compression = core ? BMP_RGB : cursor_u32(c);
    if (!core)
        cursor_take(c, 12); /* bytes, and pixels a metre */
    bmp->colours = core ? 0 : cursor_u32(c);
    if (!core)
        cursor_u32(c); /* colours that matter */
}

/* Masks lie behind a header of 40 bytes, and in longer ones. */
static void take_masks(struct cursor *c, struct bmp *bmp)
{
    static const uint32_t usual[4] = {0xff0000, 0xff00, 0xff, 0}, narrow[4] = {0x7c00, 0x3e0, 0x1f, 0};
    memcpy(bmp->mask, bmp->bits == 16 ? narrow : usual, sizeof bmp->mask);
    if (bmp->compression == BMP_RGB)
        return;
    for (unsigned i = 0; i < 3; i++)
        bmp->mask[i] = cursor_u32(c);
    if (bmp->compression == BMP_ALPHA_FIELDS || bmp->header >= INFO_HEADER + 16)
        bmp->mask[3] = cursor_u32(c);
}

static apl_status take_palette(const uint8_t *bytes, size_t size, struct bmp *bmp, apl_error *err)
{
    uint32_t most = 1u << bmp->bits, count = bmp->colours ? bmp->colours : most;
    size_t at = (size_t)FILE_HEADER + bmp->header;
    bmp->entry = bmp->header == CORE_HEADER ? 3 : 4;
    if (count > most || at > size || (uint64_t)count * bmp->entry > size - at)
        return bad_bmp("a damaged palette", err);
    bmp->colours = count;
    bmp->palette = bytes + at;
    return APL_OK;
}

static apl_status check_bmp(const struct bmp *bmp, apl_error *err)
{
    bool palette = bmp->bits == 1 || bmp->bits == 4 || bmp->bits == 8;
    if (!palette && bmp->bits != 16 && bmp->bits != 24 && bmp->bits != 32)
        return fail(err, APL_E_UNSUPPORTED, "BMP: %u bits a pixel", bmp->bits);
    bool fields = bmp->compression == BMP_FIELDS || bmp->compression == BMP_ALPHA_FIELDS;
    if (bmp->compression != BMP_RGB && !(fields && (bmp->bits == 16 || bmp->bits == 32)))
        return fail(err, APL_E_UNSUPPORTED, "BMP: compression %u", bmp->compression);
    return APL_OK;
}

static uint32_t bmp_row_bytes(const struct bmp *bmp, uint32_t width)
{
    return (uint32_t)(((uint64_t)width * bmp->bits + 31) / 32 * 4);
}

static apl_status take_bmp_header(const uint8_t *bytes, size_t size, struct bmp *bmp, struct image_info *info,
                                  apl_error *err)
{
    struct cursor c = cursor_over(bytes, size);
    cursor_take(&c, 10); /* what it is, its size */
    bmp->offset = cursor_u32(&c);
    bmp->header = cursor_u32(&c);
    if (!cursor_ok(&c) || (bmp->header != CORE_HEADER && (bmp->header < INFO_HEADER || bmp->header > 4096)))
        return bad_bmp("a damaged header", err);
    take_sides(&c, bmp, info);
    take_masks(&c, bmp);
    if (!cursor_ok(&c))
        return bad_bmp("a damaged header", err);
    TRY(check_bmp(bmp, err));
    info->palette = bmp->bits <= 8;
    info->channels = bmp->mask[3] && bmp->bits > 8 ? 4 : 3;
    if (bmp->bits <= 8 && info->numbers)
        info->channels = 1;
    if (bmp->bits <= 8)
        TRY(take_palette(bytes, size, bmp, err));
    TRY(raster_check(info, "BMP", size, 8, err));
    uint64_t need = (uint64_t)bmp_row_bytes(bmp, info->width) * info->height;
    if (bmp->offset > size || need > size - bmp->offset)
        return bad_bmp("ends before its last row", err);
    return APL_OK;
}

/* The bits of a mask, to the whole range of a byte, rounded. */
static uint8_t masked(uint32_t pixel, uint32_t mask)
{
    if (!mask)
        return 0;
    unsigned low = (unsigned)__builtin_ctz(mask);
    uint64_t most = mask >> low, value = (pixel & mask) >> low;
    return (uint8_t)((value * 255 + most / 2) / most);
}

static bool take_indices(const struct bmp *bmp, const struct image_info *info, const uint8_t *row,
                         uint8_t *to)
{
    bool ok = true;
    for (uint32_t x = 0; x < info->width; x++, to += 3) {
        size_t bit = (size_t)x * bmp->bits;
        uint32_t index = (uint32_t)row[bit / 8] >> (8 - bmp->bits - bit % 8) & ((1u << bmp->bits) - 1);
        ok &= index < bmp->colours;
        const uint8_t *colour = bmp->palette + (size_t)(index < bmp->colours ? index : 0) * bmp->entry;
        to[0] = colour[2], to[1] = colour[1], to[2] = colour[0];
    }
    return ok;
}

static void take_pixels(const struct bmp *bmp, const struct image_info *info, const uint8_t *row, uint8_t *to)
{
    unsigned bytes = bmp->bits / 8;
    for (uint32_t x = 0; x < info->width; x++, row += bytes, to += info->channels)
        for (unsigned c = 0; c < info->channels; c++)
            to[c] = masked((uint32_t)load_le(row, bytes), bmp->mask[c]);
}

apl_status image_bmp_read(const uint8_t *bytes, size_t size, struct image_info *info, struct raster *samples,
                          apl_error *err)
{
    struct bmp bmp = {.offset = 0};
    TRY(take_bmp_header(bytes, size, &bmp, info, err));
    if (!samples)
        return APL_OK;
    TRY(raster_begin(samples, info, err));
    uint8_t *row = scratch_reserve(&samples->work, (size_t)info->width * info->channels);
    if (!row)
        return fail_nomem(err);
    for (uint32_t k = 0; k < info->height; k++) {
        const uint8_t *from = bytes + bmp.offset + (size_t)k * bmp_row_bytes(&bmp, info->width);
        uint32_t y = bmp.top_down ? k : info->height - 1 - k;
        if (info->channels == 1) {
            raster_take_packed(samples, y, 0, from, info->width, bmp.bits);
            continue;
        }
        if (bmp.bits > 8)
            take_pixels(&bmp, info, from, row);
        else if (!take_indices(&bmp, info, from, row))
            return bad_bmp("a colour that its palette lacks", err);
        raster_take_row(samples, y, row, info->channels);
    }
    return APL_OK;
}
