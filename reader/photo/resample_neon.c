/* Resampling for arm64. */
#include "resample.h"

#include <arm_neon.h>

#define BLOCK RESAMPLE_BLOCK

/* The sums of two samples of each of four results. */
static inline int32x4_t add_step(int32x4_t sum, const uint8_t *row, const struct resample_step *step,
                                 int half)
{
    uint8x16_t samples = vld1q_u8(row + step->from[half]);
    int16x8_t picked = vreinterpretq_s16_u8(vqtbl1q_u8(samples, vld1q_u8(step->index + 16 * half)));
    int16x8_t weights = vld1q_s16(step->weights + 8 * half);
    int32x4_t low = vmull_s16(vget_low_s16(picked), vget_low_s16(weights));
    return vaddq_s32(sum, vpaddq_s32(low, vmull_high_s16(picked, weights)));
}

static void across(const struct resample_axis *axis, const uint8_t *row, int16_t *out)
{
    const struct resample_step *step = axis->steps;
    if (!step) {
        resample_scalar.across(axis, row, out);
        return;
    }
    for (uint32_t i = 0; i < axis->count; i += RESAMPLE_LANES) {
        int32x4_t low = vdupq_n_s32(0), high = low;
        for (uint32_t k = 0; k < axis->taps; k += 2, step++) {
            low = add_step(low, row, step, 0);
            high = add_step(high, row, step, 1);
        }
        vst1q_s16(out + i, vcombine_s16(vqrshrn_n_s32(low, 14 - RESAMPLE_POINT),
                                        vqrshrn_n_s32(high, 14 - RESAMPLE_POINT)));
    }
}

static void down(const int16_t *const *rows, const int16_t *weights, uint32_t taps, size_t n, int16_t *out)
{
    for (size_t i = 0; i < n; i += 8) {
        int32x4_t low = vdupq_n_s32(0), high = low;
        for (uint32_t k = 0; k < taps; k++) {
            int16x8_t values = vld1q_s16(rows[k] + i);
            low = vmlal_n_s16(low, vget_low_s16(values), weights[k]);
            high = vmlal_high_n_s16(high, values, weights[k]);
        }
        vst1q_s16(out + i, vcombine_s16(vqrshrn_n_s32(low, 14), vqrshrn_n_s32(high, 14)));
    }
}

/* 8 values to bytes; of the last ones of a row, only those that are there. */
static inline void put(uint8_t *out, size_t left, int16x8_t values)
{
    int16x8_t half = vdupq_n_s16(1 << (RESAMPLE_POINT - 1));
    uint8x8_t result = vqmovun_s16(vshrq_n_s16(vqaddq_s16(values, half), RESAMPLE_POINT));
    uint8_t all[8];
    vst1_u8(left < 8 ? all : out, result);
    if (left < 8)
        memcpy(out, all, left);
}

static void bytes(const int16_t *row, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i += 8)
        put(out + i, n - i, vld1q_s16(row + i));
}

static void colours(const int16_t *const ycc[3], size_t n, uint8_t *const rgb[3])
{
    int16x8_t none = vdupq_n_s16(RESAMPLE_NO_CHROMA);
    for (size_t i = 0; i < n; i += 8) {
        int16x8_t y = vld1q_s16(ycc[0] + i);
        int16x8_t cb = vsubq_s16(vld1q_s16(ycc[1] + i), none), cr = vsubq_s16(vld1q_s16(ycc[2] + i), none);
        int16x8_t green =
            vaddq_s16(vqrdmulhq_n_s16(cb, RESAMPLE_GREEN_CB), vqrdmulhq_n_s16(cr, RESAMPLE_GREEN_CR));
        put(rgb[0] + i, n - i, vqaddq_s16(y, vaddq_s16(cr, vqrdmulhq_n_s16(cr, RESAMPLE_RED_CR))));
        put(rgb[1] + i, n - i, vqsubq_s16(y, green));
        put(rgb[2] + i, n - i, vqaddq_s16(y, vaddq_s16(cb, vqrdmulhq_n_s16(cb, RESAMPLE_BLUE_CB))));
    }
}

const struct resample resample_neon = {across, down, bytes, colours};
