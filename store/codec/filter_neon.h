/* The vector operations of filter_kernel.h and plane_kernel.h on the registers of arm64. */
#include <arm_neon.h>
#include <stdint.h>

#define VEC_BYTES 16

typedef uint8x16_t vec;
typedef uint64_t sum;

static inline vec vec_load(const uint8_t *p)
{
    return vld1q_u8(p);
}

static inline void vec_store(uint8_t *p, vec v)
{
    vst1q_u8(p, v);
}

static inline vec vec_fill(uint8_t byte)
{
    return vdupq_n_u8(byte);
}

static inline vec vec_abs(vec v)
{
    return vreinterpretq_u8_s8(vabsq_s8(vreinterpretq_s8_u8(v)));
}

static inline vec vec_add(vec a, vec b)
{
    return vaddq_u8(a, b);
}

static inline vec vec_sub(vec a, vec b)
{
    return vsubq_u8(a, b);
}

static inline vec vec_min(vec a, vec b)
{
    return vminq_u8(a, b);
}

static inline vec vec_max(vec a, vec b)
{
    return vmaxq_u8(a, b);
}

static inline vec vec_zip_low(vec a, vec b)
{
    return vzip1q_u8(a, b);
}

static inline vec vec_zip_high(vec a, vec b)
{
    return vzip2q_u8(a, b);
}

static inline vec vec_gather(const uint8_t *from)
{
    return vld1q_u8(from);
}

static inline void vec_scatter(uint8_t *to, vec v)
{
    vst1q_u8(to, v);
}

static inline sum sum_zero(void)
{
    return 0;
}

static inline sum sum_add(sum s, vec v)
{
    return s + vaddlvq_u8(v);
}

static inline uint64_t sum_total(sum s)
{
    return s;
}

/* Lanes are constants, which the body's unrolled steps are. */
#define vec_end(v, i)       vdupq_laneq_u8(v, i)
#define vec_follow(last, v) vextq_u8(last, v, 15)
