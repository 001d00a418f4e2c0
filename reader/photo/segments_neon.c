/* Decoding for arm64: the inverse DCT of one block at a time. */
#define IDCT_BLOCKS 1
#include "segments_body.h"

#include <arm_neon.h>

typedef int16x8_t lanes;

typedef struct {
    int32x4_t low, high; /* columns 0 ... 3 and 4 ... 7 */
} wide;

static inline lanes lanes_load(const int16_t *values)
{
    return vld1q_s16(values);
}

static inline void lanes_clear(int16_t *values)
{
    vst1q_s16(values, vdupq_n_s16(0));
}

static inline lanes lanes_quant(const struct group *g, unsigned row)
{
    return vld1q_s16(g->quant + 8 * row);
}

static inline lanes lanes_times(lanes a, lanes b)
{
    return vmulq_s16(a, b);
}

static inline lanes lanes_plus(lanes a, lanes b)
{
    return vaddq_s16(a, b);
}

static inline lanes lanes_minus(lanes a, lanes b)
{
    return vsubq_s16(a, b);
}

static inline bool lanes_beyond(lanes a)
{
    int16x8_t kept = vshrq_n_s16(vshlq_n_s16(a, IDCT_PASS1), IDCT_PASS1);
    return vminvq_u16(vceqq_s16(a, kept)) == 0;
}

static inline wide wide_two(lanes a, int fa, lanes b, int fb)
{
    int32x4_t low = vmull_n_s16(vget_low_s16(a), (int16_t)fa);
    int32x4_t high = vmull_high_n_s16(a, (int16_t)fa);
    return (wide){vmlal_n_s16(low, vget_low_s16(b), (int16_t)fb), vmlal_high_n_s16(high, b, (int16_t)fb)};
}

static inline wide wide_raised(lanes a, int bits)
{
    int32x4_t by = vdupq_n_s32(bits);
    return (wide){vshlq_s32(vmovl_s16(vget_low_s16(a)), by), vshlq_s32(vmovl_high_s16(a), by)};
}

static inline wide wide_plus(wide a, wide b)
{
    return (wide){vaddq_s32(a.low, b.low), vaddq_s32(a.high, b.high)};
}

static inline wide wide_minus(wide a, wide b)
{
    return (wide){vsubq_s32(a.low, b.low), vsubq_s32(a.high, b.high)};
}

/* The sum with what rounds it wraps, as it does in other variants: no rounding shift, which would not. */
static inline lanes wide_rounded(wide w, unsigned bits)
{
    int32x4_t half = vdupq_n_s32(1 << (bits - 1)), by = vdupq_n_s32(-(int)bits);
    int16x4_t low = vqmovn_s32(vshlq_s32(vaddq_s32(w.low, half), by));
    return vqmovn_high_s32(low, vshlq_s32(vaddq_s32(w.high, half), by));
}

static inline void lanes_transpose(lanes row[8])
{
    int16x8_t a[8], b[8];
    for (int i = 0; i < 4; i++) {
        a[2 * i] = vzip1q_s16(row[i], row[i + 4]);
        a[2 * i + 1] = vzip2q_s16(row[i], row[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        b[2 * i] = vzip1q_s16(a[i], a[i + 4]);
        b[2 * i + 1] = vzip2q_s16(a[i], a[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        row[2 * i] = vzip1q_s16(b[i], b[i + 4]);
        row[2 * i + 1] = vzip2q_s16(b[i], b[i + 4]);
    }
}

/* Two columns to bytes. */
static inline uint8x16_t samples_of(lanes a, lanes b)
{
    int8x16_t signed_samples = vqmovn_high_s16(vqmovn_s16(a), b);
    return veorq_u8(vreinterpretq_u8_s8(signed_samples), vdupq_n_u8(128));
}

/* Eight columns to rows: by interleaving those of every second column, and so on. */
static inline void lanes_put8(const lanes column[8], const struct group *g)
{
    uint8x16_t a[4], b[4];
    for (int i = 0; i < 4; i++)
        a[i] = samples_of(column[i], column[i + 4]);
    for (int i = 0; i < 2; i++) {
        b[2 * i] = vzip1q_u8(a[i], a[i + 2]);
        b[2 * i + 1] = vzip2q_u8(a[i], a[i + 2]);
    }
    a[0] = vzip1q_u8(b[0], b[2]);
    a[1] = vzip2q_u8(b[0], b[2]);
    a[2] = vzip1q_u8(b[1], b[3]);
    a[3] = vzip2q_u8(b[1], b[3]);
    for (unsigned i = 0; i < 2; i++) {
        uint32x4_t left = vreinterpretq_u32_u8(a[i]), right = vreinterpretq_u32_u8(a[i + 2]);
        uint8x16_t rows[2] = {vreinterpretq_u8_u32(vzip1q_u32(left, right)),
                              vreinterpretq_u8_u32(vzip2q_u32(left, right))};
        for (unsigned k = 0; k < 2; k++) {
            uint8_t *out = g->out[0] + (4 * i + 2 * k) * g->stride;
            vst1_u8(out, vget_low_u8(rows[k]));
            vst1_u8(out + g->stride, vget_high_u8(rows[k]));
        }
    }
}

static inline void lanes_put4(const lanes column[4], const struct group *g)
{
    uint8x16_t even = samples_of(column[0], column[2]), odd = samples_of(column[1], column[3]);
    uint16x8_t left = vreinterpretq_u16_u8(vzip1q_u8(even, odd));
    uint16x8_t right = vreinterpretq_u16_u8(vzip2q_u8(even, odd));
    uint8_t samples[4][4];
    vst1q_u8(samples[0], vreinterpretq_u8_u16(vzip1q_u16(left, right)));
    for (unsigned y = 0; y < 4; y++)
        memcpy(g->out[0] + y * g->stride, samples[y], 4);
}

#include "idct_lanes.h"

size_t segments_neon(const struct segments *s, const struct segment_run *runs, size_t n)
{
    return decode_runs(s, runs, n);
}
