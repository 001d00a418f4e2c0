/* Planes come as indexed_planes.h has them. For pixels, those of the whole region are gathered first. See indexed_decoder.h. */
#include "indexed_decoder.h"

#include "interpolate.h"
#include "scratch.h"
#include "status.h"

#include <math.h>

#define STRIP 8 /* rows of a band of pixels */

struct indexed_decoder {
    struct indexed_planes *planes;
    struct indexed image;
    bool pixels;
    struct interpolation exact;
    struct scratch whole, lines;
    uint8_t *room[JPEG_PLANES]; /* for the next row of each plane */
    uint32_t columns[JPEG_PLANES];
    uint32_t row, end;    /* the next row of pixels, and behind the last one */
    uint32_t from, count; /* columns */
    uint8_t *chroma, *rows[JPEG_PLANES][STRIP];
};

struct indexed_decoder *indexed_decoder_new(enum cpu_variant variant)
{
    struct indexed_decoder *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->planes = indexed_planes_new(variant);
    if (!d->planes) {
        free(d);
        return NULL;
    }
    return d;
}

void indexed_decoder_free(struct indexed_decoder *d)
{
    if (!d)
        return;
    indexed_planes_free(d->planes);
    scratch_free(&d->whole);
    scratch_free(&d->lines);
    free(d);
}

apl_status indexed_decoder_open(struct indexed_decoder *d, const struct indexed *image, apl_error *err)
{
    d->image = *image;
    return indexed_planes_open(d->planes, image, err);
}

/* ---------------------------------------------------------------------------------------------- gathering */

/* With an MCU more on each side: interpolation does not reach further. */
static struct jpeg_region with_context(const struct frame *f, struct jpeg_region r)
{
    uint32_t across = 8u * f->across[0], down = 8u * f->down[0];
    uint32_t right = indexed_least(r.left + r.width + across, f->width);
    uint32_t bottom = indexed_least(r.top + r.height + down, f->height);
    uint32_t left = r.left - indexed_least(r.left, across), top = r.top - indexed_least(r.top, down);
    return (struct jpeg_region){.left = left, .top = top, .width = right - left, .height = bottom - top};
}

/* Room for the samples of the region's planes. */
static bool reserve_whole(struct indexed_decoder *d, struct jpeg_region r, const struct jpeg_planes *planes)
{
    size_t rows[JPEG_PLANES], size = 0;
    for (unsigned i = 0; i < JPEG_PLANES; i++) {
        const struct jpeg_plane *p = &planes->plane[i];
        rows[i] = (size_t)(r.height / p->step_down) + 2 * JPEG_BAND_ROWS;
        d->exact.plane[i].stride = scratch_round((size_t)(r.width / p->step_across) + 2 * JPEG_BAND_ROWS);
        d->exact.plane[i].left = p->from;
        d->exact.plane[i].width = p->width;
        d->exact.plane[i].height = p->height;
        d->columns[i] =
            indexed_least((uint32_t)ceil((r.left + r.width) / p->step_across), p->width) - p->from;
        size += rows[i] * d->exact.plane[i].stride;
    }
    uint8_t *at = scratch_reserve(&d->whole, size);
    for (unsigned i = 0; at && i < JPEG_PLANES; i++) {
        d->exact.plane[i].samples = d->room[i] = at;
        at += rows[i] * d->exact.plane[i].stride;
    }
    return at;
}

static apl_status take_planes(struct indexed_decoder *d, apl_error *err)
{
    struct jpeg_band band;
    for (bool first = true;; first = false) {
        TRY(indexed_planes_next(d->planes, &band, err));
        if (band.plane[0].count == 0)
            return APL_OK;
        for (unsigned i = 0; i < JPEG_PLANES; i++) {
            if (first)
                d->exact.plane[i].top = band.plane[i].first;
            for (uint32_t k = 0; k < band.plane[i].count; k++, d->room[i] += d->exact.plane[i].stride)
                memcpy(d->room[i], band.plane[i].rows[k], d->columns[i]);
        }
    }
}

/* ----------------------------------------------------------------------------------------------- pixels */

static bool reserve_lines(struct indexed_decoder *d)
{
    size_t line = scratch_round(d->count + JPEG_ROW_SLACK), chroma = scratch_round(2 * (size_t)d->count);
    uint8_t *at = scratch_reserve(&d->lines, chroma + JPEG_PLANES * STRIP * line);
    if (!at)
        return false;
    d->chroma = at;
    at += chroma;
    for (unsigned i = 0; i < JPEG_PLANES; i++)
        for (unsigned k = 0; k < STRIP; k++, at += line)
            d->rows[i][k] = at;
    return true;
}

static void place_pixels(struct indexed_decoder *d, struct jpeg_region r, unsigned eighths,
                         struct jpeg_planes *planes)
{
    struct jpeg_plane p = planes->plane[0];
    d->from = (uint32_t)((uint64_t)r.left * eighths / 8);
    d->row = (uint32_t)((uint64_t)r.top * eighths / 8);
    d->count = (uint32_t)((((uint64_t)r.left + r.width) * eighths + 7) / 8) - d->from;
    d->end = (uint32_t)((((uint64_t)r.top + r.height) * eighths + 7) / 8);
    p.band_rows = STRIP;
    p.from = d->from;
    *planes = (struct jpeg_planes){.count = JPEG_PLANES, .plane = {p, p, p}};
}

static apl_status start_exact(struct indexed_decoder *d, struct jpeg_region region, unsigned eighths,
                              struct jpeg_planes *planes, apl_error *err)
{
    struct jpeg_region wider = with_context(&d->image.rendering.frame, region);
    TRY(indexed_planes_start(d->planes, wider, eighths, planes, err));
    d->exact.across = (unsigned)(planes->plane[1].step_across / planes->plane[0].step_across);
    d->exact.down = (unsigned)(planes->plane[1].step_down / planes->plane[0].step_down);
    d->exact.smooth = eighths > 1;
    if (!reserve_whole(d, wider, planes))
        return fail_nomem(err);
    place_pixels(d, region, eighths, planes);
    if (!reserve_lines(d))
        return fail_nomem(err);
    return take_planes(d, err);
}

static void next_strip(struct indexed_decoder *d, struct jpeg_band *band)
{
    uint32_t count = indexed_least(STRIP, d->end - d->row);
    for (unsigned i = 0; i < JPEG_PLANES; i++) {
        band->plane[i].first = d->row;
        band->plane[i].count = count;
        band->plane[i].rows = d->rows[i];
    }
    for (uint32_t k = 0; k < count; k++) {
        uint8_t *const rgb[3] = {d->rows[0][k], d->rows[1][k], d->rows[2][k]};
        interpolate_row(&d->exact, d->row + k, d->from, d->count, d->chroma, rgb);
    }
    d->row += count;
}

apl_status indexed_decoder_start(struct indexed_decoder *d, struct jpeg_region region, unsigned eighths,
                                 enum jpeg_chroma chroma, struct jpeg_planes *planes, apl_error *err)
{
    d->pixels = chroma == JPEG_CHROMA_EXACT && d->image.rendering.colours == IMAGE_YCC;
    if (d->pixels)
        return start_exact(d, region, eighths, planes, err);
    return indexed_planes_start(d->planes, region, eighths, planes, err);
}

apl_status indexed_decoder_next(struct indexed_decoder *d, struct jpeg_band *band, apl_error *err)
{
    if (!d->pixels)
        return indexed_planes_next(d->planes, band, err);
    next_strip(d, band);
    return APL_OK;
}
