/* The reference, in plain C: row after row is cropped, and its values are looked up, as a pixel has but 256. */
#include "assemble_cut.h"
#include "halves.h"

#define INLINE static inline __attribute__((always_inline))

#define STRIP  256u /* pixels of a row at a time */
#define PIXELS 256u /* that differ */

/* What each pixel of a channel becomes. */
union table {
    float f32[PIXELS];
    uint16_t half[PIXELS];
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

static void fill_table(union table *table, apl_dtype dtype, float scale, float bias)
{
    for (unsigned v = 0; v < PIXELS; v++) {
        float value = rounded((float)v * scale) + bias;
        if (dtype == APL_F32)
            table->f32[v] = value;
        else
            table->half[v] = dtype == APL_F16 ? f16_of(value) : bf16_of(value);
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
                    size_t end, uint8_t *to)
{
    for (size_t i = begin; i < end; i++)
        to[i] = row[assemble_source(s->first + s->step * (int32_t)i, (int32_t)a->width, a->pad_mode)];
}

/* row: of the source; NULL: one of padding with 0. */
INLINE void crop_row(const struct assembly *a, const struct strip *s, const uint8_t *row, uint8_t *to)
{
    size_t inside = s->end > s->begin ? s->end - s->begin : 0;
    if (!row || (inside < s->width && a->pad_mode != APL_PAD_REFLECT))
        assemble_clear(to, s->width);
    else if (inside < s->width) {
        reflect(a, s, row, 0, s->begin, to);
        reflect(a, s, row, s->end, s->width, to);
    }
    if (!row || inside == 0)
        return;
    if (s->step > 0)
        copy_pixels(to + s->begin, row + s->first + (int32_t)s->begin, inside);
    else
        reverse_pixels(to + s->begin, row + s->first - (int32_t)(s->end - 1), inside);
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

/* Some channels, cropped, of a row: one, or all. */
struct line {
    uint8_t pixels[APL_MAX_CHANNELS][STRIP];
};

/* As they follow each other in the result: of all channels, then of all channels of the next pixel. */
INLINE void convert(const struct line *line, size_t count, size_t channels, const union table *tables,
                    apl_dtype dtype, uint8_t *to)
{
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < channels; c++, to += element_bytes(dtype)) {
            uint8_t pixel = line->pixels[c][i];
            if (dtype == APL_U8)
                *to = pixel;
            else if (dtype == APL_F32)
                memcpy(to, &tables[c].f32[pixel], 4);
            else
                memcpy(to, &tables[c].half[pixel], 2);
        }
}

#define BLOCK 16u /* of a length that compilers make vectors of */

INLINE void scale_block(const uint8_t *pixels, const struct assembly *a, size_t channel, uint8_t *to)
{
    float value[BLOCK], scale = a->scale[channel], bias = a->bias[channel];
    for (unsigned i = 0; i < BLOCK; i++)
        value[i] = (float)pixels[i] * scale;
    __asm__("" : "+m"(value)); /* rounded before the sum is taken */
    for (unsigned i = 0; i < BLOCK; i++)
        value[i] += bias;
    memcpy(to, value, sizeof value);
}

/* A row of one channel as f32, which is computed sooner than looked up. */
INLINE void scale_row(const uint8_t *pixels, size_t count, const struct assembly *a, size_t channel,
                      uint8_t *to)
{
    uint8_t few[BLOCK] = {0}, last[BLOCK * 4];
    size_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK)
        scale_block(pixels + i, a, channel, to + i * 4);
    if (i == count)
        return;
    memcpy(few, pixels + i, count - i);
    scale_block(few, a, channel, last);
    memcpy(to + i * 4, last, (count - i) * 4);
}

/* One strip of `channels` channels from `first` on: one, or all, interleaved. */
INLINE void make_strip(const struct assembly *a, const struct placement *p, const struct strip *s,
                       const uint8_t *source, size_t first, size_t channels, const union table *tables,
                       apl_dtype dtype, uint8_t *to)
{
    size_t plane = (size_t)a->height * a->width, pixel = channels * element_bytes(dtype);
    struct line line;
    to += s->to * pixel;
    for (size_t row = 0; row < a->out_height; row++, to += a->out_width * pixel) {
        const uint8_t *from = find_row(a, p, source + first * plane, row);
        if (dtype == APL_U8 && channels == 1) {
            crop_row(a, s, from, to);
            continue;
        }
        for (size_t c = 0; c < channels; c++)
            crop_row(a, s, from ? from + c * plane : NULL, line.pixels[c]);
        if (dtype == APL_F32 && channels == 1)
            scale_row(line.pixels[0], s->width, a, first, to);
        else
            convert(&line, s->width, channels, tables + first, dtype, to);
    }
}

INLINE void make_image(const struct assembly *a, const struct placement *p, const uint8_t *source,
                       const union table *tables, apl_dtype dtype, uint8_t *image)
{
    size_t out_plane = (size_t)a->out_height * a->out_width * element_bytes(dtype);
    for (size_t at = 0; at < a->out_width; at += STRIP) {
        struct strip strip = find_strip(a, p, at);
        if (a->layout == APL_NHWC && a->channels == 3)
            make_strip(a, p, &strip, source, 0, 3, tables, dtype, image);
        else if (a->layout == APL_NHWC)
            make_strip(a, p, &strip, source, 0, a->channels, tables, dtype, image);
        else
            for (size_t c = 0; c < a->channels; c++)
                make_strip(a, p, &strip, source, c, 1, tables, dtype, image + c * out_plane);
    }
}

static void make_image_of(const struct assembly *a, const struct placement *p, const uint8_t *source,
                          const union table *tables, uint8_t *image)
{
    if (a->dtype == APL_U8)
        make_image(a, p, source, tables, APL_U8, image);
    else if (a->dtype == APL_F32)
        make_image(a, p, source, tables, APL_F32, image);
    else
        make_image(a, p, source, tables, APL_F16, image); /* or APL_BF16: halves are looked up alike */
}

void assemble_scalar(const struct assembly *assembly, const uint8_t *const *sources,
                     const struct placement *placements, size_t count, void *out)
{
    union table tables[APL_MAX_CHANNELS];
    for (unsigned c = 0; c < assembly->channels && assembly->dtype != APL_U8; c++)
        fill_table(&tables[c], assembly->dtype, assembly->scale[c], assembly->bias[c]);
    for (size_t i = 0; i < count; i++) {
        struct placement placement = assemble_placement(assembly, placements, i);
        uint8_t *image = (uint8_t *)out + i * assemble_bytes(assembly);
        make_image_of(assembly, &placement, sources[i], tables, image);
        assemble_cut(assembly, &placement, image);
    }
}
