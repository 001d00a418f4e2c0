/* The reference: one value after another. */
#include "resample.h"

static int16_t saturated(int32_t value)
{
    return (int16_t)(value < INT16_MIN ? INT16_MIN : value > INT16_MAX ? INT16_MAX : value);
}

static void across(const struct resample_axis *axis, const uint8_t *row, int16_t *out)
{
    const int16_t *weight = axis->weights;
    for (uint32_t i = 0; i < axis->count; i++) {
        const uint8_t *from = row + axis->first[i];
        int32_t sum = RESAMPLE_UNIT >> (RESAMPLE_POINT + 1);
        for (uint32_t k = 0; k < axis->taps; k++)
            sum += from[k] * *weight++;
        out[i] = (int16_t)(sum / (RESAMPLE_UNIT >> RESAMPLE_POINT));
    }
}

static void down(const int16_t *const *rows, const int16_t *weights, uint32_t taps, size_t n, int16_t *out)
{
    for (size_t i = 0; i < n; i++) {
        int32_t sum = RESAMPLE_UNIT / 2;
        for (uint32_t k = 0; k < taps; k++)
            sum += rows[k][i] * weights[k];
        out[i] = (int16_t)(sum / RESAMPLE_UNIT);
    }
}

static uint8_t to_byte(int16_t value)
{
    int32_t rounded = saturated(value + (1 << (RESAMPLE_POINT - 1))) >> RESAMPLE_POINT;
    return (uint8_t)(rounded < 0 ? 0 : rounded > 255 ? 255 : rounded);
}

static void bytes(const int16_t *row, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = to_byte(row[i]);
}

/* value * factor / 2^15, rounded. */
static int16_t part(int16_t value, int16_t factor)
{
    return (int16_t)((value * factor + (1 << 14)) >> 15);
}

static void colours(const int16_t *const ycc[3], size_t n, uint8_t *const rgb[3])
{
    for (size_t i = 0; i < n; i++) {
        int16_t y = ycc[0][i], cb = (int16_t)(ycc[1][i] - RESAMPLE_NO_CHROMA),
                cr = (int16_t)(ycc[2][i] - RESAMPLE_NO_CHROMA);
        int16_t green = (int16_t)(part(cb, RESAMPLE_GREEN_CB) + part(cr, RESAMPLE_GREEN_CR));
        rgb[0][i] = to_byte(saturated(y + cr + part(cr, RESAMPLE_RED_CR)));
        rgb[1][i] = to_byte(saturated(y - green));
        rgb[2][i] = to_byte(saturated(y + cb + part(cb, RESAMPLE_BLUE_CB)));
    }
}

const struct resample resample_scalar = {across, down, bytes, colours};
