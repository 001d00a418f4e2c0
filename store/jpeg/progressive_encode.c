/* Encoding progressive scans: see progressive.h. docs/FORMAT.md has the rules, which are those of libjpeg. */
#include "progressive.h"

#include "block_values.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define ENDED_MOST 0x7fffu /* blocks that one code can end */
#define PUT_MOST   56u     /* bits that bits_put() puts at once */

/* ----------------------------------------------------------------------------------------------------- DC */

static bool encode_dc(const struct blocks *b, const struct walk *w, const struct blocks_encoders *e,
                      const struct band *band, uint32_t row, uint32_t column, struct predictions *p,
                      struct bit_writer *bits)
{
    bool ok = true;
    for (struct place at = {.i = 0}; at.i < w->count; next_place(w, &at)) {
        size_t number = block_at(b, w, row, column, &at);
        int value = b->of[w->component[at.i]].values[number * BLOCK_VALUES] >> band->low;
        struct coded c = {.count = 0};
        if (band->high) {
            bits_put(bits, (unsigned)value & 1, 1);
            continue;
        }
        int difference = value - p->of[at.i];
        p->of[at.i] = value;
        ok &= add_value(e->dc[at.i], size_of(difference), difference, &c);
        bits_put(bits, c.bits, c.count);
    }
    return ok;
}

/* ----------------------------------------------------------------------------------------------------- AC */

/* Where the codes of a band go. */
struct band_writer {
    const struct huffman_encoder *ac;
    struct bit_writer *bits;
    struct held *held;
};

static bool put_symbol(struct band_writer *to, unsigned symbol, int value)
{
    struct coded c = {.count = 0};
    bool ok = add_value(to->ac, symbol, value, &c);
    bits_put(to->bits, c.bits, c.count);
    return ok;
}

/* The bits of the block at hand, or, before their code, those of the blocks that have ended. */
static void put_corrections(struct band_writer *to, unsigned first, unsigned end)
{
    while (first < end) {
        unsigned n = end - first < PUT_MOST ? end - first : PUT_MOST;
        uint64_t bits = 0;
        for (unsigned i = 0; i < n; i++)
            bits = bits << 1 | to->held->bits[first + i];
        bits_put(to->bits, bits, n);
        first += n;
    }
}

static bool put_ended(struct band_writer *to)
{
    struct held *h = to->held;
    if (h->ended == 0)
        return true;
    unsigned size = size_of((int)h->ended) - 1;
    bool ok = put_symbol(to, size << 4, 0);
    bits_put(to->bits, h->ended & ((1u << size) - 1), size);
    put_corrections(to, 0, h->of_them);
    h->ended = 0;
    return ok;
}

/* A code of the block at hand, and the bits that came before it. */
static bool put_code_of_block(struct band_writer *to, unsigned symbol, int value)
{
    bool ok = put_ended(to) && put_symbol(to, symbol, value);
    put_corrections(to, to->held->of_them, to->held->count);
    to->held->of_them = to->held->count = 0;
    return ok;
}

/* The block ends after its last code. */
static bool count_ended(struct band_writer *to)
{
    struct held *h = to->held;
    h->ended++;
    h->of_them = h->count;
    if (h->ended < ENDED_MOST && h->count <= CORRECTIONS_MOST)
        return true;
    bool ok = put_ended(to);
    h->of_them = h->count = 0;
    return ok;
}

/* Marks of a band's coefficients. */
static uint64_t within_band(uint64_t marks, const struct band *band)
{
    return marks & (~0ull >> (BLOCK_VALUES - 1 - band->last)) & (~0ull << band->first);
}

static unsigned magnitude_of(const int16_t *values, unsigned k, unsigned low)
{
    int value = values[k];
    return (unsigned)(value < 0 ? -value : value) >> low;
}

/* Bit k is about coefficient k, without the bits that are missing of it. */
struct magnitudes {
    uint64_t some, one, odd; /* it is not 0; is 1; is odd */
};

/* Of those that are marked. Without a branch: what they are is hard to foresee. */
#ifdef __SSE2__
static inline uint64_t packed_mask(__m128i a, __m128i b)
{
    return (uint64_t)_mm_movemask_epi8(_mm_packs_epi16(a, b));
}

static struct magnitudes magnitudes_of(const int16_t *values, uint64_t marks, unsigned low)
{
    const __m128i zero = _mm_setzero_si128(), one = _mm_set1_epi16(1), shift = _mm_cvtsi32_si128((int)low);
    struct magnitudes m = {0, 0, 0};
    for (unsigned k = 0; k < BLOCK_VALUES; k += 16) {
        __m128i v[2];
        for (unsigned i = 0; i < 2; i++) {
            __m128i is = _mm_loadu_si128((const __m128i *)(const void *)(values + k + 8 * i));
            v[i] = _mm_srl_epi16(_mm_max_epi16(is, _mm_sub_epi16(zero, is)), shift);
        }
        m.some |= (packed_mask(_mm_cmpeq_epi16(v[0], zero), _mm_cmpeq_epi16(v[1], zero)) ^ 0xffff) << k;
        m.one |= packed_mask(_mm_cmpeq_epi16(v[0], one), _mm_cmpeq_epi16(v[1], one)) << k;
        m.odd |= packed_mask(_mm_srai_epi16(_mm_slli_epi16(v[0], 15), 15),
                             _mm_srai_epi16(_mm_slli_epi16(v[1], 15), 15))
                 << k;
    }
    return (struct magnitudes){m.some & marks, m.one & marks, m.odd & marks};
}
#else
static struct magnitudes magnitudes_of(const int16_t *values, uint64_t marks, unsigned low)
{
    struct magnitudes m = {0, 0, 0};
    for (; marks; marks &= marks - 1) {
        uint64_t mark = marks & -marks;
        unsigned is = magnitude_of(values, (unsigned)__builtin_ctzll(marks), low);
        m.some |= is != 0 ? mark : 0;
        m.one |= is == 1 ? mark : 0;
        m.odd |= is & 1 ? mark : 0;
    }
    return m;
}
#endif

static bool put_first(struct band_writer *to, const int16_t *values, uint64_t marks, const struct band *band)
{
    unsigned next = band->first;
    uint64_t some = magnitudes_of(values, marks, band->low).some;
    bool ok = true;
    for (; some; some &= some - 1) {
        unsigned k = (unsigned)__builtin_ctzll(some), run = k - next;
        int value = (int)magnitude_of(values, k, band->low);
        for (; run > 15; run -= 16)
            ok &= put_code_of_block(to, ZEROS, 0);
        ok &= put_code_of_block(to, run << 4 | size_of(value), values[k] < 0 ? -value : value);
        next = k + 1;
    }
    return next > band->last ? ok : count_ended(to) && ok;
}

/* Holds back one bit more of each of these coefficients; returns how many they are. */
static unsigned hold_corrections(struct held *h, uint64_t of, uint64_t odd)
{
    unsigned before = h->count;
    for (; of; of &= of - 1)
        h->bits[h->count++] = odd >> __builtin_ctzll(of) & 1;
    return h->count - before;
}

/* From `next` on, and up to `end`, which is begun: a code for each 16 zeros, and the corrections between them; returns how many zeros
 * are left. */
static unsigned put_zeros_between(struct band_writer *to, uint64_t between, uint64_t odd, unsigned next,
                                  unsigned end, bool *ok)
{
    unsigned zeros = 0;
    for (; between; between &= between - 1) {
        unsigned k = (unsigned)__builtin_ctzll(between);
        zeros += k - next;
        next = k + 1;
        for (; zeros > 15; zeros -= 16)
            *ok &= put_code_of_block(to, ZEROS, 0);
        (void)hold_corrections(to->held, between & -between, odd);
    }
    for (zeros += end - next; zeros > 15; zeros -= 16)
        *ok &= put_code_of_block(to, ZEROS, 0);
    return zeros;
}

static bool put_refined(struct band_writer *to, const int16_t *values, uint64_t marks,
                        const struct band *band)
{
    struct held *h = to->held;
    struct magnitudes m = magnitudes_of(values, marks, band->low);
    uint64_t more = m.some & ~m.one;
    unsigned next = band->first;
    bool ok = true;
    for (uint64_t begun = m.one; begun; begun &= begun - 1) {
        unsigned k = (unsigned)__builtin_ctzll(begun);
        uint64_t between = more & ((begun & -begun) - 1);
        unsigned zeros = k - next;
        more ^= between;
        if (zeros > 15)
            zeros = put_zeros_between(to, between, m.odd, next, k, &ok);
        else
            zeros -= hold_corrections(h, between, m.odd);
        ok &= put_code_of_block(to, zeros << 4 | 1, values[k] < 0 ? -1 : 1);
        next = k + 1;
    }
    bool ends = hold_corrections(h, more, m.odd) < band->last + 1u - next || h->count > h->of_them;
    return ends ? count_ended(to) && ok : ok;
}

/* ------------------------------------------------------------------------------------------------ the two */

bool band_encode(const struct blocks *b, const struct walk *w, const struct blocks_encoders *e,
                 const struct band *band, uint32_t row, uint32_t column, struct band_state *s,
                 struct bit_writer *bits)
{
    if (band->first == 0)
        return encode_dc(b, w, e, band, row, column, &s->predictions, bits);
    struct place at = {.i = 0};
    size_t number = block_at(b, w, row, column, &at);
    const int16_t *values = b->of[w->component[0]].values + number * BLOCK_VALUES;
    uint64_t marks = within_band(b->of[w->component[0]].marks[number], band);
    struct bit_writer here = *bits; /* in registers */
    struct band_writer to = {.ac = e->ac[0], .bits = &here, .held = &s->held};
    bool ok = marks == 0   ? count_ended(&to)
              : band->high ? put_refined(&to, values, marks, band)
                           : put_first(&to, values, marks, band);
    *bits = here;
    return ok;
}

bool band_end(const struct blocks_encoders *e, struct band_state *s, struct bit_writer *bits)
{
    struct band_writer to = {.ac = e->ac[0], .bits = bits, .held = &s->held};
    return put_ended(&to);
}
