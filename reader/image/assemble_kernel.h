/*
 * assemble() in vectors, for the instruction set of the file that includes this. What differs between them
 * stands in that file: pixels, the type of RUN pixels of one channel, and floats, the type of LANES results,
 * with what can be done to them. All of it is inlined, with type and number of channels known.
 *
 * The result is made in runs of RUN pixels of a row. The pixels of a run come from RUN neighbours or fewer in
 * a row of the source, padding mirrored or not: so one table of RUN indices tells crop, padding and flip at
 * once, and it is the same in all rows and channels of an image.
 */
#include "assemble_variants.h"

#include <stdalign.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#define RUN     32   /* pixels */
#define STRIP   8    /* runs worked on side by side */
#define NOWHERE 0xff /* an index that gives 0 */
#define NO_ROW  SIZE_MAX

/* Where the pixels of one run come from: `choice` among the RUN from `from` on, counted from a row's
 * beginning.
 */
struct run {
    struct choice choice;
    size_t from, to;
};

/* Scale and bias of value after value. Planar: RUN times those of each channel. Interleaved: those of all
 * channels, RUN times. */
struct affine {
    float scale[APL_MAX_CHANNELS * RUN], bias[APL_MAX_CHANNELS * RUN];
};

struct batch {
    const struct assembly *a;
    const uint8_t *const *sources;
    const struct placement *placements;
    size_t count;
    uint8_t *out;
    struct affine affine;
};

/* One image on its way. Loops keep a copy of their own: what is stored through pointers could change this
 * one for all that the compiler knows. */
struct image {
    const uint8_t *source, *next; /* the one that comes after it */
    size_t source_bytes, plane_bytes;
    uint8_t *out, *end;
    const float *scale, *bias;
    int32_t first, step, height,
        width; /* first: row of the result, counted from the source's first; 1 or -1 on */
    apl_pad pad_mode;
    size_t out_height, out_width;
};

INLINE int32_t clamp(int32_t value, int32_t most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

/* The run that begins at column `to` of the result. Pixels beyond the crop may be any; what they name is
 * read, but no further than from + RUN. */
static void find_run(struct run *run, const struct assembly *a, const struct placement *p, size_t to)
{
    int32_t column[RUN], width = (int32_t)a->width, least = width - 1;
    int32_t first = p->left - (int32_t)a->pad + (int32_t)(p->flip ? a->out_width - 1 - to : to);
    int32_t step = p->flip ? -1 : 1;
    uint8_t index[RUN];
    for (int32_t i = 0; i < RUN; i++)
        column[i] = assemble_source(first + step * i, width, a->pad_mode);
    for (int32_t i = 0; i < RUN; i++)
        least = clamp(column[i], least);
    /* RUN pixels are loaded: in a row that has as many, none beyond its end. */
    int32_t from = width < RUN ? 0 : clamp(least, width - RUN);
    for (int32_t i = 0; i < RUN; i++)
        index[i] = column[i] < 0 || column[i] >= width ? NOWHERE : (uint8_t)(column[i] - from);
    run->choice = choose(index);
    run->from = (size_t)from;
    run->to = to;
}

/* Row `row` of the result comes from here, counted from a plane's beginning; NO_ROW: from padding of zeros.
 */
INLINE size_t find_row(const struct image *p, size_t row)
{
    int32_t at = assemble_source(p->first + p->step * (int32_t)row, p->height, p->pad_mode);
    return (uint32_t)at < (uint32_t)p->height ? (size_t)at * (size_t)p->width : NO_ROW;
}

/* A run of one row and channel. In rows of fewer than RUN pixels the load may end beyond the row, but must
 * not end beyond the image. */
INLINE pixels load_run(const struct image *p, const struct run *run, size_t plane, size_t row)
{
    alignas(RUN) static const uint8_t zeros[RUN];
    if (row == NO_ROW)
        return load_pixels(zeros);
    size_t from = plane + row + run->from;
    const uint8_t *at = p->source + from;
    uint8_t last[RUN];
    __builtin_prefetch(p->next + from);
    if (from + RUN > p->source_bytes) {
        memset(last, 0, RUN);
        memcpy(last, at, p->source_bytes - from);
        at = last;
    }
    return pick(at, run->choice);
}

INLINE void store_run(uint8_t *to, pixels run, const float *scale, const float *bias, apl_dtype dtype)
{
    if (dtype == APL_U8) {
        store_pixels(to, run);
        return;
    }
#pragma GCC unroll 8
    for (int i = 0; i < RUN / LANES; i++) {
        floats value = scale_and_shift(widen(run, i), scale + i * LANES, bias + i * LANES);
        if (dtype == APL_F32)
            store_f32(to + i * LANES * 4, value);
        else if (dtype == APL_F16)
            store_f16(to + i * LANES * 2, value);
        else
            store_bf16(to + i * LANES * 2, value);
    }
}

/* A run of each of `planes` channels, interleaved: as many runs of the result. */
INLINE void mix_any(const struct image *p, const struct run *run, size_t row, size_t planes, uint8_t *to,
                    apl_dtype dtype)
{
    uint8_t plane[RUN], mixed[APL_MAX_CHANNELS * RUN];
    for (size_t c = 0; c < planes; c++) {
        store_pixels(plane, load_run(p, run, c * p->plane_bytes, row));
        for (size_t i = 0; i < RUN; i++)
            mixed[i * planes + c] = plane[i];
    }
    for (size_t at = 0; at < planes * RUN; at += RUN)
        store_run(to + at * element_bytes(dtype), load_pixels(mixed + at), p->scale + at, p->bias + at,
                  dtype);
}

/* The same for three channels, in registers. */
INLINE void mix_3(const struct image *p, const struct run *run, size_t row, uint8_t *to, apl_dtype dtype)
{
    size_t step = RUN * element_bytes(dtype);
    pixels red = load_run(p, run, 0, row);
    pixels green = load_run(p, run, p->plane_bytes, row);
    pixels blue = load_run(p, run, 2 * p->plane_bytes, row);
    struct mixed mixed = interleave_3(red, green, blue);
    store_run(to, mixed.first, p->scale, p->bias, dtype);
    store_run(to + step, mixed.second, p->scale + RUN, p->bias + RUN, dtype);
    store_run(to + 2 * step, mixed.third, p->scale + 2 * RUN, p->bias + 2 * RUN, dtype);
}

/* A run of `planes` channels from `channel` on. */
INLINE void make_run(const struct image *p, const struct run *run, size_t row, size_t channel, size_t planes,
                     apl_dtype dtype, uint8_t *to)
{
    if (planes == 1)
        store_run(to, load_run(p, run, channel * p->plane_bytes, row), p->scale + channel * RUN,
                  p->bias + channel * RUN, dtype);
    else if (planes == 3)
        mix_3(p, run, row, to, dtype);
    else
        mix_any(p, run, row, planes, to, dtype);
}

/* All rows of some runs. A result narrower than a run is written beyond its row's end, where the next row
 * follows; at the end of the image only as far as it goes. */
INLINE void make_rows(const struct image *image, const struct run *runs, size_t run_count, size_t channel,
                      size_t planes, apl_dtype dtype)
{
    const struct image p = *image;
    size_t pixel = planes * element_bytes(dtype), row_bytes = pixel * p.out_width;
    uint8_t *out = p.out + channel * p.out_height * row_bytes;
    alignas(RUN) uint8_t spare[APL_MAX_CHANNELS * RUN * sizeof(float)];
    for (size_t row = 0; row < p.out_height; row++, out += row_bytes) {
        size_t from = find_row(&p, row);
        for (size_t i = 0; i < run_count; i++) {
            uint8_t *to = out + runs[i].to * pixel;
            int room = (size_t)(p.end - to) >= RUN * pixel;
            make_run(&p, &runs[i], from, channel, planes, dtype, room ? to : spare);
            if (!room)
                memcpy(to, spare, row_bytes);
        }
    }
}

INLINE size_t find_runs(struct run runs[STRIP], const struct assembly *a, const struct placement *p,
                        size_t first)
{
    size_t width = a->out_width, last = width < RUN ? 0 : width - RUN, count = 0;
    for (size_t to = first; to < width && count < STRIP; to += RUN)
        find_run(&runs[count++], a, p, to < last ? to : last);
    return count;
}

INLINE void make_image(const struct image *image, const struct assembly *a, const struct placement *p,
                       size_t planes, apl_dtype dtype)
{
    struct run runs[STRIP];
    for (size_t first = 0; first < a->out_width; first += STRIP * RUN) {
        size_t count = find_runs(runs, a, p, first);
        for (size_t channel = 0; channel < a->channels; channel += planes) {
            if (count == 1) {
                struct run run = runs[0];
                make_rows(image, &run, 1, channel, planes, dtype);
            } else {
                make_rows(image, runs, count, channel, planes, dtype);
            }
        }
    }
}

INLINE void assemble_images(const struct batch *batch, size_t planes, apl_dtype dtype)
{
    const struct assembly *a = batch->a;
    size_t bytes = assemble_bytes(a), plane_bytes = (size_t)a->height * a->width;
    struct image image = {.source_bytes = a->channels * plane_bytes,
                          .plane_bytes = plane_bytes,
                          .scale = batch->affine.scale,
                          .bias = batch->affine.bias,
                          .height = (int32_t)a->height,
                          .width = (int32_t)a->width,
                          .pad_mode = a->pad_mode,
                          .out_height = a->out_height,
                          .out_width = a->out_width};
    for (size_t i = 0; i < batch->count; i++) {
        struct placement placement = assemble_placement(a, batch->placements, i);
        image.source = batch->sources[i];
        image.next = batch->sources[i + 1 < batch->count ? i + 1 : i];
        image.out = batch->out + i * bytes;
        image.end = image.out + bytes;
        image.first =
            placement.top - (int32_t)a->pad + (placement.vertical_flip ? (int32_t)a->out_height - 1 : 0);
        image.step = placement.vertical_flip ? -1 : 1;
        make_image(&image, a, &placement, planes, dtype);
        if (a->cutout)
            assemble_cut(a, &placement, image.out);
    }
}

INLINE void assemble_batch(const struct batch *batch, apl_dtype dtype)
{
    size_t planes = batch->a->layout == APL_NHWC ? batch->a->channels : 1;
    if (planes == 1)
        assemble_images(batch, 1, dtype);
    else if (planes == 3)
        assemble_images(batch, 3, dtype);
    else
        assemble_images(batch, planes, dtype);
}

static void find_affine(struct affine *affine, const struct assembly *a)
{
    for (size_t i = 0; i < (size_t)a->channels * RUN; i++) {
        size_t channel = a->layout == APL_NHWC ? i % a->channels : i / RUN;
        affine->scale[i] = a->scale[channel];
        affine->bias[i] = a->bias[channel];
    }
}

void ASSEMBLE_NAME(const struct assembly *assembly, const uint8_t *const *sources,
                   const struct placement *placements, size_t count, void *out)
{
    struct batch batch = {
        .a = assembly, .sources = sources, .placements = placements, .count = count, .out = out};
    find_affine(&batch.affine, assembly);
    switch (assembly->dtype) {
    case APL_F32:
        assemble_batch(&batch, APL_F32);
        break;
    case APL_F16:
        assemble_batch(&batch, APL_F16);
        break;
    case APL_BF16:
        assemble_batch(&batch, APL_BF16);
        break;
    default:
        assemble_batch(&batch, APL_U8);
    }
}
