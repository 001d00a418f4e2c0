/* A rectangle overwritten: see erase.h. */
#include "erase.h"

#include "exact.h"
#include "halves.h"
#include "noise.h"

#define TRIES       10
#define WORD_VALUES 2 /* noise from one word */
#define DRAW_VALUES (4 * WORD_VALUES)

bool erase_draw(const apl_transform *t, const struct effect_draws *draws, uint32_t height, uint32_t width,
                struct erase_box *box)
{
    const double log_ratio[2] = {exact_log(t->erase_ratio[0]), exact_log(t->erase_ratio[1])};
    uint32_t words[4];
    effect_words(draws, DRAW_ERASE, words);
    if (!effect_happens(words[0], t->erase_p))
        return false;
    for (uint32_t k = 0; k < TRIES; k++) {
        effect_words(draws, DRAW_BOX + k, words);
        double area = (double)height * width * effect_between(t->erase_area, words[0]);
        double ratio = exact_exp(effect_between(log_ratio, words[1]));
        double h = rint(sqrt(area * ratio)), w = rint(sqrt(area / ratio));
        if (h >= height || w >= width)
            continue;
        *box = (struct erase_box){.height = (uint32_t)h, .width = (uint32_t)w};
        box->top = effect_one_of(height - box->height + 1, words[2]);
        box->left = effect_one_of(width - box->width + 1, words[3]);
        return true;
    }
    return false;
}

/* One value of a result. */
struct value {
    uint8_t bytes[sizeof(float)];
};

static struct value erase_value_of(float number, apl_dtype dtype)
{
    struct value v = {{0}};
    uint16_t half = dtype == APL_F16 ? f16_of(number) : bf16_of(number);
    if (dtype == APL_U8)
        v.bytes[0] = (uint8_t)number;
    else if (dtype == APL_F32)
        memcpy(v.bytes, &number, sizeof number);
    else
        memcpy(v.bytes, &half, sizeof half);
    return v;
}

/* What a channel is filled with, but for noise. */
static float fill_of(const apl_transform *t, const struct assembly *a, unsigned channel)
{
    float value = t->erase_value[channel];
    if (t->erase != APL_ERASE_PIXEL || a->dtype == APL_U8)
        return value;
    value *= a->scale[channel]; /* rounded by itself, as in assemble() */
    return value + a->bias[channel];
}

/* A row of the box in one channel: `step` bytes from value to value. */
static void fill_row(uint8_t *to, size_t step, size_t element, uint32_t count, struct value v)
{
    for (uint32_t x = 0; x < count; x++)
        memcpy(to + x * step, v.bytes, element);
}

/* The same with noise: value `first` of the box and those after it. */
static void noise_row(uint8_t *to, size_t step, size_t element, uint32_t count, apl_dtype dtype,
                      const struct effect_draws *draws, uint32_t first)
{
    const float *quantiles = noise_quantiles();
    uint32_t words[4], drawn = UINT32_MAX;
    for (uint32_t x = 0; x < count; x++) {
        uint32_t at = first + x, which = at % DRAW_VALUES;
        if (at / DRAW_VALUES != drawn) {
            drawn = at / DRAW_VALUES;
            effect_words(draws, DRAW_NOISE + drawn, words);
        }
        uint32_t bits = words[which / WORD_VALUES] >> (which % WORD_VALUES * 16) & (NOISE_STEPS - 1);
        struct value v = erase_value_of(quantiles[bits], dtype);
        memcpy(to + x * step, v.bytes, element);
    }
}

static void erase_box(const apl_transform *t, const struct assembly *a, const struct effect_draws *draws,
                      const struct erase_box *box, uint8_t *image)
{
    bool planar = a->layout == APL_NCHW;
    size_t element = a->dtype == APL_U8 ? 1 : a->dtype == APL_F32 ? 4 : 2;
    size_t step = planar ? element : element * a->channels, row_bytes = step * a->out_width;
    for (unsigned c = 0; c < a->channels; c++) {
        uint8_t *at = image + (planar ? c * row_bytes * a->out_height : c * element) + box->left * step;
        struct value v = erase_value_of(fill_of(t, a, c), a->dtype);
        for (uint32_t y = 0; y < box->height; y++) {
            uint8_t *row = at + (box->top + y) * row_bytes;
            uint32_t first = (c * box->height + y) * box->width;
            if (t->erase == APL_ERASE_NOISE)
                noise_row(row, step, element, box->width, a->dtype, draws, first);
            else
                fill_row(row, step, element, box->width, v);
        }
    }
}

void erase_apply(const apl_transform *t, const struct assembly *a, const struct effect_draws *draws,
                 void *image)
{
    struct erase_box box;
    if (erase_draw(t, draws, a->out_height, a->out_width, &box))
        erase_box(t, a, draws, &box, image);
}
