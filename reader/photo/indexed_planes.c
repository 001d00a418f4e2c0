/* Which segments a region needs, and where their samples go: see indexed_planes.h. */
#include "indexed_planes.h"

#include "bytes.h"
#include "scratch.h"
#include "segments.h"
#include "status.h"

#define BAND_RUNS 64 /* after as many, a band is large enough */

struct indexed_planes {
    segments_decode *decode;
    struct segments segments;
    struct indexed image;
    struct jpeg_planes planes;
    uint32_t from, to;          /* columns of MCUs */
    uint32_t next, end;         /* rows of MCUs */
    uint32_t rows_of_band;      /* of MCUs, at most */
    uint32_t done[JPEG_PLANES]; /* rows of each plane that came, or lie above */
    size_t offset;              /* of the segments of the next row */
    struct scratch samples, runs;
    struct scratch tail; /* the last segments, with room behind them */
    size_t tail_from;    /* their offset; SIZE_MAX: they have not been needed */
    uint8_t *rows[JPEG_PLANES][JPEG_BAND_ROWS];
};

struct indexed_planes *indexed_planes_new(enum cpu_variant variant)
{
    struct indexed_planes *d = calloc(1, sizeof *d);
    if (d)
        d->decode = segments_for(variant);
    return d;
}

void indexed_planes_free(struct indexed_planes *d)
{
    if (!d)
        return;
    scratch_free(&d->samples);
    scratch_free(&d->runs);
    scratch_free(&d->tail);
    free(d);
}

/* ------------------------------------------------------------------------------------------------ image */

/* From the zigzag to rows (T.81, figure A.6). */
static const uint8_t natural[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

apl_status indexed_planes_open(struct indexed_planes *d, const struct indexed *image, apl_error *err)
{
    struct segments *s = &d->segments;
    const struct rendering *r = &image->rendering;
    d->image = *image;
    d->next = d->end = 0;
    d->tail_from = SIZE_MAX;
    for (unsigned i = 0; i < r->frame.components; i++)
        for (unsigned k = 0; k < 64; k++)
            s->quant[i][natural[k]] = r->tables[i][k];
    for (unsigned i = 0; i < image->codes; i++)
        if (!code_table_make(&s->dc[i], image->dc[i].counts, image->dc[i].symbols, false) ||
            !code_table_make(&s->ac[i], image->ac[i].counts, image->ac[i].symbols, true))
            return fail(err, APL_E_CORRUPT, "JPEG: a Huffman table has more codes than there are");
    return APL_OK;
}

/* ----------------------------------------------------------------------------------------------- region */

/* Of a block's samples on a side: those of chroma are not scaled down as long as luma has more. */
static unsigned block_size_of(const struct frame *f, unsigned plane, unsigned eighths)
{
    unsigned across = f->across[0] / f->across[plane], down = f->down[0] / f->down[plane];
    return eighths < 8 && across == 2 && down == 2 ? 2 * eighths : eighths;
}

static void describe_plane(struct indexed_planes *d, unsigned i, unsigned eighths)
{
    const struct frame *f = &d->image.rendering.frame;
    unsigned size = block_size_of(f, i, eighths), across = f->across[i] * size, down = f->down[i] * size;
    uint32_t mcu_width = 8u * f->across[0], mcu_height = 8u * f->down[0];
    d->planes.plane[i] = (struct jpeg_plane){
        .width = (uint32_t)(((uint64_t)f->width * across + mcu_width - 1) / mcu_width),
        .height = (uint32_t)(((uint64_t)f->height * down + mcu_height - 1) / mcu_height),
        .step_across = (double)mcu_width / across,
        .step_down = (double)mcu_height / down,
        .band_rows = down * d->rows_of_band,
        .from = d->from * across,
    };
    d->segments.plane[i].size = size;
    d->segments.plane[i].step = across;
    d->segments.plane[i].stride = scratch_round((size_t)(d->to - d->from) * across + JPEG_ROW_SLACK);
}

static bool reserve_samples(struct indexed_planes *d)
{
    size_t size = 0;
    for (unsigned i = 0; i < d->planes.count; i++)
        size += d->planes.plane[i].band_rows * d->segments.plane[i].stride;
    uint8_t *at = scratch_reserve(&d->samples, size);
    for (unsigned i = 0; at && i < d->planes.count; i++)
        for (unsigned k = 0; k < d->planes.plane[i].band_rows; k++, at += d->segments.plane[i].stride)
            d->rows[i][k] = at;
    return at;
}

/* Luma row by row, then chroma (T.81, A.2.3). */
static void order_blocks(struct indexed_planes *d)
{
    struct segments *s = &d->segments;
    const struct frame *f = &d->image.rendering.frame;
    s->blocks = 0;
    s->per_segment = d->image.mcus;
    for (unsigned i = 0; i < d->planes.count; i++)
        for (unsigned y = 0; y < f->down[i]; y++)
            for (unsigned x = 0; x < f->across[i]; x++, s->blocks++) {
                s->block[s->blocks].plane = i;
                s->block[s->blocks].offset = s->plane[i].size * (y * s->plane[i].stride + x);
            }
}

static uint32_t runs_of_row(const struct indexed_planes *d)
{
    uint32_t each = d->image.mcus;
    return (d->to - 1) / each - d->from / each + 1;
}

/* As many rows of MCUs as a band may have, as long as they are short: two segments at once want some to choose from. */
static uint32_t rows_of_band(const struct indexed_planes *d, unsigned eighths)
{
    const struct frame *f = &d->image.rendering.frame;
    uint32_t rows = 0, most = 0;
    for (unsigned i = 0; i < d->planes.count; i++) {
        uint32_t down = block_size_of(f, i, eighths) * f->down[i];
        most = down > most ? down : most;
    }
    while ((rows + 1) * most <= JPEG_BAND_ROWS && (rows == 0 || rows * runs_of_row(d) < BAND_RUNS))
        rows++;
    return rows;
}

static void skip_rows_of_segments(struct indexed_planes *d, uint32_t rows)
{
    d->offset = 0;
    for (size_t i = 0; i < (size_t)rows * d->image.segments; i++)
        d->offset += indexed_length(&d->image, i);
}

apl_status indexed_planes_start(struct indexed_planes *d, struct jpeg_region region, unsigned eighths,
                                struct jpeg_planes *planes, apl_error *err)
{
    const struct rendering *r = &d->image.rendering;
    uint32_t mcu_width = 8u * r->frame.across[0], mcu_height = 8u * r->frame.down[0];
    d->from = region.left / mcu_width;
    d->to = (region.left + region.width + mcu_width - 1) / mcu_width;
    d->next = region.top / mcu_height;
    d->end = (region.top + region.height + mcu_height - 1) / mcu_height;
    d->planes.count = r->frame.components;
    d->planes.ycc = r->colours == IMAGE_YCC;
    d->rows_of_band = rows_of_band(d, eighths);
    for (unsigned i = 0; i < d->planes.count; i++) {
        describe_plane(d, i, eighths);
        d->done[i] = d->next * d->segments.plane[i].size * r->frame.down[i];
    }
    order_blocks(d);
    skip_rows_of_segments(d, d->next);
    if (!reserve_samples(d) ||
        !scratch_reserve(&d->runs, (size_t)d->rows_of_band * runs_of_row(d) * sizeof(struct segment_run)))
        return fail_nomem(err);
    *planes = d->planes;
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------ bands */

/* A segment, behind which SEGMENTS_SLACK bytes may be read. NULL: out of memory. */
static const uint8_t *segment_at(struct indexed_planes *d, size_t offset, size_t size)
{
    const struct indexed *x = &d->image;
    size_t all = x->data_bytes + x->restoring_bytes;
    if (all - offset - size >= SEGMENTS_SLACK)
        return x->data + offset;
    if (d->tail_from > offset) {
        uint8_t *tail = scratch_reserve(&d->tail, x->data_bytes - offset + SEGMENTS_SLACK);
        if (!tail)
            return NULL;
        memcpy(tail, x->data + offset, x->data_bytes - offset);
        d->tail_from = offset;
    }
    return d->tail.data + (offset - d->tail_from);
}

/* The run of a row's segment `k`, whose bytes begin at `offset`; `row` of the band. */
static apl_status fill_run(struct indexed_planes *d, uint32_t row, uint32_t k, size_t offset,
                           struct segment_run *run, apl_error *err)
{
    const struct indexed *x = &d->image;
    uint32_t begin = k * x->mcus, first = d->from > begin ? d->from : begin;
    run->size = indexed_length(x, (size_t)(d->next + row) * x->segments + k);
    if (offset > x->data_bytes || run->size > x->data_bytes - offset)
        return fail(err, APL_E_CORRUPT, "JPEG: a segment lies beyond the end");
    run->bytes = segment_at(d, offset, run->size);
    if (!run->bytes)
        return fail_nomem(err);
    run->first = first - begin;
    run->end = indexed_least(d->to - begin, x->mcus);
    for (unsigned i = 0; i < d->planes.count; i++)
        run->out[i] = d->rows[i][row * x->rendering.frame.down[i] * d->segments.plane[i].size] +
                      (first - d->from) * d->segments.plane[i].step;
    return APL_OK;
}

static apl_status make_runs(struct indexed_planes *d, uint32_t rows, size_t *count, apl_error *err)
{
    const struct indexed *x = &d->image;
    struct segment_run *runs = (struct segment_run *)d->runs.data;
    uint32_t low = d->from / x->mcus, high = (d->to - 1) / x->mcus;
    *count = 0;
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t k = 0; k < x->segments; k++) {
            if (k >= low && k <= high)
                TRY(fill_run(d, row, k, d->offset, &runs[(*count)++], err));
            d->offset += indexed_length(x, (size_t)(d->next + row) * x->segments + k);
        }
    return APL_OK;
}

static void fill_band(struct indexed_planes *d, uint32_t rows, struct jpeg_band *band)
{
    for (unsigned i = 0; i < d->planes.count; i++) {
        uint32_t most = rows * d->segments.plane[i].size * d->image.rendering.frame.down[i];
        band->plane[i].first = d->done[i];
        band->plane[i].count = indexed_least(most, d->planes.plane[i].height - d->done[i]);
        band->plane[i].rows = d->rows[i];
        d->done[i] += band->plane[i].count;
    }
}

apl_status indexed_planes_next(struct indexed_planes *d, struct jpeg_band *band, apl_error *err)
{
    const struct segment_run *runs = (struct segment_run *)d->runs.data;
    uint32_t rows = indexed_least(d->rows_of_band, d->end - d->next);
    size_t count;
    *band = (struct jpeg_band){0};
    if (rows > 0) {
        TRY(make_runs(d, rows, &count, err));
        size_t bad = d->decode(&d->segments, runs, count);
        if (bad < count)
            return fail(err, APL_E_CORRUPT, "JPEG: the segment of %u bytes is damaged", runs[bad].size);
    }
    fill_band(d, rows, band);
    d->next += rows;
    return APL_OK;
}
