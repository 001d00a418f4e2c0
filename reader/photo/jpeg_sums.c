/* Sums over the pixels of JPEG images: see jpeg_sums.h. */
#include "jpeg_sums.h"

#include "byte_sums.h"
#include "status.h"

static void add_rows(struct colour_sums *sums, unsigned colour, uint8_t *const *rows, uint32_t count,
                     uint32_t width)
{
    for (uint32_t k = 0; k < count; k++) {
        struct byte_sums row = byte_sums(rows[k], width);
        sums->sum[colour] += (int64_t)row.sum;
        sums->squares[colour] += row.squares;
    }
}

static apl_status add_bands(struct jpeg_decoder *d, const struct jpeg_info *info, struct colour_sums *sums,
                            apl_error *err)
{
    struct jpeg_region all = {0, 0, info->width, info->height};
    struct jpeg_planes planes;
    struct jpeg_band band;
    TRY(jpeg_decoder_start(d, all, 8, JPEG_CHROMA_PIXELS, &planes, err));
    for (uint32_t rows = 0; rows < info->height; rows += band.plane[0].count) {
        TRY(jpeg_decoder_next(d, &band, err));
        if (band.plane[0].count == 0)
            return fail(err, APL_E_CORRUPT, "JPEG: ends before its last row");
        for (unsigned c = 0; c < COLOURS; c++) {
            unsigned plane = planes.count == 1 ? 0 : c;
            add_rows(sums, c, band.plane[plane].rows, band.plane[plane].count, info->width);
        }
    }
    return APL_OK;
}

apl_status jpeg_sums(struct jpeg_decoder *d, const void *bytes, size_t size, struct colour_sums *sums,
                     apl_error *err)
{
    struct jpeg_info info;
    TRY(jpeg_decoder_open(d, bytes, size, &info, err));
    *sums = (struct colour_sums){.images = 1, .pixels = (uint64_t)info.width * info.height};
    apl_status status = add_bands(d, &info, sums, err);
    jpeg_decoder_end(d);
    return status;
}
