/* The operations of assemble_kernel.h on pixels, in the 32-byte registers of x86-64. */
#include <immintrin.h>
#include <stdint.h>

typedef __m256i pixels;

static inline pixels load_pixels(const uint8_t *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

static inline void store_pixels(uint8_t *to, pixels p)
{
    _mm256_storeu_si256((__m256i *)to, p);
}

/* Which of 32 bytes go where. */
struct choice {
    pixels low, high; /* indices into the first 16 and into the last 16 */
};

/* The shuffle of 16 bytes takes the low four bits of an index, and gives 0 where the highest is set. An index
 * of 255 gives 0. */
static inline struct choice choose(const uint8_t index[32])
{
    pixels all = load_pixels(index);
    return (struct choice){_mm256_adds_epu8(all, _mm256_set1_epi8(0x70)),
                           _mm256_sub_epi8(all, _mm256_set1_epi8(16))};
}

static inline pixels pick(const uint8_t *from, struct choice choice)
{
    pixels low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)from));
    pixels high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(from + 16)));
    low = _mm256_shuffle_epi8(low, choice.low);
    high = _mm256_shuffle_epi8(high, choice.high);
    return _mm256_or_si256(low, high);
}

/* Which pixel of a channel goes where in 48 bytes of three channels: [part of the result][channel]. */
#define NO (-1)
static const int8_t three[3][3][16] = {{{0, NO, NO, 1, NO, NO, 2, NO, NO, 3, NO, NO, 4, NO, NO, 5},
                                        {NO, 0, NO, NO, 1, NO, NO, 2, NO, NO, 3, NO, NO, 4, NO, NO},
                                        {NO, NO, 0, NO, NO, 1, NO, NO, 2, NO, NO, 3, NO, NO, 4, NO}},
                                       {{NO, NO, 6, NO, NO, 7, NO, NO, 8, NO, NO, 9, NO, NO, 10, NO},
                                        {5, NO, NO, 6, NO, NO, 7, NO, NO, 8, NO, NO, 9, NO, NO, 10},
                                        {NO, 5, NO, NO, 6, NO, NO, 7, NO, NO, 8, NO, NO, 9, NO, NO}},
                                       {{NO, 11, NO, NO, 12, NO, NO, 13, NO, NO, 14, NO, NO, 15, NO, NO},
                                        {NO, NO, 11, NO, NO, 12, NO, NO, 13, NO, NO, 14, NO, NO, 15, NO},
                                        {10, NO, NO, 11, NO, NO, 12, NO, NO, 13, NO, NO, 14, NO, NO, 15}}};
#undef NO

static inline pixels three_part(pixels red, pixels green, pixels blue, const int8_t place[3][16])
{
    pixels from_red = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)place[0]));
    pixels from_green = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)place[1]));
    pixels from_blue = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)place[2]));
    pixels two = _mm256_or_si256(_mm256_shuffle_epi8(red, from_red), _mm256_shuffle_epi8(green, from_green));
    return _mm256_or_si256(two, _mm256_shuffle_epi8(blue, from_blue));
}

/* 32 pixels of three channels, interleaved. */
struct mixed {
    pixels first, second, third;
};

/* Shuffles stay within 16 bytes: the low halves of the parts are the first 48 bytes, the high halves the
 * rest. */
static inline struct mixed interleave_3(pixels red, pixels green, pixels blue)
{
    pixels a = three_part(red, green, blue, three[0]);
    pixels b = three_part(red, green, blue, three[1]);
    pixels c = three_part(red, green, blue, three[2]);
    return (struct mixed){_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(c, a, 0x30),
                          _mm256_permute2x128_si256(b, c, 0x31)};
}
