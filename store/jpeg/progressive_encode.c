/* Encoding progressive scans: see progressive.h. docs/FORMAT.md has the rules, which are those of libjpeg. */
#include "progressive.h"

#include "block_values.h"

#define ENDED_MOST 0x7fffu /* blocks that one code can end */

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
    for (unsigned i = first; i < end; i++)
        bits_put(to->bits, to->held->bits[i], 1);
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

static int magnitude_of(const int16_t *values, unsigned k, unsigned low)
{
    int value = values[k];
    return (value < 0 ? -value : value) >> low;
}

static bool put_first(struct band_writer *to, const int16_t *values, uint64_t marks, const struct band *band)
{
    unsigned next = band->first;
    bool ok = true;
    for (; marks; marks &= marks - 1) {
        unsigned k = (unsigned)__builtin_ctzll(marks), run = k - next;
        int value = magnitude_of(values, k, band->low);
        if (value == 0)
            continue;
        for (; run > 15; run -= 16)
            ok &= put_code_of_block(to, ZEROS, 0);
        ok &= put_code_of_block(to, run << 4 | size_of(value), values[k] < 0 ? -value : value);
        next = k + 1;
    }
    return next > band->last ? ok : count_ended(to) && ok;
}

/* The coefficients whose first bit this is. */
static uint64_t begun_by(const int16_t *values, uint64_t marks, unsigned low)
{
    uint64_t begun = 0;
    for (; marks; marks &= marks - 1)
        if (magnitude_of(values, (unsigned)__builtin_ctzll(marks), low) == 1)
            begun |= marks & -marks;
    return begun;
}

static bool put_refined(struct band_writer *to, const int16_t *values, uint64_t marks,
                        const struct band *band)
{
    struct held *h = to->held;
    uint64_t begun = begun_by(values, marks, band->low);
    unsigned zeros = 0, next = band->first;
    bool ok = true;
    for (; marks; marks &= marks - 1) {
        unsigned k = (unsigned)__builtin_ctzll(marks);
        int value = magnitude_of(values, k, band->low);
        if (value == 0)
            continue;
        zeros += k - next;
        next = k + 1;
        for (; zeros > 15 && begun >> k; zeros -= 16)
            ok &= put_code_of_block(to, ZEROS, 0);
        if (value > 1) {
            h->bits[h->count++] = value & 1;
            continue;
        }
        ok &= put_code_of_block(to, zeros << 4 | 1, values[k] < 0 ? -1 : 1);
        zeros = 0;
    }
    zeros += band->last + 1u - next;
    return zeros > 0 || h->count > h->of_them ? count_ended(to) && ok : ok;
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
    struct band_writer to = {.ac = e->ac[0], .bits = bits, .held = &s->held};
    return band->high ? put_refined(&to, values, marks, band) : put_first(&to, values, marks, band);
}

bool band_end(const struct blocks_encoders *e, struct band_state *s, struct bit_writer *bits)
{
    struct band_writer to = {.ac = e->ac[0], .bits = bits, .held = &s->held};
    return put_ended(&to);
}
