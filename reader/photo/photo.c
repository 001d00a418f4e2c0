/* Bands are resampled across as they come, and wait in rings until a row of the result has all that it needs: see photo.h. */
#include "photo.h"

#include "covered.h"
#include "nearest.h"
#include "photo_source.h"
#include "resample.h"
#include "status.h"

#include <math.h>

/* Rows of one plane that have been resampled across. Row k of the plane is at k % capacity. */
struct ring {
    int16_t *values;
    uint32_t capacity;  /* rows */
    uint32_t end, stop; /* the first row that has not come yet; the first that will not be wanted */
};

struct photo {
    struct photo_source *source;
    struct plane_bands bands;          /* of `pixels` */
    const struct photo_pixels *pixels; /* the image, if it is decoded already; else NULL */
    unsigned outputs;                  /* channels of the result */
    const struct resample *kernels;
    struct jpeg_info info;
    struct crop_plan plan; /* of the image that was made last */
    struct jpeg_planes planes;
    unsigned axis[JPEG_PLANES]; /* the plane whose axes this one has too, or its own number */
    struct resample_axis across[JPEG_PLANES], down[JPEG_PLANES];
    struct ring ring[JPEG_PLANES];
    size_t stride; /* values of a row of a ring, and of `row` */
    int16_t *row[JPEG_PLANES];
    struct scratch values, taps;
    struct scratch inner, places; /* of an image that is padded */
};

struct photo *photo_new(void)
{
    struct photo *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->kernels = resample_for(cpu_variant());
    p->source = photo_source_new();
    if (!p->source) {
        photo_free(p);
        return NULL;
    }
    return p;
}

void photo_free(struct photo *p)
{
    if (!p)
        return;
    planes_free(&p->bands);
    photo_source_free(p->source);
    for (int i = 0; i < JPEG_PLANES; i++) {
        resample_axis_free(&p->across[i]);
        resample_axis_free(&p->down[i]);
    }
    scratch_free(&p->values);
    scratch_free(&p->taps);
    scratch_free(&p->inner);
    scratch_free(&p->places);
    free(p);
}

struct geometry photo_geometry(const struct photo *p)
{
    return (struct geometry){.width = p->info.width, .height = p->info.height, .plan = p->plan};
}

/* ------------------------------------------------------------------------------------------------ plans */

static apl_status check_plan(const struct photo *p, const struct crop_plan *plan, apl_error *err)
{
    uint64_t right = (uint64_t)plan->box.left + plan->box.width,
             bottom = (uint64_t)plan->box.top + plan->box.height;
    bool empty = !plan->box.width || !plan->box.height || !plan->width || !plan->height;
    if (empty || right > p->info.width || bottom > p->info.height)
        return fail(err, APL_E_MISMATCH, "an image of %u x %u pixels has no box of %u x %u at %u, %u",
                    p->info.width, p->info.height, plan->box.width, plan->box.height, plan->box.left,
                    plan->box.top);
    if (plan->width > CROP_LONGEST || plan->height > CROP_LONGEST || plan->window.width > CROP_LONGEST ||
        plan->window.height > CROP_LONGEST)
        return fail(err, APL_E_INVALID, "more than %d pixels on a side", CROP_LONGEST);
    return APL_OK;
}

/* ----------------------------------------------------------------------------------------------- planes */

/* A plane's samples along one side of the box. */
static struct resample_span span_of(double step, uint32_t box, uint32_t length, uint32_t samples)
{
    struct resample_span s = {.begin = box / step, .end = ((double)box + length) / step};
    s.low = (uint32_t)s.begin;
    double high = ceil(s.end);
    s.high = high < samples ? (uint32_t)high : samples;
    s.low = s.low < s.high ? s.low : s.high - 1;
    return s;
}

static apl_status make_axes(struct photo *p, const struct crop_plan *plan, const struct covered *c,
                            unsigned which, apl_error *err)
{
    const struct jpeg_plane *plane = &p->planes.plane[which];
    struct resample_span across = span_of(plane->step_across, plan->box.left, plan->box.width, plane->width);
    struct resample_span down = span_of(plane->step_down, plan->box.top, plan->box.height, plane->height);
    across.size = plan->width;
    across.from = c->left;
    across.count = c->width;
    across.begin -= plane->from;
    across.end -= plane->from;
    across.low = across.low < plane->from ? 0 : across.low - plane->from;
    across.high -= plane->from;
    down.size = plan->height;
    down.from = c->top;
    down.count = c->height;
    if (!resample_axis_make(&p->across[which], &across, true) ||
        !resample_axis_make(&p->down[which], &down, false))
        return fail_nomem(err);
    return APL_OK;
}

static bool same_geometry(const struct jpeg_plane *a, const struct jpeg_plane *b)
{
    return a->width == b->width && a->height == b->height && a->from == b->from &&
           a->step_across == b->step_across && a->step_down == b->step_down;
}

static apl_status make_all_axes(struct photo *p, const struct crop_plan *plan, const struct covered *c,
                                apl_error *err)
{
    for (unsigned i = 0; i < p->planes.count; i++) {
        p->axis[i] = 0;
        while (!same_geometry(&p->planes.plane[p->axis[i]], &p->planes.plane[i]))
            p->axis[i]++;
        if (p->axis[i] == i)
            TRY(make_axes(p, plan, c, i, err));
    }
    return APL_OK;
}

static const struct resample_axis *across_of(const struct photo *p, unsigned plane)
{
    return &p->across[p->axis[plane]];
}

static const struct resample_axis *down_of(const struct photo *p, unsigned plane)
{
    return &p->down[p->axis[plane]];
}

/* The last row that row `out` of the result takes, and one more. */
static uint32_t needed_by(const struct resample_axis *down, uint32_t out)
{
    uint32_t taps = down->taps;
    const int16_t *weights = down->weights + (size_t)out * taps;
    while (taps > 1 && weights[taps - 1] == 0)
        taps--;
    return down->first[out] + taps;
}

/* Rows that may have to wait: those that a row of the result takes, those of the plane that reaches furthest, a band. */
static uint32_t ring_capacity(const struct photo *p, unsigned plane)
{
    double furthest = 0, step = p->planes.plane[plane].step_down;
    for (unsigned i = 0; i < p->planes.count; i++)
        furthest = fmax(furthest, down_of(p, i)->taps * p->planes.plane[i].step_down);
    return down_of(p, plane)->taps + (uint32_t)(furthest / step) + 2 * p->planes.plane[plane].band_rows + 4;
}

static apl_status make_rings(struct photo *p, uint32_t width, apl_error *err)
{
    size_t rows = p->planes.count, taps = 0;
    p->stride = (width + RESAMPLE_BLOCK - 1) / RESAMPLE_BLOCK * RESAMPLE_BLOCK;
    for (unsigned i = 0; i < p->planes.count; i++) {
        p->ring[i].capacity = ring_capacity(p, i);
        p->ring[i].end = 0;
        p->ring[i].stop = needed_by(down_of(p, i), down_of(p, i)->count - 1);
        taps = down_of(p, i)->taps > taps ? down_of(p, i)->taps : taps;
        rows += p->ring[i].capacity;
    }
    int16_t *at = (int16_t *)scratch_reserve(&p->values, rows * p->stride * sizeof *at);
    if (!at)
        return fail_nomem(err);
    for (unsigned i = 0; i < p->planes.count; i++) {
        p->ring[i].values = at;
        p->row[i] = at + p->ring[i].capacity * p->stride;
        at = p->row[i] + p->stride;
    }
    return scratch_reserve(&p->taps, taps * sizeof(int16_t *)) ? APL_OK : fail_nomem(err);
}

/* Resamples what came of a plane across, but for rows above or below all that are wanted. */
static void take_rows(struct photo *p, unsigned plane, const struct jpeg_band *band)
{
    const struct resample_axis *across = across_of(p, plane), *down = down_of(p, plane);
    struct ring *ring = &p->ring[plane];
    for (uint32_t k = 0; k < band->plane[plane].count; k++) {
        uint32_t row = band->plane[plane].first + k;
        if (row >= down->first[0] && row < ring->stop)
            p->kernels->across(across, band->plane[plane].rows[k],
                               ring->values + row % ring->capacity * p->stride);
        ring->end = row + 1;
    }
}

static bool is_there(const struct photo *p, uint32_t out)
{
    for (unsigned i = 0; i < p->planes.count; i++)
        if (p->ring[i].end < needed_by(down_of(p, i), out))
            return false;
    return true;
}

static apl_status wait_for(struct photo *p, uint32_t out, apl_error *err)
{
    struct jpeg_band band;
    while (!is_there(p, out)) {
        if (p->pixels)
            planes_next(&p->bands, &band);
        else
            TRY(photo_source_next(p->source, &band, err));
        if (band.plane[0].count == 0)
            return fail(err, APL_E_CORRUPT, "JPEG: ends before its last row");
        for (unsigned i = 0; i < p->planes.count; i++)
            take_rows(p, i, &band);
    }
    return APL_OK;
}

/* ----------------------------------------------------------------------------------------------- result */

/* Row `out` of one plane, from those in its ring. */
static void make_row(struct photo *p, unsigned plane, uint32_t out)
{
    const struct resample_axis *down = down_of(p, plane);
    const struct ring *ring = &p->ring[plane];
    const int16_t **rows = (const int16_t **)p->taps.data;
    uint32_t more = needed_by(down, out) - 1 - down->first[out], place = down->first[out] % ring->capacity;
    for (uint32_t k = 0; k < down->taps; k++) {
        rows[k] = ring->values + place * p->stride;
        if (k < more)
            place = place + 1 < ring->capacity ? place + 1 : 0;
    }
    p->kernels->down(rows, down->weights + (size_t)out * down->taps, down->taps, p->stride, p->row[plane]);
}

static void write_row(struct photo *p, uint32_t width, uint8_t *const rgb[PHOTO_CHANNELS])
{
    if (p->planes.ycc) {
        p->kernels->colours((const int16_t *const *)p->row, width, rgb);
        return;
    }
    for (unsigned i = 0; i < p->outputs; i++)
        p->kernels->bytes(p->row[p->planes.count == 1 ? 0 : i], width, rgb[i]);
}

static apl_status make_window(struct photo *p, const struct crop_plan *plan, const struct covered *c,
                              uint8_t *rgb, apl_error *err)
{
    size_t plane = (size_t)plan->window.height * plan->window.width;
    for (uint32_t out = 0; out < c->height; out++) {
        TRY(wait_for(p, out, err));
        for (unsigned i = 0; i < p->planes.count; i++)
            make_row(p, i, out);
        uint8_t *at = rgb + (size_t)(c->below + out) * plan->window.width + c->right_of;
        uint8_t *const to[PHOTO_CHANNELS] = {at, at + plane, at + 2 * plane};
        write_row(p, c->width, to);
    }
    return APL_OK;
}

static apl_status make_needed(struct photo *p, const struct crop_plan *plan, enum jpeg_chroma chroma,
                              uint8_t *rgb, apl_error *err)
{
    struct covered c = covered_by(plan);
    if (c.width < plan->window.width || c.height < plan->window.height)
        memset(rgb, 0, (size_t)p->outputs * plan->window.height * plan->window.width);
    if (c.width == 0 || c.height == 0)
        return APL_OK;
    struct jpeg_region region;
    covered_from(plan->box.left, plan->box.width, plan->width, c.left, c.width, &region.left, &region.width);
    covered_from(plan->box.top, plan->box.height, plan->height, c.top, c.height, &region.top, &region.height);
    if (p->pixels && !planes_start(&p->bands, p->pixels, region, &p->planes))
        return fail_nomem(err);
    if (!p->pixels)
        TRY(photo_source_start(p->source, region, eighths_of(plan), chroma, &p->planes, err));
    TRY(make_all_axes(p, plan, &c, err));
    TRY(make_rings(p, c.width, err));
    return make_window(p, plan, &c, rgb, err);
}

/* Is there padding in the window other than 0? */
static bool is_padded(const struct crop_plan *plan)
{
    static const uint8_t none[PHOTO_CHANNELS];
    struct covered c = covered_by(plan);
    bool beyond = c.width < plan->window.width || c.height < plan->window.height;
    return beyond &&
           (plan->padding.mode != APL_PAD_ZERO || memcmp(plan->padding.fill, none, sizeof none) != 0);
}

/* The part of the image that the window needs, and then the window. */
static apl_status make_padded(struct photo *p, const struct crop_plan *plan, enum jpeg_chroma chroma,
                              uint8_t *rgb, apl_error *err)
{
    struct crop_plan inner;
    if (!nearest_needed(&p->places, plan, &inner))
        return fail_nomem(err);
    uint8_t *pixels =
        scratch_reserve(&p->inner, (size_t)p->outputs * inner.window.width * inner.window.height);
    if (!pixels)
        return fail_nomem(err);
    TRY(make_needed(p, &inner, chroma, pixels, err));
    return nearest_pad(&p->places, plan, &inner, p->outputs, pixels, rgb) ? APL_OK : fail_nomem(err);
}

static apl_status make_open(struct photo *p, const struct crop_plan *plan, enum jpeg_chroma chroma,
                            uint8_t *rgb, apl_error *err)
{
    TRY(check_plan(p, plan, err));
    p->plan = *plan;
    return is_padded(plan) ? make_padded(p, plan, chroma, rgb, err) : make_needed(p, plan, chroma, rgb, err);
}

static apl_status open_jpeg(struct photo *p, const void *bytes, size_t size, bool is_indexed, apl_error *err)
{
    p->pixels = NULL;
    p->outputs = PHOTO_CHANNELS;
    return photo_source_open(p->source, bytes, size, is_indexed, &p->info, err);
}

static apl_status make_plan(struct photo *p, const void *bytes, size_t size, bool is_indexed,
                            const struct crop_plan *plan, enum jpeg_chroma chroma, uint8_t *rgb,
                            apl_error *err)
{
    TRY(open_jpeg(p, bytes, size, is_indexed, err));
    apl_status status = make_open(p, plan, chroma, rgb, err);
    photo_source_end(p->source);
    return status;
}

static apl_status make_drawn(struct photo *p, const void *bytes, size_t size, bool is_indexed,
                             const struct crop_rules *rules, struct crop_draws draws, enum jpeg_chroma chroma,
                             uint8_t *rgb, apl_error *err)
{
    struct crop_plan plan;
    TRY(open_jpeg(p, bytes, size, is_indexed, err));
    apl_status status = crop_plan(rules, p->info.width, p->info.height, draws, &plan, err);
    if (status == APL_OK)
        status = make_open(p, &plan, chroma, rgb, err);
    photo_source_end(p->source);
    return status;
}

apl_status photo_make(struct photo *p, const void *bytes, size_t size, const struct crop_plan *plan,
                      enum jpeg_chroma chroma, uint8_t *rgb, apl_error *err)
{
    return make_plan(p, bytes, size, false, plan, chroma, rgb, err);
}

apl_status photo_make_indexed(struct photo *p, const void *bytes, size_t size, const struct crop_plan *plan,
                              enum jpeg_chroma chroma, uint8_t *rgb, apl_error *err)
{
    return make_plan(p, bytes, size, true, plan, chroma, rgb, err);
}

apl_status photo_draw(struct photo *p, const void *bytes, size_t size, const struct crop_rules *rules,
                      struct crop_draws draws, enum jpeg_chroma chroma, uint8_t *rgb, apl_error *err)
{
    return make_drawn(p, bytes, size, false, rules, draws, chroma, rgb, err);
}

apl_status photo_draw_indexed(struct photo *p, const void *bytes, size_t size, const struct crop_rules *rules,
                              struct crop_draws draws, enum jpeg_chroma chroma, uint8_t *rgb, apl_error *err)
{
    return make_drawn(p, bytes, size, true, rules, draws, chroma, rgb, err);
}

apl_status photo_draw_pixels(struct photo *p, const struct photo_pixels *image,
                             const struct crop_rules *rules, struct crop_draws draws, unsigned outputs,
                             uint8_t *out, apl_error *err)
{
    struct crop_plan plan;
    if (!planes_ok(image) || (outputs == 1 && image->channels > 2))
        return fail(err, APL_E_INVALID, "an image of shape {%u, %u, %u}; wanted: 1 to 4 channels, not empty",
                    image->channels, image->height, image->width);
    p->info = (struct jpeg_info){.width = image->width, .height = image->height};
    p->pixels = image;
    p->outputs = outputs;
    TRY(crop_plan(rules, image->width, image->height, draws, &plan, err));
    return make_open(p, &plan, JPEG_CHROMA_PLANES, out, err);
}
