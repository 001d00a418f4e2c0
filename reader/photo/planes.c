/* Rows of an image where they lie; those near its end are copied, since a row of a band has slack behind it. */
#include "planes.h"

void planes_free(struct plane_bands *b)
{
    scratch_free(&b->slack);
}

bool planes_ok(const struct photo_pixels *image)
{
    uint64_t pixels = (uint64_t)image->width * image->height;
    return image->channels >= 1 && image->channels <= 4 && pixels > 0 && pixels <= JPEG_MAX_PIXELS &&
           pixels * image->channels <= image->bytes;
}

bool planes_start(struct plane_bands *b, const struct photo_pixels *image, struct jpeg_region region,
                  struct jpeg_planes *planes)
{
    b->image = *image;
    b->count = image->channels < 3 ? 1 : 3;
    b->next = region.top;
    b->end = region.top + region.height;
    *planes = (struct jpeg_planes){.count = b->count};
    for (unsigned i = 0; i < b->count; i++)
        planes->plane[i] = (struct jpeg_plane){.width = image->width,
                                               .height = image->height,
                                               .step_across = 1,
                                               .step_down = 1,
                                               .band_rows = JPEG_BAND_ROWS};
    size_t row = scratch_round((size_t)image->width + JPEG_ROW_SLACK);
    return scratch_reserve(&b->slack, (size_t)b->count * JPEG_BAND_ROWS * row) != NULL;
}

/* Where row y of a plane can be read, with slack behind it; `k` is its place in the band. */
static uint8_t *row_of(struct plane_bands *b, unsigned plane, uint32_t y, uint32_t k)
{
    const struct photo_pixels *image = &b->image;
    size_t at = ((size_t)plane * image->height + y) * image->width;
    if (image->bytes - at >= (size_t)image->width + JPEG_ROW_SLACK)
        return (uint8_t *)(uintptr_t)(image->data + at); /* which is only read */
    size_t stride = scratch_round((size_t)image->width + JPEG_ROW_SLACK);
    uint8_t *copy = b->slack.data + ((size_t)plane * JPEG_BAND_ROWS + k) * stride;
    memcpy(copy, image->data + at, image->width);
    return copy;
}

void planes_next(struct plane_bands *b, struct jpeg_band *band)
{
    uint32_t left = b->end - b->next, count = left < JPEG_BAND_ROWS ? left : JPEG_BAND_ROWS;
    *band = (struct jpeg_band){0};
    for (unsigned i = 0; i < b->count; i++) {
        for (uint32_t k = 0; k < count; k++)
            b->rows[i][k] = row_of(b, i, b->next + k, k);
        band->plane[i].first = b->next;
        band->plane[i].count = count;
        band->plane[i].rows = b->rows[i];
    }
    b->next += count;
}
