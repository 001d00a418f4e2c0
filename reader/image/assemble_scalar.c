/* The reference, in plain C: rows are cropped, then their pixels computed or, where that takes longer, looked up. */
#include "assemble_cut.h"
#include "halves.h"
#include "interleave.h"
#include "prefetch.h"

#define INLINE static inline __attribute__((always_inline))

#define STRIP  256u /* pixels of a row at a time */
#define PIXELS 256u /* that differ */

#define BLOCK 16u /* pixels, of which compilers make vectors */

/* By value of a block of three channels, interleaved. */
struct factors {
    float scale[3 * BLOCK], bias[3 * BLOCK];
};

/* One image on its way. tables: what each pixel of a channel becomes, as a half. */
struct work {
    const struct assembly *a;
    struct placement placement;
    const uint8_t *source;
    uint16_t (*tables)[PIXELS];
    const struct factors *factors;
};

/* `width` columns of the result from `to` on. Of them, begin ... end - 1 are those of a row of the source in its order, from column
 * `first` on, or, backwards, in the opposite one; the others lie in the padding. */
struct strip {
    size_t to, width, begin, end;
    int32_t first, step;
};

/* Keeps the compiler from making one instruction, rounded once, of the product and the sum. */
static inline float rounded(float value)
{
    uint32_t bits = float_bits(value);
    __asm__("" : "+r"(bits));
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void fill_table(uint16_t table[PIXELS], apl_dtype dtype, float scale, float bias)
{
    for (unsigned v = 0; v < PIXELS; v++) {
        float value = rounded((float)v * scale) + bias;
        table[v] = dtype == APL_F16 ? f16_of(value) : bf16_of(value);
    }
}

static void fill_factors(struct factors *by, const struct assembly *a)
{
    for (size_t i = 0; i < 3 * BLOCK; i++) {
        by->scale[i] = a->scale[i % 3];
        by->bias[i] = a->bias[i % 3];
    }
}

/* ------------------------------------------------------------------------------------------------ rows */

/* Like memcpy(), for rows so short that the call would cost most. */
INLINE void copy_pixels(uint8_t *to, const uint8_t *from, size_t count)
{
    if (count < 16) {
        for (size_t i = 0; i < count; i++)
            to[i] = from[i];
        return;
    }
    for (size_t i = 0; i + 16 < count; i += 16)
        memcpy(to + i, from + i, 16);
    memcpy(to + count - 16, from + count - 16, 16);
}

INLINE void reverse_8(uint8_t *to, const uint8_t *from)
{
    uint64_t pixels;
    memcpy(&pixels, from, 8);
    pixels = __builtin_bswap64(pixels);
    memcpy(to, &pixels, 8);
}

INLINE void reverse_pixels(uint8_t *to, const uint8_t *from, size_t count)
{
    if (count < 8) {
        for (size_t i = 0; i < count; i++)
            to[i] = from[count - 1 - i];
        return;
    }
    for (size_t i = 0; i + 8 < count; i += 8)
        reverse_8(to + i, from + count - 8 - i);
    reverse_8(to + count - 8, from);
}

static struct strip find_strip(const struct assembly *a, const struct placement *p, size_t to)
{
    size_t left = a->out_width - to;
    struct strip s = {.to = to, .width = left < STRIP ? left : STRIP, .step = p->flip ? -1 : 1};
    s.first = p->left - (int32_t)a->pad + (int32_t)(p->flip ? left - 1 : to);
    int64_t width = (int64_t)s.width, last = (int64_t)a->width - 1;
    int64_t begin = s.step > 0 ? -(int64_t)s.first : s.first - last;
    int64_t end = s.step > 0 ? last - s.first + 1 : (int64_t)s.first + 1;
    s.begin = begin < 0 ? 0 : (size_t)(begin < width ? begin : width);
    s.end = end < 0 ? 0 : (size_t)(end < width ? end : width);
    return s;
}

static void reflect(const struct assembly *a, const struct strip *s, const uint8_t *row, size_t begin,
                    size_t end, size_t stride, uint8_t *to)
{
    for (size_t i = begin; i < end; i++)
        to[i * stride] =
            row[assemble_source(s->first + s->step * (int32_t)i, (int32_t)a->width, a->pad_mode)];
}

/* row: of the source; NULL: one of padding with 0. */
INLINE void crop_row(const struct assembly *a, const struct strip *s, const uint8_t *row, uint8_t *to)
{
    size_t inside = s->end > s->begin ? s->end - s->begin : 0;
    if (!row || (inside < s->width && a->pad_mode != APL_PAD_REFLECT))
        assemble_clear(to, s->width);
    else if (inside < s->width) {
        reflect(a, s, row, 0, s->begin, 1, to);
        reflect(a, s, row, s->end, s->width, 1, to);
    }
    if (!row || inside == 0)
        return;
    if (s->step > 0)
        copy_pixels(to + s->begin, row + s->first + (int32_t)s->begin, inside);
    else
        reverse_pixels(to + s->begin, row + s->first - (int32_t)(s->end - 1), inside);
}

/* The same of three planes, interleaved. */
INLINE void crop_row_of_3(const struct assembly *a, const struct strip *s, const uint8_t *row, uint8_t *to)
{
    size_t inside = s->end > s->begin ? s->end - s->begin : 0, plane = (size_t)a->height * a->width;
    if (!row || (inside < s->width && a->pad_mode != APL_PAD_REFLECT))
        assemble_clear(to, 3 * s->width);
    for (size_t c = 0; c < 3 && row && inside < s->width && a->pad_mode == APL_PAD_REFLECT; c++) {
        reflect(a, s, row + c * plane, 0, s->begin, 3, to + c);
        reflect(a, s, row + c * plane, s->end, s->width, 3, to + c);
    }
    if (!row || inside == 0)
        return;
    if (s->step > 0)
        interleave_row(row + s->first + (int32_t)s->begin, plane, inside, false, to + 3 * s->begin);
    else
        interleave_row(row + s->first - (int32_t)(s->end - 1), plane, inside, true, to + 3 * s->begin);
}

/* Row `row` of the result, of a plane of the source. */
INLINE const uint8_t *find_row(const struct assembly *a, const struct placement *p, const uint8_t *plane,
                               size_t row)
{
    int32_t y = (int32_t)(p->vertical_flip ? a->out_height - 1 - row : row), height = (int32_t)a->height;
    int32_t from = assemble_source(p->top + y - (int32_t)a->pad, height, a->pad_mode);
    return from < 0 || from >= height ? NULL : plane + (size_t)from * a->width;
}

/* ---------------------------------------------------------------------------------------------- images */

#define PART \
    1024u /* pixels of a channel at a time: read long after they are written, which processors are faster at */

/* Rows of some channels, cropped, one after another. */
struct part {
    uint8_t pixels[APL_MAX_CHANNELS][PART + BLOCK];
};

/* As f32, which is computed sooner than looked up; every `stride`th value from `to` on. */
INLINE void scale(const uint8_t *pixels, size_t count, float factor, float bias, size_t stride, uint8_t *to)
{
    float value[BLOCK];
    for (size_t at = 0; at < count; at += BLOCK, to += BLOCK * stride * 4) {
        size_t n = count - at < BLOCK ? count - at : BLOCK;
        for (unsigned i = 0; i < BLOCK; i++)
            value[i] = (float)pixels[at + i] * factor + bias; /* compiled with -ffp-contract=off, as all is */
        if (stride == 1 && n == BLOCK)
            memcpy(to, value, sizeof value);
        else if (n == BLOCK)
            for (size_t i = 0; i < BLOCK; i++)
                memcpy(to + i * stride * 4, &value[i], 4);
        else
            for (size_t i = 0; i < n; i++)
                memcpy(to + i * stride * 4, &value[i], 4);
    }
}

INLINE void look_up(const uint8_t *pixels, size_t count, const uint16_t table[PIXELS], size_t stride,
                    uint8_t *to)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < count; i++)
        memcpy(to + i * stride * 2, &table[pixels[i]], 2);
}

/* `count` pixels of the channels from `first` on, interleaved, which begin at `at` in the part. */
INLINE void convert(const struct part *part, size_t at, size_t count, const struct work *w, size_t first,
                    size_t channels, apl_dtype dtype, uint8_t *to)
{
    if (dtype == APL_U8) {
#pragma GCC unroll 4
        for (size_t i = 0; i < count; i++)
            for (size_t c = 0; c < channels; c++)
                *to++ = part->pixels[c][at + i];
        return;
    }
    for (size_t c = 0; c < channels; c++) {
        const uint8_t *pixels = part->pixels[c] + at;
        if (dtype == APL_F32)
            scale(pixels, count, w->a->scale[first + c], w->a->bias[first + c], channels, to + c * 4);
        else
            look_up(pixels, count, w->tables[first + c], channels, to + c * 2);
    }
}

/* Three channels, interleaved, as f32: `count` values, of which blocks begin with channel 0. As in scale(), whole blocks are read. */
INLINE void scale_3(const uint8_t *pixels, size_t count, const struct factors *by, uint8_t *to)
{
    float value[3 * BLOCK];
    for (size_t at = 0; at < count; at += 3 * BLOCK) {
        size_t n = count - at < 3 * BLOCK ? count - at : 3 * BLOCK;
        for (unsigned i = 0; i < 3 * BLOCK; i++)
            value[i] = (float)pixels[at + i] * by->scale[i] + by->bias[i];
        if (n == 3 * BLOCK)
            memcpy(to + at * 4, value, sizeof value);
        else
            memcpy(to + at * 4, value, n * 4);
    }
}

/* Rows of a strip of three channels, interleaved. */
INLINE void make_strip_of_3(const struct work *w, const struct strip *s, apl_dtype dtype, uint8_t *to)
{
    size_t row_bytes = w->a->out_width * 3 * element_bytes(dtype);
    uint8_t pixels[3 * (STRIP + BLOCK)];
    to += s->to * 3 * element_bytes(dtype);
    for (size_t row = 0; row < w->a->out_height; row++, to += row_bytes) {
        crop_row_of_3(w->a, s, find_row(w->a, &w->placement, w->source, row), dtype == APL_U8 ? to : pixels);
        if (dtype == APL_F32)
            scale_3(pixels, 3 * s->width, w->factors, to);
    }
}

/* Rows of a strip, and what they become. */
INLINE void make_rows(const struct work *w, const struct strip *s, size_t row, size_t rows, size_t first,
                      size_t channels, apl_dtype dtype, uint8_t *to)
{
    size_t plane = (size_t)w->a->height * w->a->width, pixel = channels * element_bytes(dtype);
    struct part part;
    for (size_t i = 0; i < rows; i++) {
        const uint8_t *from = find_row(w->a, &w->placement, w->source + first * plane, row + i);
        for (size_t c = 0; c < channels; c++)
            crop_row(w->a, s, from ? from + c * plane : NULL, part.pixels[c] + i * s->width);
    }
    if (s->width == w->a->out_width) {
        convert(&part, 0, rows * s->width, w, first, channels, dtype, to);
        return;
    }
    for (size_t i = 0; i < rows; i++)
        convert(&part, i * s->width, s->width, w, first, channels, dtype, to + i * w->a->out_width * pixel);
}

/* One strip of `channels` channels from `first` on: one, or all, interleaved. */
INLINE void make_strip(const struct work *w, const struct strip *s, size_t first, size_t channels,
                       apl_dtype dtype, uint8_t *to)
{
    size_t height = w->a->out_height, pixel = channels * element_bytes(dtype), most = PART / s->width;
    size_t row_bytes = w->a->out_width * pixel, plane = (size_t)w->a->height * w->a->width;
    to += s->to * pixel;
    if (dtype == APL_U8 && channels == 1)
        for (size_t row = 0; row < height; row++)
            crop_row(w->a, s, find_row(w->a, &w->placement, w->source + first * plane, row),
                     to + row * row_bytes);
    else
        for (size_t row = 0; row < height; row += most) {
            size_t rows = height - row < most ? height - row : most;
            make_rows(w, s, row, rows, first, channels, dtype, to + row * row_bytes);
        }
}

INLINE void make_image(const struct work *w, apl_dtype dtype, uint8_t *image)
{
    const struct assembly *a = w->a;
    size_t out_plane = (size_t)a->out_height * a->out_width * element_bytes(dtype);
    for (size_t at = 0; at < a->out_width; at += STRIP) {
        struct strip strip = find_strip(a, &w->placement, at);
        if (a->layout == APL_NHWC && a->channels == 3 && element_bytes(dtype) != 2)
            make_strip_of_3(w, &strip, dtype, image);
        else if (a->layout == APL_NHWC && a->channels == 3)
            make_strip(w, &strip, 0, 3, dtype, image);
        else if (a->layout == APL_NHWC)
            make_strip(w, &strip, 0, a->channels, dtype, image);
        else
            for (size_t c = 0; c < a->channels; c++)
                make_strip(w, &strip, c, 1, dtype, image + c * out_plane);
    }
}

static void make_image_of(const struct work *w, uint8_t *image)
{
    if (w->a->dtype == APL_U8)
        make_image(w, APL_U8, image);
    else if (w->a->dtype == APL_F32)
        make_image(w, APL_F32, image);
    else
        make_image(w, APL_F16, image); /* or APL_BF16: halves are looked up alike */
}

void assemble_scalar(const struct assembly *assembly, const uint8_t *const *sources,
                     const struct placement *placements, size_t count, void *out)
{
    struct work work = {.a = assembly};
    uint16_t tables[APL_MAX_CHANNELS][PIXELS];
    work.tables = tables;
    for (unsigned c = 0; c < assembly->channels && element_bytes(assembly->dtype) == 2; c++)
        fill_table(tables[c], assembly->dtype, assembly->scale[c], assembly->bias[c]);
    struct factors factors;
    work.factors = &factors;
    fill_factors(&factors, assembly);
    size_t source_bytes = (size_t)assembly->channels * assembly->height * assembly->width;
    for (size_t i = 0; i < count; i++) {
        prefetch_value(sources, i + PREFETCH_AHEAD, count, source_bytes);
        uint8_t *image = (uint8_t *)out + i * assemble_bytes(assembly);
        work.placement = assemble_placement(assembly, placements, i);
        work.source = sources[i];
        make_image_of(&work, image);
        assemble_cut(assembly, &work.placement, image);
    }
}
