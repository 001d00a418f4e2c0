/* Coefficients, coded by the kernels of each kind of machine: all give the same. */
#include "blocks.h"

#include <criterion/criterion.h>

#define WIDTH  70
#define HEIGHT 50
#define BYTES  (1u << 20)

static struct huffman dc_code, ac_code;
static struct huffman_decoder dc_decoder, ac_decoder;
static struct huffman_encoder dc_encoder, ac_encoder;
static struct blocks_decoders decoders;
static struct blocks_encoders encoders;

static unsigned state = 1;

static unsigned draw(unsigned below)
{
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
}

/* Codes of all symbols that there are, short ones and long ones. */
static void make_codes(void)
{
    uint32_t dc[256] = {0}, ac[256] = {0};
    for (unsigned size = 0; size <= 11; size++)
        dc[size] = 1u << (2 * (11 - size));
    ac[0x00] = 1u << 20;
    ac[0xf0] = 3;
    for (unsigned run = 0; run < 16; run++)
        for (unsigned size = 1; size <= 10; size++)
            ac[run << 4 | size] = 1 + (1u << 18 >> (run + size));
    huffman_best(dc, &dc_code);
    huffman_best(ac, &ac_code);
    huffman_decoder_make(&dc_code, &dc_decoder);
    huffman_decoder_make(&ac_code, &ac_decoder);
    huffman_encoder_make(&dc_code, &dc_encoder);
    huffman_encoder_make(&ac_code, &ac_encoder);
    for (unsigned i = 0; i < BLOCKS_COMPONENTS; i++) {
        decoders.dc[i] = &dc_decoder, decoders.ac[i] = &ac_decoder;
        encoders.dc[i] = &dc_encoder, encoders.ac[i] = &ac_encoder;
    }
}

static struct frame frame_of_420(void)
{
    struct frame f = {
        .width = WIDTH, .height = HEIGHT, .components = 3, .across = {2, 1, 1}, .down = {2, 1, 1}};
    frame_measure(&f);
    return f;
}

static size_t blocks_of(const struct blocks *b, unsigned i)
{
    return (size_t)b->of[i].stride * b->frame.rows * b->frame.down[i];
}

/* Of all densities: none but the first, few far apart, all 63. */
static void draw_block(int16_t *values, uint64_t *marks)
{
    unsigned density = draw(5) * draw(25);
    *marks = 0;
    values[0] = (int16_t)((int)draw(2048) - 1024);
    for (unsigned k = 1; k < BLOCK_VALUES; k++) {
        int largest = 1 << draw(11);
        values[k] = draw(100) < density ? (int16_t)((int)draw((unsigned)(2 * largest - 1)) - largest + 1) : 0;
        *marks |= (uint64_t)(values[k] != 0) << k;
    }
}

static void draw_blocks(struct blocks *b)
{
    struct frame f = frame_of_420();
    cr_assert(blocks_reserve(b, &f, true));
    for (unsigned i = 0; i < 3; i++)
        for (size_t n = 0; n < blocks_of(b, i); n++)
            draw_block(b->of[i].values + n * BLOCK_VALUES, b->of[i].marks + n);
}

static struct walk walk_with(const struct blocks *b, const struct blocks_kernels *kernels)
{
    static const uint8_t all[] = {0, 1, 2};
    struct walk w = walk_of(&b->frame, 3, all);
    w.kernels = kernels;
    return w;
}

/* All MCUs, one beyond the end of each row too; bytes. */
static size_t encode_all(const struct blocks *b, const struct blocks_kernels *kernels, uint8_t *out)
{
    struct walk w = walk_with(b, kernels);
    struct predictions p = {{0}};
    struct bit_writer bits = {.at = out};
    for (uint32_t row = 0; row < w.rows; row++)
        for (uint32_t column = 0; column <= w.columns; column++)
            cr_assert(kernels->encode(b, &w, &encoders, row, column, &p, &bits));
    bits_flush(&bits, 0xff);
    return (size_t)(bits.at - out);
}

/* How many MCUs are right. */
static unsigned decode_all(struct blocks *b, const struct blocks_kernels *kernels, const uint8_t *bytes,
                           size_t size, bool keep)
{
    struct walk w = walk_with(b, kernels);
    struct predictions p = {{0}};
    struct bit_reader bits = bits_over(bytes, size);
    unsigned good = 0;
    for (uint32_t row = 0; row < w.rows; row++)
        for (uint32_t column = 0; column <= w.columns; column++, good++)
            if (!kernels->decode(keep ? b : NULL, &w, &decoders, row, column, &p, &bits) ||
                bits_left(&bits) < 0)
                return good;
    return good;
}

static void are_same(const struct blocks *a, const struct blocks *b)
{
    for (unsigned i = 0; i < 3; i++)
        for (size_t n = 0; n < blocks_of(a, i); n++) {
            cr_assert_eq(a->of[i].marks[n], b->of[i].marks[n]);
            for (unsigned k = 0; k < BLOCK_VALUES; k++)
                cr_assert((k > 0 && !(a->of[i].marks[n] >> k & 1)) ||
                          a->of[i].values[n * BLOCK_VALUES + k] == b->of[i].values[n * BLOCK_VALUES + k]);
        }
}

static void count_all(const struct blocks *b, const struct blocks_kernels *kernels, uint32_t counts[512])
{
    struct walk w = walk_with(b, kernels);
    struct predictions p = {{0}};
    struct blocks_counts c;
    for (unsigned i = 0; i < BLOCKS_COMPONENTS; i++)
        c.dc[i] = counts, c.ac[i] = counts + 256;
    memset(counts, 0, 512 * sizeof *counts);
    for (uint32_t row = 0; row < w.rows; row++)
        for (uint32_t column = 0; column <= w.columns; column++)
            kernels->count(b, &w, &c, row, column, &p);
}

Test(blocks, every_variant_gives_the_same)
{
    static uint8_t wanted[BYTES], bytes[BYTES];
    static uint32_t wanted_counts[512], counts[512];
    struct blocks drawn = {.frame = {0}}, decoded = {.frame = {0}};
    struct frame f = frame_of_420();
    make_codes();
    cr_assert(blocks_reserve(&decoded, &f, true));
    for (unsigned round = 0; round < 20; round++) {
        draw_blocks(&drawn);
        size_t size = encode_all(&drawn, &blocks_scalar, wanted);
        count_all(&drawn, &blocks_scalar, wanted_counts);
        for (int v = 0; v < CPU_VARIANTS; v++) {
            if (!cpu_can((enum cpu_variant)v))
                continue;
            const struct blocks_kernels *kernels = blocks_kernels_for((enum cpu_variant)v);
            cr_assert_eq(encode_all(&drawn, kernels, bytes), size);
            cr_assert_arr_eq(bytes, wanted, size);
            unsigned mcus = (f.columns + 1) * f.rows;
            cr_assert_eq(decode_all(&decoded, kernels, bytes, size, true), mcus);
            are_same(&drawn, &decoded);
            cr_assert_eq(decode_all(&decoded, kernels, bytes, size, false), mcus);
            count_all(&drawn, kernels, counts);
            cr_assert_arr_eq(counts, wanted_counts, sizeof counts);
        }
    }
    blocks_free(&drawn);
    blocks_free(&decoded);
}

/* Bits that mean anything, or nothing: each of its own length, so that reading beyond it is seen. */
Test(blocks, every_variant_stops_at_the_same_damage)
{
    struct blocks decoded = {.frame = {0}};
    struct frame f = frame_of_420();
    make_codes();
    cr_assert(blocks_reserve(&decoded, &f, true));
    for (unsigned round = 0; round < 300; round++) {
        size_t size = 1 + draw(2000);
        uint8_t *bytes = malloc(size);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)draw(256);
        unsigned good = decode_all(&decoded, &blocks_scalar, bytes, size, true);
        for (int v = 0; v < CPU_VARIANTS; v++)
            if (cpu_can((enum cpu_variant)v))
                cr_assert_eq(decode_all(&decoded, blocks_kernels_for((enum cpu_variant)v), bytes, size, true),
                             good);
        free(bytes);
    }
    blocks_free(&decoded);
}
