/* Coefficients, decoded, encoded and counted: included by each variant, whose compiler options make them differ. */
#include "block_values.h"

/* --------------------------------------------------------------------------------------------- decoding */

/* What is known of a block while it is decoded. */
struct decoded {
    int16_t *values;
    uint64_t found; /* bit k: value k is not 0 */
    unsigned next;  /* the next value */
    uint32_t entry; /* of the last code */
};

/* The next coefficient; false: none, as the block has ended, or it is damaged. */
BLOCK_INLINE bool take_coefficient(const struct huffman_decoder *ac, struct bit_reader *bits,
                                   struct decoded *b)
{
    int value;
    b->entry = take_coded(ac, bits, &value);
    unsigned symbol = entry_symbol(b->entry), k = b->next + (symbol >> 4);
    if (symbol == END || k >= BLOCK_VALUES)
        return false;
    b->values[k] = (int16_t)value;
    b->found |= (uint64_t)(value != 0) << k;
    b->next = k + 1;
    return b->next < BLOCK_VALUES;
}

/* The window is filled once for two values, as it has 57 bits then. */
BLOCK_INLINE bool decode_coefficients(const struct huffman_decoder *dc, const struct huffman_decoder *ac,
                                      int *prediction, struct bit_reader *bits, int16_t *values,
                                      uint64_t *marks)
{
    struct decoded b = {.values = values, .found = 1, .next = 1};
    int difference;
    bits_fill(bits);
    b.entry = take_coded(dc, bits, &difference);
    *prediction += difference;
    if (b.entry == 0 || *prediction < -DC_MOST || *prediction > DC_MOST)
        return false;
    values[0] = (int16_t)*prediction;
    while (take_coefficient(ac, bits, &b)) {
        bits_fill(bits);
        if (!take_coefficient(ac, bits, &b))
            break;
    }
    *marks = b.found & ~1ull;
    bool ended = b.next == BLOCK_VALUES || (b.entry != 0 && entry_symbol(b.entry) == END);
    return ended &&
           b.next == BLOCK_VALUES - (unsigned)__builtin_clzll(b.found); /* zeros may not end a block */
}

static bool decode_mcu(struct blocks *b, const struct walk *w, const struct blocks_decoders *d, uint32_t row,
                       uint32_t column, struct predictions *p, struct bit_reader *bits)
{
    int16_t ignored_values[BLOCK_VALUES];
    uint64_t ignored;
    struct bit_reader here = *bits; /* in registers */
    bool ok = true;
    for (struct place at = {.i = 0}; at.i < w->count; next_place(w, &at)) {
        int16_t *values = ignored_values;
        uint64_t *marks = &ignored;
        if (b && column < w->columns) {
            size_t number = block_at(b, w, row, column, &at);
            values = b->of[w->component[at.i]].values + number * BLOCK_VALUES;
            marks = b->of[w->component[at.i]].marks + number;
        }
        ok &= decode_coefficients(d->dc[at.i], d->ac[at.i], &p->of[at.i], &here, values, marks);
    }
    *bits = here;
    return ok;
}

/* --------------------------------------------------------------------------------------------- encoding */

static bool put_zeros(const struct huffman_encoder *ac, unsigned run, struct coded *c,
                      struct bit_writer *bits)
{
    bool ok = true;
    bits_put(bits, c->bits, c->count);
    *c = (struct coded){.count = 0};
    for (; run > 15; run -= 16) {
        struct coded zeros = {.count = 0};
        ok &= add_value(ac, ZEROS, 0, &zeros);
        bits_put(bits, zeros.bits, zeros.count);
    }
    return ok;
}

/* The first of the values that are marked, after `last`. */
BLOCK_INLINE bool add_next(const struct huffman_encoder *ac, const int16_t *values, uint64_t marks,
                           unsigned *last, struct coded *c, struct bit_writer *bits)
{
    unsigned k = (unsigned)__builtin_ctzll(marks), run = k - *last - 1;
    bool ok = true;
    if (__builtin_expect(run > 15, 0))
        ok = put_zeros(ac, run, c, bits);
    *last = k;
    return add_value(ac, (run & 15) << 4 | size_of(values[k]), values[k], c) && ok;
}

/* Two values are written at a time, of 54 bits at most. */
BLOCK_INLINE bool encode_block(const struct huffman_encoder *dc, const struct huffman_encoder *ac,
                               int *prediction, struct bit_writer *bits, const int16_t *values,
                               uint64_t marks)
{
    int difference = values[0] - *prediction;
    unsigned last = 0;
    struct coded c = {.count = 0};
    bool ok = add_value(dc, size_of(difference), difference, &c);
    *prediction = values[0];
    while (marks) {
        ok &= add_next(ac, values, marks, &last, &c, bits);
        marks &= marks - 1;
        bits_put(bits, c.bits, c.count);
        c = (struct coded){.count = 0};
        if (!marks)
            break;
        ok &= add_next(ac, values, marks, &last, &c, bits);
        marks &= marks - 1;
    }
    if (last != BLOCK_VALUES - 1)
        ok &= add_value(ac, END, 0, &c);
    bits_put(bits, c.bits, c.count);
    return ok;
}

static bool encode_mcu(const struct blocks *b, const struct walk *w, const struct blocks_encoders *e,
                       uint32_t row, uint32_t column, struct predictions *p, struct bit_writer *bits)
{
    struct bit_writer here = *bits;
    bool ok = true;
    for (struct place at = {.i = 0}; at.i < w->count; next_place(w, &at)) {
        int16_t same = (int16_t)p->of[at.i];
        const int16_t *values = &same;
        uint64_t marks = 0;
        if (column < w->columns) {
            size_t number = block_at(b, w, row, column, &at);
            values = b->of[w->component[at.i]].values + number * BLOCK_VALUES;
            marks = b->of[w->component[at.i]].marks[number];
        }
        ok &= encode_block(e->dc[at.i], e->ac[at.i], &p->of[at.i], &here, values, marks);
    }
    *bits = here;
    return ok;
}

/* --------------------------------------------------------------------------------------------- counting */

static inline void count_coefficients(uint32_t *dc, uint32_t *ac, int *prediction, const int16_t *values,
                                      uint64_t marks)
{
    unsigned last = 0;
    dc[size_of(values[0] - *prediction)]++;
    *prediction = values[0];
    for (; marks; marks &= marks - 1) {
        unsigned k = (unsigned)__builtin_ctzll(marks), run = k - last - 1;
        ac[ZEROS] += run / 16;
        ac[(run % 16) << 4 | size_of(values[k])]++;
        last = k;
    }
    ac[END] += last != BLOCK_VALUES - 1;
}

static void count_mcu(const struct blocks *b, const struct walk *w, const struct blocks_counts *c,
                      uint32_t row, uint32_t column, struct predictions *p)
{
    for (struct place at = {.i = 0}; at.i < w->count; next_place(w, &at)) {
        if (column >= w->columns) { /* of nothing: no difference, end of block */
            c->dc[at.i][0]++;
            c->ac[at.i][END]++;
            continue;
        }
        size_t number = block_at(b, w, row, column, &at);
        count_coefficients(c->dc[at.i], c->ac[at.i], &p->of[at.i],
                           b->of[w->component[at.i]].values + number * BLOCK_VALUES,
                           b->of[w->component[at.i]].marks[number]);
    }
}
