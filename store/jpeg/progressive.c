/* The order of progressive scans, and decoding them: see progressive.h. Encoding is in progressive_encode.c. */
#include "progressive.h"

#include "block_values.h"

#define MOST_LOW   9    /* bits that may be missing: 1 << 9 is the highest power of two of a coefficient */
#define AC_HIGHEST 1023 /* of a sequential scan */

/* ---------------------------------------------------------------------------------------------- progress */

bool progress_add(struct progress *p, const struct band *band, unsigned count, const uint8_t *components)
{
    bool dc = band->first == 0;
    if (band->last > BLOCK_VALUES - 1 || band->first > band->last || (dc && band->last > 0) ||
        (!dc && count != 1) || band->low > MOST_LOW || (band->high > 0 && band->high != band->low + 1))
        return false;
    for (unsigned i = 0; i < count; i++) {
        uint8_t *sent = p->of[components[i]];
        if (!dc && sent[0] == 0)
            return false;
        for (unsigned k = band->first; k <= band->last; k++) {
            if (sent[k] != (band->high ? band->high + 1 : 0))
                return false;
            sent[k] = band->low + 1;
        }
    }
    return true;
}

bool progress_is_whole(const struct progress *p, unsigned components)
{
    for (unsigned i = 0; i < components; i++)
        for (unsigned k = 0; k < BLOCK_VALUES; k++)
            if (p->of[i][k] != 1)
                return false;
    return true;
}

/* ----------------------------------------------------------------------------------------------------- DC */

static unsigned take_bit(struct bit_reader *bits)
{
    bits_fill(bits);
    unsigned bit = bits_peek(bits, 1);
    bits_skip(bits, 1);
    return bit;
}

static bool take_dc(const struct huffman_decoder *dc, unsigned low, int *prediction, struct bit_reader *bits,
                    int16_t *value)
{
    int difference;
    bits_fill(bits);
    uint32_t entry = take_coded(dc, bits, &difference);
    *prediction += difference;
    if (entry == 0 || *prediction < -(DC_MOST >> low) || *prediction > DC_MOST >> low)
        return false;
    *value = (int16_t)(*prediction * (1 << low));
    return true;
}

static bool decode_dc(struct blocks *b, const struct walk *w, const struct blocks_decoders *d,
                      const struct band *band, uint32_t row, uint32_t column, struct predictions *p,
                      struct bit_reader *bits)
{
    for (struct place at = {.i = 0}; at.i < w->count; next_place(w, &at)) {
        size_t number = block_at(b, w, row, column, &at);
        int16_t *value = b->of[w->component[at.i]].values + number * BLOCK_VALUES;
        if (band->high)
            *value = (int16_t)(*value | (int)(take_bit(bits) << band->low));
        else if (!take_dc(d->dc[at.i], band->low, &p->of[at.i], bits, value))
            return false;
    }
    return true;
}

/* ----------------------------------------------------------------------------------------------------- AC */

/* A block of which a band is decoded. */
struct banded {
    int16_t *values;
    uint64_t *marks;
    struct bit_reader *bits;
    uint32_t *ended;
};

/* The blocks that end with this one, of a symbol that is not 16 zeros. */
static void take_run(struct banded *b, unsigned size)
{
    *b->ended = 1u << size;
    if (size > 0) {
        *b->ended += bits_peek(b->bits, size);
        bits_skip(b->bits, size);
    }
}

static bool take_first(struct banded *b, const struct huffman_decoder *ac, const struct band *band)
{
    for (unsigned k = band->first; k <= band->last && *b->ended == 0; k++) {
        int value;
        bits_fill(b->bits);
        uint32_t entry = take_coded(ac, b->bits, &value);
        unsigned run = entry_symbol(entry) >> 4, size = entry_symbol(entry) & 15;
        if (entry == 0)
            return false;
        if (size == 0 && run < 15) {
            take_run(b, run);
            break;
        }
        k += run;
        value *= 1 << band->low;
        if (k > band->last || value < -AC_HIGHEST || value > AC_HIGHEST)
            return false;
        b->values[k] = (int16_t)value;
        *b->marks |= (uint64_t)(size > 0) << k;
    }
    return true;
}

/* One bit more of a coefficient that is not zero. Without a branch: the bit is hard to foresee. */
static void correct(struct banded *b, unsigned k, int bit)
{
    int more = bit & -(int)take_bit(b->bits);
    b->values[k] = (int16_t)(b->values[k] + (b->values[k] < 0 ? -more : more));
}

/* Corrects coefficients from k on, up to the zero that has `zeros` zeros before it. */
static unsigned correct_up_to(struct banded *b, unsigned k, unsigned last, unsigned zeros, int bit)
{
    for (; k <= last; k++) {
        if (*b->marks >> k & 1)
            correct(b, k, bit);
        else if (zeros-- == 0)
            break;
    }
    return k;
}

static bool take_refined(struct banded *b, const struct huffman_decoder *ac, const struct band *band)
{
    unsigned k = band->first;
    const int bit = 1 << band->low;
    for (; k <= band->last && *b->ended == 0; k++) {
        int value;
        bits_fill(b->bits);
        uint32_t entry = take_coded(ac, b->bits, &value);
        unsigned run = entry_symbol(entry) >> 4, size = entry_symbol(entry) & 15;
        if (entry == 0 || size > 1)
            return false;
        if (size == 0 && run < 15) {
            take_run(b, run);
            break;
        }
        k = correct_up_to(b, k, band->last, run, bit);
        if (k > band->last)
            return false;
        b->values[k] = (int16_t)(value * bit);
        *b->marks |= (uint64_t)size << k;
    }
    if (*b->ended > 0)
        (void)correct_up_to(b, k, band->last, BLOCK_VALUES, bit);
    return true;
}

bool band_decode(struct blocks *b, const struct walk *w, const struct blocks_decoders *d,
                 const struct band *band, uint32_t row, uint32_t column, struct band_state *s,
                 struct bit_reader *bits)
{
    if (band->first == 0)
        return decode_dc(b, w, d, band, row, column, &s->predictions, bits);
    struct place at = {.i = 0};
    size_t number = block_at(b, w, row, column, &at);
    struct bit_reader here = *bits;
    struct banded of = {.values = b->of[w->component[0]].values + number * BLOCK_VALUES,
                        .marks = b->of[w->component[0]].marks + number,
                        .bits = &here,
                        .ended = &s->held.ended};
    bool ok = band->high ? take_refined(&of, d->ac[0], band) : take_first(&of, d->ac[0], band);
    if (s->held.ended > 0)
        s->held.ended--;
    *bits = here;
    return ok;
}
