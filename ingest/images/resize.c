/* All rows across, then down, one channel after another: see resize.h. */
#include "resize.h"

/* `side` times to / from, cut off, and at least a pixel. */
static uint32_t follow(uint32_t side, uint32_t to, uint32_t from)
{
    uint64_t scaled = (uint64_t)side * to / from;
    return scaled == 0 ? 1 : scaled > UINT32_MAX ? UINT32_MAX : (uint32_t)scaled;
}

bool resize_size(const struct image_sizes *rules, uint32_t *height, uint32_t *width)
{
    uint32_t h = rules->height ? rules->height : *height, w = rules->width ? rules->width : *width;
    if (rules->shorter) {
        bool tall = h > w;
        uint32_t other = follow(tall ? h : w, rules->shorter, tall ? w : h);
        h = tall ? other : rules->shorter;
        w = tall ? rules->shorter : other;
    }
    uint32_t longest = h > w ? h : w;
    if (rules->longest && longest > rules->longest) {
        h = follow(h, rules->longest, longest);
        w = follow(w, rules->longest, longest);
    }
    bool changes = h != *height || w != *width;
    *height = h;
    *width = w;
    return changes;
}

void resizer_free(struct resizer *z)
{
    resample_axis_free(&z->across);
    resample_axis_free(&z->down);
    scratch_free(&z->values);
    scratch_free(&z->taps);
    scratch_free(&z->samples);
}

/* Between which bytes and where. */
struct resize {
    const struct raster *from;
    struct resizer *z;
    const struct resample *kernels;
    uint32_t height, width;
    size_t stride; /* values of a row that has been resampled across, of which some are slack */
};

/* The rows that row `out` takes; those of no weight, which may lie beyond the last, stand for any. */
static void find_values(const struct resize *r, uint32_t out, size_t bytes)
{
    const struct resample_axis *down = &r->z->down;
    const uint8_t **rows = (const uint8_t **)(void *)r->z->taps.data;
    for (uint32_t k = 0; k < down->taps; k++) {
        uint32_t row = down->first[out] + k, last = r->from->height - 1;
        rows[k] = r->z->values.data + (row < last ? row : last) * r->stride * bytes;
    }
}

/* One channel of 8 bits. Behind the samples of a row the kernels read on: each is copied to where they may. */
static void resize_bytes(const struct resize *r, const uint8_t *from, uint8_t *to)
{
    const struct resample_axis *down = &r->z->down;
    int16_t *values = (int16_t *)(void *)r->z->values.data, *sums = values + r->from->height * r->stride;
    uint8_t *row = r->z->taps.data + scratch_round(down->taps * sizeof(int16_t *));
    for (uint32_t y = 0; y < r->from->height; y++) {
        memcpy(row, from + (size_t)y * r->from->width, r->from->width);
        r->kernels->across(&r->z->across, row, values + y * r->stride);
    }
    for (uint32_t y = 0; y < r->height; y++) {
        find_values(r, y, sizeof(int16_t));
        r->kernels->down((const int16_t *const *)(void *)r->z->taps.data,
                         down->weights + (size_t)y * down->taps, down->taps, r->stride, sums);
        r->kernels->bytes(sums, r->width, to + (size_t)y * r->width);
    }
}

/* One row of 16 bits, by the same weights; with 8 bits behind the point. */
static void words_across(const struct resample_axis *axis, const uint8_t *row, uint32_t *out)
{
    const int16_t *weight = axis->weights;
    for (uint32_t i = 0; i < axis->count; i++) {
        int64_t sum = RESAMPLE_UNIT >> 9;
        for (uint32_t k = 0; k < axis->taps; k++, weight++) {
            uint16_t sample = 0;
            if (*weight)
                memcpy(&sample, row + 2 * ((size_t)axis->first[i] + k), 2);
            sum += (int64_t)sample * *weight;
        }
        out[i] = sum < 0 ? 0 : (uint32_t)(sum / (RESAMPLE_UNIT >> 8));
    }
}

static void words_down(const uint32_t *const *rows, const int16_t *weights, uint32_t taps, uint32_t n,
                       uint8_t *to)
{
    for (uint32_t i = 0; i < n; i++) {
        int64_t sum = (int64_t)RESAMPLE_UNIT << 7;
        for (uint32_t k = 0; k < taps; k++)
            sum += (int64_t)rows[k][i] * weights[k];
        sum = sum < 0 ? 0 : sum / ((int64_t)RESAMPLE_UNIT << 8);
        uint16_t value = (uint16_t)(sum > UINT16_MAX ? UINT16_MAX : sum);
        memcpy(to + 2 * (size_t)i, &value, 2);
    }
}

static void resize_words(const struct resize *r, const uint8_t *from, uint8_t *to)
{
    const struct resample_axis *down = &r->z->down;
    uint32_t *values = (uint32_t *)(void *)r->z->values.data;
    for (uint32_t y = 0; y < r->from->height; y++)
        words_across(&r->z->across, from + 2 * (size_t)y * r->from->width, values + y * r->stride);
    for (uint32_t y = 0; y < r->height; y++) {
        find_values(r, y, sizeof(uint32_t));
        words_down((const uint32_t *const *)(void *)r->z->taps.data, down->weights + (size_t)y * down->taps,
                   down->taps, r->width, to + 2 * (size_t)y * r->width);
    }
}

static bool reserve_resize(const struct resize *r, const struct image_info *becomes)
{
    struct resizer *z = r->z;
    size_t rows = (size_t)r->from->height + 1;
    const struct resample_span across = {0, r->from->width, 0, r->from->width, r->width, 0, r->width};
    const struct resample_span down = {0, r->from->height, 0, r->from->height, r->height, 0, r->height};
    return resample_axis_make(&z->across, &across, true) && resample_axis_make(&z->down, &down, false) &&
           scratch_reserve(&z->values, rows * r->stride * (becomes->bits == 16 ? 4 : 2)) &&
           scratch_reserve(&z->taps, scratch_round(z->down.taps * sizeof(int16_t *)) + r->from->width +
                                         RESAMPLE_SLACK) &&
           scratch_reserve(&z->samples, raster_bytes(becomes));
}

apl_status raster_resize(struct raster *s, struct resizer *z, uint32_t height, uint32_t width, apl_error *err)
{
    struct resize r = {.from = s, .z = z, .height = height, .width = width};
    const struct image_info becomes = {
        .channels = s->channels, .height = height, .width = width, .bits = s->bits};
    size_t from = (size_t)s->height * s->width * (s->bits / 8), to = (size_t)height * width * (s->bits / 8);
    TRY(raster_check(&becomes, "resized", SIZE_MAX, 1, err));
    r.kernels = resample_for(cpu_variant());
    r.stride = ((size_t)width + RESAMPLE_BLOCK - 1) / RESAMPLE_BLOCK * RESAMPLE_BLOCK;
    if (!reserve_resize(&r, &becomes))
        return fail_nomem(err);
    for (unsigned c = 0; c < s->channels; c++)
        (s->bits == 16 ? resize_words : resize_bytes)(&r, s->data + c * from, z->samples.data + c * to);
    raster_exchange(s, &z->samples, height, width);
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------- nearest */

/* As torchvision finds it, in floats of 32 bits. */
static uint32_t nearest_place(uint32_t at, uint32_t from, uint32_t to)
{
    float scale = (float)from / (float)to;
    uint32_t nearest = from == to ? at : (uint32_t)((float)at * scale);
    return nearest < from ? nearest : from - 1;
}

apl_status raster_resize_nearest(struct raster *s, struct scratch *spare, uint32_t height, uint32_t width,
                                 apl_error *err)
{
    const struct image_info becomes = {
        .channels = s->channels, .height = height, .width = width, .bits = s->bits};
    size_t bytes = s->bits / 8;
    TRY(raster_check(&becomes, "resized", SIZE_MAX, 1, err));
    uint8_t *to = scratch_reserve(spare, raster_bytes(&becomes));
    if (!to)
        return fail_nomem(err);
    for (unsigned c = 0; c < s->channels; c++)
        for (uint32_t y = 0; y < height; y++) {
            size_t line = (size_t)c * s->height + nearest_place(y, s->height, height);
            for (uint32_t x = 0; x < width; x++, to += bytes)
                memcpy(to, s->data + (line * s->width + nearest_place(x, s->width, width)) * bytes, bytes);
        }
    raster_exchange(s, spare, height, width);
    return APL_OK;
}
