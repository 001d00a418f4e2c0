/*
 * assemble() in vectors, for the instruction set of the file that includes this. What differs between them
 * stands in that file: pixels, the type of RUN pixels of one channel, and floats, the type of LANES results,
 * with what can be done to them. All of it is inlined, with type and number of channels known.
 *
 * The result is made in runs of RUN pixels of a row. The pixels of a run come from RUN neighbours or fewer in
 * a row of the source, padding mirrored or not: so one table of RUN indices tells crop, padding and flip at
 * once, and it is the same in all rows and channels of an image.
 */
#include "assemble_cut.h"
#include "prefetch.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#define RUN     ASSEMBLE_RUN
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

/* A run that mirrors nothing, which begins at column `first`: its pixels in the row are neighbours, and those of them that are not in
 * the row are 0. */
INLINE void find_straight(struct run *run, int32_t first, int32_t step, int32_t width)
{
    uint8_t index[RUN];
    int32_t left = step > 0 ? first : first - (RUN - 1);
    int32_t from = width < RUN ? 0 : clamp(left, width - RUN), limit = width < RUN ? width : RUN;
    int32_t begin = first - from; /* further away than this, all are 0 as well */
    begin = begin < -2 * RUN ? -2 * RUN : begin > 2 * RUN ? 2 * RUN : begin;
    for (int32_t i = 0; i < RUN; i++) {
        uint8_t at = (uint8_t)(begin + step * i);
        index[i] = at < (uint8_t)limit ? at : NOWHERE;
    }
    run->choice = choose(index);
    run->from = (size_t)from;
}

/* The run that begins at column `to` of the result. Pixels beyond the crop may be any; what they name is
 * read, but no further than from + RUN. */
static void find_run(struct run *run, const struct assembly *a, const struct placement *p, size_t to)
{
    int32_t column[RUN], width = (int32_t)a->width, least = width - 1;
    int32_t first = p->left - (int32_t)a->pad + (int32_t)(p->flip ? a->out_width - 1 - to : to);
    int32_t step = p->flip ? -1 : 1;
    uint8_t index[RUN];
    run->to = to;
    if (a->pad_mode != APL_PAD_REFLECT) {
        find_straight(run, first, step, width);
        return;
    }
    for (int32_t i = 0; i < RUN; i++)
        column[i] = assemble_source(first + step * i, width, APL_PAD_REFLECT);
    for (int32_t i = 0; i < RUN; i++)
        least = clamp(column[i], least);
    /* RUN pixels are loaded: in a row that has as many, none beyond its end. */
    int32_t from = width < RUN ? 0 : clamp(least, width - RUN);
    for (int32_t i = 0; i < RUN; i++)
        index[i] = column[i] < 0 || column[i] >= width ? NOWHERE : (uint8_t)(column[i] - from);
    run->choice = choose(index);
    run->from = (size_t)from;
}

/* Row `row` of the result comes from here, counted from a plane's beginning; NO_ROW: from padding of zeros.
 */
INLINE size_t find_row(const struct image *p, size_t row)
{
    int32_t at = assemble_source(p->first + p->step * (int32_t)row, p->height, p->pad_mode);
    return (uint32_t)at < (uint32_t)p->height ? (size_t)at * (size_t)p->width : NO_ROW;
}

/* Rows of the result that come from rows of the source in their order or in the opposite one: `from`, that of the first; NO_ROW: all are 0. */
struct piece {
    size_t rows, from;
    ptrdiff_t step; /* bytes of the source, from row to row */
};

#define PIECES 3 /* before the source, inside, and behind it */

INLINE void find_pieces(struct piece pieces[PIECES], const struct image *p)
{
    int32_t height = (int32_t)p->out_height, last = p->height - 1;
    int32_t begin = clamp(p->step > 0 ? -p->first : p->first - last, height);
    int32_t end = clamp(p->step > 0 ? last - p->first + 1 : p->first + 1, height);
    ptrdiff_t step = (ptrdiff_t)p->step * p->width;
    pieces[0] = (struct piece){(size_t)begin, find_row(p, 0), -step};
    pieces[1] = (struct piece){(size_t)(end - begin), find_row(p, (size_t)begin), step};
    pieces[2] = (struct piece){(size_t)(height - end), find_row(p, (size_t)end), -step};
}

/* How the rows of a piece are made: known when compiled. */
struct way {
    size_t planes; /* channels made at once: 1, or all, interleaved */
    apl_dtype dtype;
    bool
        any; /* rows may be of any length; else a row of the result is a run, and one of the source as long at least */
    bool zeros; /* the piece comes from no row */
};

/* A run of one row and channel. In rows of fewer than RUN pixels the load may end beyond the row, but must
 * not end beyond the image. */
INLINE pixels load_run(const struct image *p, const struct run *run, size_t plane, size_t row, struct way way)
{
    alignas(RUN) static const uint8_t zeros[RUN];
    if (way.zeros)
        return load_pixels(zeros);
    size_t from = plane + row + run->from;
    const uint8_t *at = p->source + from;
    /* Halves take so long to compute that there is time to bring the next image into the first cache, too. */
    if (element_bytes(way.dtype) == 2)
        __builtin_prefetch(p->next + from);
    uint8_t last[RUN];
    if (way.any && from + RUN > p->source_bytes) {
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

/* A run of each of several channels, interleaved: as many runs of the result. */
INLINE void mix_any(const struct image *p, const struct run *run, size_t row, struct way way, uint8_t *to)
{
    uint8_t plane[RUN], mixed[APL_MAX_CHANNELS * RUN];
    for (size_t c = 0; c < way.planes; c++) {
        store_pixels(plane, load_run(p, run, c * p->plane_bytes, row, way));
        for (size_t i = 0; i < RUN; i++)
            mixed[i * way.planes + c] = plane[i];
    }
    for (size_t at = 0; at < way.planes * RUN; at += RUN)
        store_run(to + at * element_bytes(way.dtype), load_pixels(mixed + at), p->scale + at, p->bias + at,
                  way.dtype);
}

/* The same for three channels, in registers. */
INLINE void mix_3(const struct image *p, const struct run *run, size_t row, struct way way, uint8_t *to)
{
    size_t step = RUN * element_bytes(way.dtype);
    pixels red = load_run(p, run, 0, row, way);
    pixels green = load_run(p, run, p->plane_bytes, row, way);
    pixels blue = load_run(p, run, 2 * p->plane_bytes, row, way);
    struct mixed mixed = interleave_3(red, green, blue);
    store_run(to, mixed.first, p->scale, p->bias, way.dtype);
    store_run(to + step, mixed.second, p->scale + RUN, p->bias + RUN, way.dtype);
    store_run(to + 2 * step, mixed.third, p->scale + 2 * RUN, p->bias + 2 * RUN, way.dtype);
}

/* A run of the channels from `channel` on that are made at once. */
INLINE void make_run(const struct image *p, const struct run *run, size_t row, size_t channel, struct way way,
                     uint8_t *to)
{
    if (way.planes == 1)
        store_run(to, load_run(p, run, channel * p->plane_bytes, row, way), p->scale + channel * RUN,
                  p->bias + channel * RUN, way.dtype);
    else if (way.planes == 3)
        mix_3(p, run, row, way, to);
    else
        mix_any(p, run, row, way, to);
}

/* The rows of a piece, of some runs. A result narrower than a run is written beyond its row's end, where the next row
 * follows; at the end of the image only as far as it goes. */
INLINE void make_piece(const struct image *image, const struct run *runs, size_t run_count,
                       const struct piece *piece, size_t channel, struct way way, uint8_t *out)
{
    const struct image p = *image;
    size_t pixel = way.planes * element_bytes(way.dtype), row_bytes = pixel * p.out_width;
    size_t from = piece->from, rows = piece->rows;
    ptrdiff_t step = piece->step;
    alignas(RUN) uint8_t spare[APL_MAX_CHANNELS * RUN * sizeof(float)];
    for (size_t row = 0; row < rows; row++, out += row_bytes, from += (size_t)step)
        for (size_t i = 0; i < run_count; i++) {
            uint8_t *to = out + runs[i].to * pixel;
            bool room = !way.any || (size_t)(p.end - to) >= RUN * pixel;
            make_run(&p, &runs[i], from, channel, way, room ? to : spare);
            if (!room)
                memcpy(to, spare, row_bytes);
        }
}

/* All rows of some runs. */
INLINE void make_rows(const struct image *image, const struct run *runs, size_t run_count,
                      const struct piece pieces[PIECES], size_t channel, struct way way)
{
    size_t row_bytes = way.planes * element_bytes(way.dtype) * image->out_width;
    uint8_t *out = image->out + channel * image->out_height * row_bytes;
    for (int i = 0; i < PIECES; i++) {
        way.zeros = pieces[i].from == NO_ROW;
        if (!way.any && way.zeros) /* a loop of its own for each */
            make_piece(image, runs, run_count, &pieces[i], channel, way, out);
        else
            make_piece(image, runs, run_count, &pieces[i], channel, way, out);
        out += pieces[i].rows * row_bytes;
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
                       struct way way)
{
    struct run runs[STRIP];
    struct piece pieces[PIECES];
    find_pieces(pieces, image);
    for (size_t first = 0; first < a->out_width; first += STRIP * RUN) {
        size_t count = find_runs(runs, a, p, first);
        for (size_t channel = 0; channel < a->channels; channel += way.planes) {
            way.any = a->out_width != RUN || a->width < RUN;
            if (!way.any) {
                struct run run = runs[0];
                make_rows(image, &run, 1, pieces, channel, way);
            } else {
                make_rows(image, runs, count, pieces, channel, way);
            }
        }
    }
}

INLINE void assemble_images(const struct batch *batch, struct way way)
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
    for (size_t i = 0; i < PREFETCH_AHEAD; i++)
        prefetch_value(batch->sources, i, batch->count, image.source_bytes);
    for (size_t i = 0; i < batch->count; i++) {
        prefetch_value(batch->sources, i + PREFETCH_AHEAD, batch->count, image.source_bytes);
        image.next = batch->sources[i + 1 < batch->count ? i + 1 : i];
        struct placement placement = assemble_placement(a, batch->placements, i);
        image.source = batch->sources[i];
        image.out = batch->out + i * bytes;
        image.end = image.out + bytes;
        image.first =
            placement.top - (int32_t)a->pad + (placement.vertical_flip ? (int32_t)a->out_height - 1 : 0);
        image.step = placement.vertical_flip ? -1 : 1;
        make_image(&image, a, &placement, way);
        if (a->cutout)
            assemble_cut(a, &placement, image.out);
    }
}

INLINE void assemble_batch(const struct batch *batch, apl_dtype dtype)
{
    size_t planes = batch->a->layout == APL_NHWC ? batch->a->channels : 1;
    if (planes == 1)
        assemble_images(batch, (struct way){.planes = 1, .dtype = dtype});
    else if (planes == 3)
        assemble_images(batch, (struct way){.planes = 3, .dtype = dtype});
    else
        assemble_images(batch, (struct way){.planes = planes, .dtype = dtype});
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
