/* The reference: one pixel after another. */
#include "assemble_variants.h"
#include "halves.h"

/* Keeps the compiler from making one instruction, rounded once, of the product and the sum. */
static inline float rounded(float value)
{
    uint32_t bits = float_bits(value);
    __asm__("" : "+r"(bits));
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void store_pixel(void *out, size_t at, uint8_t value, apl_dtype dtype, float scale, float bias)
{
    float result = rounded((float)value * scale) + bias;
    switch (dtype) {
    case APL_F32:
        ((float *)out)[at] = result;
        break;
    case APL_F16:
        ((uint16_t *)out)[at] = f16_of(result);
        break;
    case APL_BF16:
        ((uint16_t *)out)[at] = bf16_of(result);
        break;
    default:
        ((uint8_t *)out)[at] = value;
    }
}

/* Row and column are of the result. */
static uint8_t load_pixel(const struct assembly *a, const struct placement *p, const uint8_t *plane,
                          size_t row, size_t column)
{
    size_t x = p->flip ? a->out_width - 1 - column : column;
    size_t y = p->vertical_flip ? a->out_height - 1 - row : row;
    int32_t height = (int32_t)a->height, width = (int32_t)a->width, pad = (int32_t)a->pad;
    int32_t from_row = assemble_source(p->top + (int32_t)y - pad, height, a->pad_mode);
    int32_t from_column = assemble_source(p->left + (int32_t)x - pad, width, a->pad_mode);
    if (from_row < 0 || from_row >= height || from_column < 0 || from_column >= width)
        return 0;
    return plane[(size_t)from_row * a->width + (size_t)from_column];
}

static void assemble_plane(const struct assembly *a, const struct placement *p, const uint8_t *source,
                           size_t channel, void *image)
{
    const uint8_t *plane = source + channel * a->height * a->width;
    for (size_t row = 0; row < a->out_height; row++)
        for (size_t column = 0; column < a->out_width; column++) {
            size_t pixel = row * a->out_width + column;
            size_t at = a->layout == APL_NHWC ? pixel * a->channels + channel
                                              : channel * a->out_height * a->out_width + pixel;
            store_pixel(image, at, load_pixel(a, p, plane, row, column), a->dtype, a->scale[channel],
                        a->bias[channel]);
        }
}

void assemble_scalar(const struct assembly *assembly, const uint8_t *const *sources,
                     const struct placement *placements, size_t count, void *out)
{
    for (size_t i = 0; i < count; i++) {
        struct placement placement = assemble_placement(assembly, placements, i);
        void *image = (uint8_t *)out + i * assemble_bytes(assembly);
        for (size_t channel = 0; channel < assembly->channels; channel++)
            assemble_plane(assembly, &placement, sources[i], channel, image);
        assemble_cut(assembly, &placement, image);
    }
}
