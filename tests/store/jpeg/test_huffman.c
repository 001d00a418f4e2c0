/* Huffman codes: the best ones, their limits, and invalid codes. */
#include "huffman.h"

#include <criterion/criterion.h>

static uint64_t bits_of(const struct huffman *code, const uint32_t frequencies[256])
{
    uint64_t bits = 0;
    for (unsigned n = 1, i = 0; n <= HUFFMAN_LONGEST; n++)
        for (unsigned k = 0; k < code->counts[n - 1]; k++)
            bits += (uint64_t)frequencies[code->symbols[i++]] * n;
    return bits;
}

Test(huffman, frequent_symbols_have_short_codes)
{
    uint32_t frequencies[256] = {[0] = 50, [1] = 25, [2] = 12, [3] = 6, [4] = 3};
    struct huffman code;
    huffman_best(frequencies, &code);
    cr_assert(huffman_ok(&code, HUFFMAN_DC));
    cr_assert_eq(bits_of(&code, frequencies), 50 * 1 + 25 * 2 + 12 * 3 + 6 * 4 + 3 * 5);
}

Test(huffman, one_symbol_or_none_has_a_code)
{
    uint32_t frequencies[256] = {[7] = 9};
    struct huffman code;
    huffman_best(frequencies, &code);
    cr_assert(huffman_ok(&code, HUFFMAN_DC) && code.size == 1 && code.symbols[0] == 7 && code.counts[0] == 1);
    frequencies[7] = 0;
    huffman_best(frequencies, &code);
    cr_assert(huffman_ok(&code, HUFFMAN_DC) && huffman_ok(&code, HUFFMAN_AC) && code.size == 1);
}

Test(huffman, no_code_is_longer_than_16_bits)
{
    uint32_t frequencies[256] = {0}, a = 1, b = 1; /* Fibonacci's numbers make the longest */
    for (unsigned i = 0; i < 40; i++, b += a, a = b - a)
        frequencies[i % 16 << 4 | (i / 16 + 1)] = a;
    struct huffman code;
    huffman_best(frequencies, &code);
    cr_assert(huffman_ok(&code, HUFFMAN_AC));
    cr_assert_eq(code.size, 40);
}

Test(huffman, all_symbols_as_often_as_each_other)
{
    uint32_t frequencies[256] = {0};
    for (unsigned run = 0; run < 16; run++)
        for (unsigned size = 1; size <= 10; size++)
            frequencies[run << 4 | size] = 1u << 20;
    frequencies[0] = frequencies[0xf0] = 1;
    struct huffman code;
    huffman_best(frequencies, &code);
    cr_assert(huffman_ok(&code, HUFFMAN_AC) && code.size == 162);
}

Test(huffman, codes_that_are_none)
{
    struct huffman code = {.counts = {1, 1}, .symbols = {0, 1}, .size = 2};
    cr_assert(huffman_ok(&code, HUFFMAN_DC));
    code.symbols[1] = 0;
    cr_assert_not(huffman_ok(&code, HUFFMAN_DC), "a symbol that has two codes");
    code.symbols[1] = 12;
    cr_assert_not(huffman_ok(&code, HUFFMAN_DC), "a difference of 12 bits");
    code.symbols[1] = 0x10;
    cr_assert_not(huffman_ok(&code, HUFFMAN_AC), "a run that ends in nothing");
    code = (struct huffman){.counts = {2}, .symbols = {0, 1}, .size = 2};
    cr_assert_not(huffman_ok(&code, HUFFMAN_DC), "a code of ones alone");
    code = (struct huffman){.counts = {1, 2}, .symbols = {0, 1, 2}, .size = 3};
    cr_assert_not(huffman_ok(&code, HUFFMAN_DC), "more codes than there are");
    code = (struct huffman){.size = 0};
    cr_assert_not(huffman_ok(&code, HUFFMAN_DC), "no codes");
}

/* Each symbol, and each value behind it, is decoded as it was encoded. */
Test(huffman, decoder_and_encoder_agree)
{
    uint32_t frequencies[256] = {0}, weight = 1;
    for (unsigned s = 0; s <= 11; s++)
        frequencies[s] = weight *= 3;
    struct huffman code;
    struct huffman_encoder e;
    struct huffman_decoder d;
    huffman_best(frequencies, &code);
    huffman_encoder_make(&code, &e);
    huffman_decoder_make(&code, &d);
    for (int value = -2047; value <= 2047; value++) {
        uint8_t bytes[32] = {0};
        struct bit_writer out = {.at = bytes};
        unsigned size = value ? 32 - (unsigned)__builtin_clz((unsigned)abs(value)) : 0;
        uint32_t low = (uint32_t)(value < 0 ? value - 1 : value) & ((1u << size) - 1), coded = e.code[size];
        bits_put(&out, (coded & ((1u << HUFFMAN_CODED) - 1)) | low, coded >> HUFFMAN_CODED);
        bits_flush(&out, 0xff);
        struct bit_reader in = bits_over(bytes, (size_t)(out.at - bytes));
        bits_fill(&in);
        uint32_t entry = d.fast[bits_peek(&in, HUFFMAN_FAST)];
        entry = entry ? entry : huffman_long(&d, &in);
        cr_assert_eq(entry_symbol(entry), size);
        cr_assert_eq(entry_bits(entry), coded >> HUFFMAN_CODED);
        bits_skip(&in, entry_code_bits(entry));
        cr_assert(size == 0 || bits_peek(&in, size) == low);
    }
}
