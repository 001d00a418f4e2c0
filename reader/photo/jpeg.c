/* Pixels of JPEG images, by libjpeg: see jpeg.h. Headers are in jpeg_header.c. */
#include "jpeg_state.h"
#include "pixels.h"
#include "status.h"

/* Where libjpeg-turbo has the interface of version 8, sizes have two dimensions, which are equal. */
#if JPEG_LIB_VERSION >= 70
#define DCT_SIZE(component) ((component)->DCT_h_scaled_size)
#define LEAST_DCT_SIZE(c)   ((c)->min_DCT_h_scaled_size)
#else
#define DCT_SIZE(component) ((component)->DCT_scaled_size)
#define LEAST_DCT_SIZE(c)   ((c)->min_DCT_scaled_size)
#endif

#define CONTEXT 2  /* pixels beyond a region that interpolated chroma depends on */
#define UNIT    32 /* samples across a unit of a plane, at most */
#define STRIP   8  /* rows of a band of pixels */

/* ------------------------------------------------------------------------------------- planes as stored */

static void describe_planes(const struct jpeg_decoder *d, struct jpeg_planes *planes)
{
    planes->count = (unsigned)d->c.num_components;
    planes->ycc = d->info.colour == JPEG_YCC;
    for (unsigned i = 0; i < planes->count; i++) {
        const jpeg_component_info *p = &d->c.comp_info[i];
        int across = p->h_samp_factor * DCT_SIZE(p), down = p->v_samp_factor * DCT_SIZE(p);
        planes->plane[i] = (struct jpeg_plane){
            .width = p->downsampled_width,
            .height = p->downsampled_height,
            .step_across = (double)(d->c.max_h_samp_factor * DCTSIZE) / across,
            .step_down = (double)(d->c.max_v_samp_factor * DCTSIZE) / down,
            .band_rows = (unsigned)down,
        };
    }
}

/* Room for the rows of a band of each plane, and for units that stick out of the image. */
static bool reserve_rows(struct jpeg_decoder *d, const struct jpeg_planes *planes, size_t pixels)
{
    size_t size = scratch_round(pixels), row[JPEG_PLANES];
    for (unsigned i = 0; i < planes->count; i++) {
        row[i] = scratch_round((size_t)planes->plane[i].width + UNIT + JPEG_ROW_SLACK);
        size += planes->plane[i].band_rows * row[i];
    }
    uint8_t *at = scratch_reserve(&d->rows_memory, size);
    if (!at)
        return false;
    d->pixels = pixels ? at : NULL;
    at += scratch_round(pixels);
    for (unsigned i = 0; i < planes->count; i++)
        for (unsigned k = 0; k < planes->plane[i].band_rows; k++, at += row[i])
            d->rows[i][k] = at;
    return true;
}

static void want_components(struct jpeg_decoder *d, boolean wanted)
{
    for (int i = 0; i < d->c.num_components; i++)
        d->c.comp_info[i].component_needed = wanted;
}

static uint32_t band_height(const struct jpeg_decoder *d)
{
    return (uint32_t)(d->c.max_v_samp_factor * LEAST_DCT_SIZE(&d->c));
}

static uint32_t read_planes(struct jpeg_decoder *d)
{
    JSAMPARRAY rows[JPEG_PLANES] = {d->rows[0], d->rows[1], d->rows[2]};
    return jpeg_read_raw_data(&d->c, rows, band_height(d));
}

/* Rows above the region are decoded as far as to their coefficients: what follows depends on those. */
static void skip_bands(struct jpeg_decoder *d, uint32_t bands)
{
    want_components(d, FALSE);
    for (uint32_t i = 0; i < bands; i++)
        (void)read_planes(d);
    want_components(d, TRUE);
    for (int i = 0; i < d->c.num_components; i++) {
        const jpeg_component_info *p = &d->c.comp_info[i];
        d->next[i] = bands * (uint32_t)(p->v_samp_factor * DCT_SIZE(p));
    }
}

static apl_status start_planes(struct jpeg_decoder *d, struct jpeg_planes *planes, apl_error *err)
{
    uint32_t mcu = (uint32_t)(d->c.max_v_samp_factor * DCTSIZE);
    d->c.raw_data_out = TRUE;
    (void)jpeg_start_decompress(&d->c);
    describe_planes(d, planes);
    if (!reserve_rows(d, planes, 0))
        return fail_nomem(err);
    d->end = (d->region.top + d->region.height + mcu - 1) / mcu * band_height(d);
    skip_bands(d, d->region.top / mcu);
    return APL_OK;
}

static void next_planes(struct jpeg_decoder *d, struct jpeg_band *band)
{
    if (d->c.output_scanline >= d->end || read_planes(d) == 0)
        return;
    for (int i = 0; i < d->c.num_components; i++) {
        const jpeg_component_info *p = &d->c.comp_info[i];
        uint32_t most = (uint32_t)(p->v_samp_factor * DCT_SIZE(p));
        uint32_t left = p->downsampled_height - d->next[i];
        band->plane[i].count = most < left ? most : left;
        d->next[i] += band->plane[i].count;
    }
}

/* ------------------------------------------------------------------------------------- pixels, all channels */

/* Columns of libjpeg begin where its units do; interpolation at a margin is right further in. With
 * sampling factors of 4, libjpeg-turbo 2.1.5 gets some pixels wrong: not for those. */
static uint32_t crop_columns(struct jpeg_decoder *d, unsigned eighths)
{
    uint64_t end = ((uint64_t)d->region.left + d->region.width) * eighths;
    uint32_t left = (uint32_t)((uint64_t)d->region.left * eighths / 8);
    JDIMENSION from = left < CONTEXT ? 0 : left - CONTEXT, right = (JDIMENSION)((end + 7) / 8) + CONTEXT;
    right = right < d->c.output_width ? right : d->c.output_width;
    JDIMENSION width = right - from;
    jpeg_crop_scanline(&d->c, &from, &width);
    return from;
}

static void skip_rows(struct jpeg_decoder *d, unsigned eighths)
{
    uint32_t top = (uint32_t)((uint64_t)d->region.top * eighths / 8);
    uint64_t end = (((uint64_t)d->region.top + d->region.height) * eighths + 7) / 8;
    d->end = end < d->c.output_height ? (uint32_t)end : d->c.output_height;
    if (top > CONTEXT)
        (void)jpeg_skip_scanlines(&d->c, top - CONTEXT);
    for (int i = 0; i < JPEG_PLANES; i++)
        d->next[i] = d->c.output_scanline;
}

static apl_status start_pixels(struct jpeg_decoder *d, unsigned eighths, struct jpeg_planes *planes,
                               apl_error *err)
{
    d->c.out_color_space = d->info.colour == JPEG_CMYK ? JCS_CMYK : JCS_RGB;
    (void)jpeg_start_decompress(&d->c);
    uint32_t width = d->c.output_width;
    bool usual = d->c.max_h_samp_factor <= 2 && d->c.max_v_samp_factor <= 2;
    uint32_t from = usual ? crop_columns(d, eighths) : 0;
    skip_rows(d, eighths);
    *planes = (struct jpeg_planes){.count = JPEG_PLANES};
    for (unsigned i = 0; i < JPEG_PLANES; i++)
        planes->plane[i] =
            (struct jpeg_plane){width, d->c.output_height, 8.0 / eighths, 8.0 / eighths, STRIP, from};
    bool room = reserve_rows(d, planes, (size_t)width * (size_t)d->c.output_components);
    return room ? APL_OK : fail_nomem(err);
}

static void next_pixels(struct jpeg_decoder *d, struct jpeg_band *band)
{
    uint32_t count = 0;
    for (; count < STRIP && d->c.output_scanline < d->end; count++) {
        uint8_t *const rows[JPEG_PLANES] = {d->rows[0][count], d->rows[1][count], d->rows[2][count]};
        (void)jpeg_read_scanlines(&d->c, &d->pixels, 1);
        separate_pixels(d->pixels, d->c.output_width, d->info.colour == JPEG_CMYK, rows);
    }
    for (int i = 0; i < JPEG_PLANES; i++) {
        band->plane[i].count = count;
        d->next[i] += count;
    }
}

/* ---------------------------------------------------------------------------------------------- regions */

apl_status jpeg_decoder_start(struct jpeg_decoder *d, struct jpeg_region region, unsigned eighths,
                              enum jpeg_chroma chroma, struct jpeg_planes *planes, apl_error *err)
{
    enum jpeg_colour colour = d->info.colour;
    bool exact = colour == JPEG_CMYK || (chroma != JPEG_CHROMA_PLANES && colour == JPEG_YCC) ||
                 (chroma == JPEG_CHROMA_PIXELS && colour == JPEG_RGB);
    d->region = region;
    d->c.scale_num = eighths;
    d->c.scale_denom = 8;
    if (setjmp(d->back))
        return jpeg_failed(d, err);
    apl_status status = exact ? start_pixels(d, eighths, planes, err) : start_planes(d, planes, err);
    if (status != APL_OK)
        jpeg_decoder_end(d);
    return status;
}

apl_status jpeg_decoder_next(struct jpeg_decoder *d, struct jpeg_band *band, apl_error *err)
{
    *band = (struct jpeg_band){0};
    for (int i = 0; i < JPEG_PLANES; i++) {
        band->plane[i].first = d->next[i];
        band->plane[i].rows = d->rows[i];
    }
    if (setjmp(d->back))
        return jpeg_failed(d, err);
    if (d->pixels)
        next_pixels(d, band);
    else
        next_planes(d, band);
    return APL_OK;
}

apl_status jpeg_decoder_finish(struct jpeg_decoder *d, apl_error *err)
{
    if (setjmp(d->back))
        return jpeg_failed(d, err);
    (void)jpeg_finish_decompress(&d->c);
    return APL_OK;
}
