/* Blurs across and then down, in whole numbers: see blur.h. */
#include "blur.h"

#include "exact.h"
#include "resample.h"
#include "status.h"

#define TAPS (BLUR_LONGEST + 1) /* an even number: the last weight is 0 */

struct blur {
    const struct resample *kernels;
    int16_t across[TAPS], down[TAPS]; /* weights */
    unsigned width, height;           /* of the kernel */
    size_t stride;                    /* values of a row of `rows`, and of `out` */
    int16_t *padded, *rows, *out;     /* a row with what is reflected; all rows, blurred across */
};

/* The weight of a sample so far from the middle, but for a factor. */
static double weight_at(double distance, double sigma)
{
    double power = distance * distance / (2 * sigma * sigma);
    return power < 100 ? exact_exp(-power) : 0;
}

/* They sum up to RESAMPLE_UNIT: what rounding takes from one goes to the next, towards the middle. */
static void find_weights(unsigned size, double sigma, int16_t weights[TAPS])
{
    double sum = 0, so_far = 0;
    int32_t given = 0, half = (int32_t)size / 2;
    for (int32_t k = 0; k < (int32_t)size; k++)
        sum += weight_at(k - half, sigma);
    for (int32_t k = 0; k < half; k++) {
        so_far += weight_at(k - half, sigma) / sum * RESAMPLE_UNIT;
        weights[k] = weights[(int32_t)size - 1 - k] = (int16_t)((int32_t)rint(so_far) - given);
        given += weights[k];
    }
    weights[half] = (int16_t)(RESAMPLE_UNIT - 2 * given);
    weights[size] = 0;
}

/* The place that is seen at `at`, without repeating the edge. */
static size_t reflect(int32_t at, int32_t size)
{
    at = at < 0 ? -at : at;
    return (size_t)(at < size ? at : 2 * (size - 1) - at);
}

static void blur_across(const struct blur *b, const uint8_t *row, unsigned width, int16_t *to)
{
    const int16_t *taps[TAPS];
    int32_t half = (int32_t)b->width / 2;
    for (int32_t x = -half; x < (int32_t)width + half; x++)
        b->padded[x + half] = (int16_t)(row[reflect(x, (int32_t)width)] << RESAMPLE_POINT);
    for (unsigned k = 0; k <= b->width; k++)
        taps[k] = b->padded + k;
    b->kernels->down(taps, b->across, b->width + 1, b->stride, to);
}

static void blur_down(const struct blur *b, unsigned y, unsigned height)
{
    const int16_t *taps[TAPS];
    int32_t first = (int32_t)y - (int32_t)b->height / 2;
    for (unsigned k = 0; k < b->height; k++)
        taps[k] = b->rows + reflect(first + (int32_t)k, (int32_t)height) * b->stride;
    taps[b->height] = taps[0];
    b->kernels->down(taps, b->down, b->height + 1, b->stride, b->out);
}

static bool blur_reserve(struct blur *b, struct scratch *scratch, const struct image *p)
{
    b->stride = (p->width + RESAMPLE_BLOCK - 1) / RESAMPLE_BLOCK * RESAMPLE_BLOCK;
    size_t padded = b->stride + TAPS + RESAMPLE_BLOCK;
    size_t all = padded + (p->height + (size_t)1) * b->stride;
    b->padded = (int16_t *)scratch_reserve(scratch, all * sizeof *b->padded);
    if (!b->padded)
        return false;
    b->rows = b->padded + padded;
    b->out = b->rows + p->height * b->stride;
    return true;
}

apl_status blur_apply(struct scratch *scratch, const struct image *p, unsigned width, unsigned height,
                      double sigma, apl_error *err)
{
    struct blur b = {.kernels = resample_for(cpu_variant()), .width = width, .height = height};
    if (!blur_reserve(&b, scratch, p))
        return fail_nomem(err);
    find_weights(width, sigma, b.across);
    find_weights(height, sigma, b.down);
    for (unsigned c = 0; c < p->channels; c++) {
        uint8_t *plane = p->pixels + c * image_plane(p);
        for (unsigned y = 0; y < p->height; y++)
            blur_across(&b, plane + (size_t)y * p->width, p->width, b.rows + y * b.stride);
        for (unsigned y = 0; y < p->height; y++) {
            blur_down(&b, y, p->height);
            b.kernels->bytes(b.out, p->width, plane + (size_t)y * p->width);
        }
    }
    return APL_OK;
}
