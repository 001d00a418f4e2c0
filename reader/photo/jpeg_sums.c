/* Sums over the pixels of JPEG images: see jpeg_sums.h. */
#include "jpeg_sums.h"

#include "byte_sums.h"
#include "jpeg_whole.h"

static void add_rows(struct colour_sums *sums, unsigned colour, uint8_t *const *rows, uint32_t count,
                     uint32_t width)
{
    for (uint32_t k = 0; k < count; k++) {
        struct byte_sums row = byte_sums(rows[k], width);
        sums->sum[colour] += (int64_t)row.sum;
        sums->squares[colour] += row.squares;
    }
}

static void add_band(void *user, const struct jpeg_planes *planes, const struct jpeg_band *band)
{
    struct colour_sums *sums = user;
    for (unsigned c = 0; c < COLOURS; c++) {
        unsigned plane = planes->count == 1 ? 0 : c;
        add_rows(sums, c, band->plane[plane].rows, band->plane[plane].count, planes->plane[plane].width);
    }
}

apl_status jpeg_sums(struct jpeg_decoder *d, const void *bytes, size_t size, struct colour_sums *sums,
                     apl_error *err)
{
    struct jpeg_info info;
    TRY(jpeg_decoder_open(d, bytes, size, &info, err));
    *sums = (struct colour_sums){.images = 1, .pixels = (uint64_t)info.width * info.height};
    apl_status status = jpeg_decode_whole(d, &info, 8, JPEG_CHROMA_PIXELS, add_band, sums, err);
    jpeg_decoder_end(d);
    return status;
}
