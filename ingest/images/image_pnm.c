/* PPM and PGM: a header in text, then samples, as bytes or big-endian words. */
#include "image_kinds.h"

struct pnm {
    uint32_t width, height, most; /* the value that is full */
    struct cursor data;
};

static bool is_blank(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next byte of the header outside comments; -1: the end. */
static int take_letter(struct cursor *c)
{
    const uint8_t *p = cursor_take(c, 1);
    if (p && *p == '#')
        while ((p = cursor_take(c, 1)) && *p != '\n' && *p != '\r')
            ;
    return p ? *p : -1;
}

/* A number of the header, behind blanks, and the one blank behind it; 0: none. */
static uint32_t take_header_number(struct cursor *c)
{
    int letter = take_letter(c);
    uint64_t value = 0;
    while (letter >= 0 && is_blank((uint8_t)letter))
        letter = take_letter(c);
    for (; letter >= '0' && letter <= '9' && value <= UINT32_MAX; letter = take_letter(c))
        value = value * 10 + (unsigned)(letter - '0');
    return letter >= 0 && is_blank((uint8_t)letter) && value <= UINT32_MAX ? (uint32_t)value : 0;
}

static apl_status take_pnm_header(const uint8_t *bytes, size_t size, const char *kind,
                                  struct image_info *info, struct pnm *pnm, apl_error *err)
{
    pnm->data = cursor_over(bytes, size);
    cursor_take(&pnm->data, 2);
    info->width = take_header_number(&pnm->data);
    info->height = take_header_number(&pnm->data);
    pnm->most = take_header_number(&pnm->data);
    info->channels = bytes[1] == '6' ? 3 : 1;
    info->bits = pnm->most > 255 ? 16 : 8;
    info->scaled = pnm->most != (info->bits == 16 ? UINT16_MAX : UINT8_MAX);
    if (!cursor_ok(&pnm->data) || pnm->most == 0 || pnm->most > UINT16_MAX)
        return fail(err, APL_E_CORRUPT, "%s: a damaged header", kind);
    TRY(raster_check(info, kind, size, 1, err));
    if (raster_bytes(info) > cursor_left(&pnm->data))
        return fail(err, APL_E_CORRUPT, "%s: %zu bytes of samples where %zu are expected", kind,
                    cursor_left(&pnm->data), raster_bytes(info));
    return APL_OK;
}

/* To the whole range, rounded. */
static uint32_t scale_level(uint32_t value, uint32_t most, unsigned bits)
{
    uint32_t full = bits == 16 ? UINT16_MAX : UINT8_MAX;
    return (uint32_t)(((uint64_t)value * full + most / 2) / most);
}

static void put_value(uint32_t value, unsigned bits, uint8_t *to)
{
    uint16_t word = (uint16_t)value;
    if (bits == 16)
        memcpy(to, &word, 2);
    else
        *to = (uint8_t)word;
}

/* Values above what is full are damage. */
static bool take_pnm_row(const struct pnm *pnm, const struct image_info *info, const uint8_t *row,
                         uint8_t *to)
{
    bool ok = true;
    for (size_t i = 0; i < (size_t)info->width * info->channels; i++) {
        uint32_t value = info->bits == 16 ? (uint32_t)row[2 * i] << 8 | row[2 * i + 1] : row[i];
        ok &= value <= pnm->most;
        put_value(info->numbers ? value : scale_level(value, pnm->most, info->bits), info->bits,
                  to + i * (info->bits / 8));
    }
    return ok;
}

apl_status image_pnm_read(const uint8_t *bytes, size_t size, struct image_info *info, struct raster *samples,
                          apl_error *err)
{
    struct pnm pnm;
    const char *kind = bytes[1] == '6' ? "PPM" : "PGM";
    TRY(take_pnm_header(bytes, size, kind, info, &pnm, err));
    if (!samples)
        return APL_OK;
    TRY(raster_begin(samples, info, err));
    size_t bytes_of_row = (size_t)info->width * info->channels * (info->bits / 8);
    uint8_t *row = scratch_reserve(&samples->work, bytes_of_row);
    if (!row)
        return fail_nomem(err);
    for (uint32_t y = 0; y < info->height; y++) {
        if (!take_pnm_row(&pnm, info, cursor_take(&pnm.data, bytes_of_row), row))
            return fail(err, APL_E_CORRUPT, "%s: a sample above %u in row %u", kind, pnm.most, y);
        raster_take_row(samples, y, row, info->channels);
    }
    return APL_OK;
}
