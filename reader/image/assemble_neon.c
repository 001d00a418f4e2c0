/* assemble() for arm64. */
#define ASSEMBLE_NAME assemble_neon

#include <arm_neon.h>
#include <stdint.h>

#define LANES 8

typedef uint8x16x2_t pixels;
typedef float32x4x2_t floats;

static inline pixels load_pixels(const uint8_t *from)
{
    return (pixels){{vld1q_u8(from), vld1q_u8(from + 16)}};
}

static inline void store_pixels(uint8_t *to, pixels p)
{
    vst1q_u8(to, p.val[0]);
    vst1q_u8(to + 16, p.val[1]);
}

/* Which of 32 bytes go where; an index beyond them gives 0. */
struct choice {
    pixels index;
};

static inline struct choice choose(const uint8_t index[32])
{
    return (struct choice){load_pixels(index)};
}

static inline pixels pick(const uint8_t *from, struct choice choice)
{
    pixels table = load_pixels(from);
    return (pixels){{vqtbl2q_u8(table, choice.index.val[0]), vqtbl2q_u8(table, choice.index.val[1])}};
}

/* 32 pixels of three channels, interleaved. */
struct mixed {
    pixels first, second, third;
};

static inline struct mixed interleave_3(pixels red, pixels green, pixels blue)
{
    uint8_t bytes[96];
    /* Variables, as clang's stores are macros, to which the commas of a compound literal part arguments. */
    const uint8x16x3_t low = {{red.val[0], green.val[0], blue.val[0]}};
    const uint8x16x3_t high = {{red.val[1], green.val[1], blue.val[1]}};
    vst3q_u8(bytes, low);
    vst3q_u8(bytes + 48, high);
    return (struct mixed){load_pixels(bytes), load_pixels(bytes + 32), load_pixels(bytes + 64)};
}

/* Eight of 32 pixels: those from 8 * i on. */
static inline floats widen(pixels p, int i)
{
    uint8x16_t half = p.val[i / 2];
    uint16x8_t eight = vmovl_u8(i % 2 ? vget_high_u8(half) : vget_low_u8(half));
    return (floats){
        {vcvtq_f32_u32(vmovl_u16(vget_low_u16(eight))), vcvtq_f32_u32(vmovl_u16(vget_high_u16(eight)))}};
}

/* The product must be rounded before the sum is taken: the compiler may not see that they belong together. */
static inline float32x4_t scale_and_shift_4(float32x4_t value, const float *scale, const float *bias)
{
    float32x4_t product = vmulq_f32(value, vld1q_f32(scale));
    __asm__("" : "+w"(product));
    return vaddq_f32(product, vld1q_f32(bias));
}

static inline floats scale_and_shift(floats value, const float *scale, const float *bias)
{
    return (floats){
        {scale_and_shift_4(value.val[0], scale, bias), scale_and_shift_4(value.val[1], scale + 4, bias + 4)}};
}

static inline void store_f32(uint8_t *to, floats value)
{
    vst1q_f32((float *)to, value.val[0]);
    vst1q_f32((float *)to + 4, value.val[1]);
}

static inline void store_f16(uint8_t *to, floats value)
{
    float16x8_t halves = vcombine_f16(vcvt_f16_f32(value.val[0]), vcvt_f16_f32(value.val[1]));
    vst1q_u8(to, vreinterpretq_u8_f16(halves));
}

static inline uint16x4_t bf16_4(float32x4_t value)
{
    uint32x4_t bits = vreinterpretq_u32_f32(value);
    uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    return vshrn_n_u32(vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd), 16);
}

static inline void store_bf16(uint8_t *to, floats value)
{
    vst1q_u8(to, vreinterpretq_u8_u16(vcombine_u16(bf16_4(value.val[0]), bf16_4(value.val[1]))));
}

#include "assemble_kernel.h"
