/* MixUp and CutMix: see blend.h. */
#include "blend.h"

#include "beta.h"
#include "draws.h"

#include <math.h>

const struct blend *blend_for(enum cpu_variant variant)
{
    switch (variant) {
#if defined(__x86_64__)
    case CPU_AVX2:
        return &blend_avx2;
    case CPU_AVX512:
        return &blend_avx512;
#endif
    default:
        return &blend_scalar;
    }
}

/* ----------------------------------------------------------------------------------------------- draws */

struct blend_key blend_key(uint64_t seed, uint64_t epoch, uint64_t position, uint32_t rank)
{
    return (struct blend_key){.key = random_epoch_key(seed, epoch, RANDOM_BLEND).low,
                              .counter = {(uint32_t)position, (uint32_t)(position >> 32), rank}};
}

static uint32_t less(uint32_t at, uint32_t by)
{
    return at > by ? at - by : 0;
}

static uint32_t at_most(uint32_t at, uint32_t most)
{
    return at < most ? at : most;
}

/* A rectangle with the middle drawn, of which what is outside of the image does not count. */
static void draw_rectangle(struct blend_plan *p, const uint32_t words[4], uint32_t height, uint32_t width)
{
    double half = 0.5 * sqrt(1 - p->own);
    uint32_t x = effect_one_of(width, words[2]), y = effect_one_of(height, words[3]);
    uint32_t across = (uint32_t)(half * width), down = (uint32_t)(half * height);
    p->left = less(x, across);
    p->top = less(y, down);
    p->right = at_most(x + across, width);
    p->bottom = at_most(y + down, height);
    double area = (double)(p->right - p->left) * (p->bottom - p->top);
    p->own = 1 - area / ((double)width * height);
}

struct blend_plan blend_draw(const apl_blend *b, struct blend_key key, uint32_t height, uint32_t width)
{
    const uint32_t counter[4] = {key.counter[0], key.counter[1], key.counter[2], 0};
    struct blend_plan p = {.how = BLEND_NOTHING, .own = 1};
    uint32_t words[4];
    philox(key.key, counter, words);
    if (!effect_happens(words[0], b->p))
        return p;
    p.how = effect_happens(words[1], b->cutmix_p) ? BLEND_CUTMIX : BLEND_MIXUP;
    p.own = beta_draw(p.how == BLEND_CUTMIX ? b->cutmix_alpha : b->mixup_alpha, key.key, key.counter);
    if (p.how == BLEND_CUTMIX)
        draw_rectangle(&p, words, height, width);
    return p;
}

/* ---------------------------------------------------------------------------------------------- images */

static void mix_row(const struct blend_plan *p, const struct blend_images *images, size_t n, uint8_t *row,
                    const uint8_t *before)
{
    const struct blend *k = blend_for(cpu_variant());
    float own = (float)p->own, other = (float)(1 - p->own);
    if (images->dtype == APL_F32)
        k->f32((float *)(void *)row, (const float *)(const void *)before, n, own, other);
    else if (images->dtype == APL_F16)
        k->f16((uint16_t *)(void *)row, (const uint16_t *)(const void *)before, n, own, other);
    else
        k->bf16((uint16_t *)(void *)row, (const uint16_t *)(const void *)before, n, own, other);
}

static void cut_row(const struct blend_plan *p, const struct blend_images *images, uint8_t *row,
                    const uint8_t *before)
{
    size_t pixel = apl_dtype_size(images->dtype) * images->channels, bytes = (p->right - p->left) * pixel;
    for (uint32_t plane = 0; plane < images->planes; plane++)
        for (uint32_t y = p->top; y < p->bottom; y++) {
            size_t at = (((size_t)plane * images->height + y) * images->width + p->left) * pixel;
            memcpy(row + at, before + at, bytes);
        }
}

/* From the last on, so that each finds the one before it as it was; the last waits for the first. */
bool blend_apply(struct scratch *last, const struct blend_plan *p, const struct blend_images *images)
{
    size_t n = (size_t)images->planes * images->height * images->width * images->channels;
    size_t bytes = n * apl_dtype_size(images->dtype);
    if (p->how == BLEND_NOTHING || images->rows == 0)
        return true;
    if (!scratch_reserve(last, bytes))
        return false;
    memcpy(last->data, images->data + (images->rows - 1) * bytes, bytes);
    for (size_t k = images->rows; k-- > 0;) {
        uint8_t *row = images->data + k * bytes;
        const uint8_t *before = k ? row - bytes : last->data;
        if (p->how == BLEND_CUTMIX)
            cut_row(p, images, row, before);
        else
            mix_row(p, images, n, row, before);
    }
    return true;
}

void blend_label(const struct blend_plan *p, double smoothing, uint32_t own, uint32_t other, uint32_t classes,
                 float *out)
{
    float off = (float)(smoothing / classes), on = (float)(1 - smoothing + smoothing / classes);
    float mine = (float)p->own, theirs = (float)(1 - p->own);
    for (uint32_t c = 0; c < classes; c++) {
        float a = c == other ? on : off, b = c == own ? on : off;
        out[c] = p->how == BLEND_NOTHING ? b : a * theirs + b * mine;
    }
}
