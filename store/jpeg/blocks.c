/* Coefficients, decoded and encoded: see blocks.h. */
#include "blocks.h"

#define DC_MOST 2047
#define AC_SIZE 10
#define END     0x00 /* end of block */
#define ZEROS   0xf0 /* 16 zeros */

/* --------------------------------------------------------------------------------------------- geometry */

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b > 0);
}

void frame_measure(struct frame *f)
{
    f->columns = divide_up(f->width, 8u * f->across[0]);
    f->rows = divide_up(f->height, 8u * f->down[0]);
}

unsigned frame_blocks(const struct frame *f)
{
    unsigned blocks = 0;
    for (unsigned i = 0; i < f->components; i++)
        blocks += (unsigned)f->across[i] * f->down[i];
    return blocks;
}

bool blocks_reserve(struct blocks *b, const struct frame *frame, bool clear)
{
    size_t counts[BLOCKS_COMPONENTS], bytes = 0;
    b->frame = *frame;
    for (unsigned i = 0; i < frame->components; i++) {
        b->of[i].stride = frame->columns * frame->across[i];
        counts[i] = (size_t)b->of[i].stride * frame->rows * frame->down[i];
        bytes += counts[i] * (BLOCK_VALUES * sizeof(int16_t) + sizeof(uint64_t));
    }
    uint8_t *at = scratch_reserve(&b->memory, bytes);
    if (!at)
        return false;
    for (unsigned i = 0; i < frame->components; i++) {
        b->of[i].marks = (uint64_t *)(void *)at;
        at += counts[i] * sizeof(uint64_t);
    }
    for (unsigned i = 0; i < frame->components; i++) {
        b->of[i].values = (int16_t *)(void *)at;
        at += counts[i] * BLOCK_VALUES * sizeof(int16_t);
    }
    if (clear)
        memset(b->memory.data, 0, bytes);
    return true;
}

void blocks_free(struct blocks *b)
{
    scratch_free(&b->memory);
}

struct walk walk_of(const struct frame *f, unsigned count, const uint8_t *components)
{
    struct walk w = {.count = count, .columns = f->columns, .rows = f->rows};
    for (unsigned i = 0; i < count; i++) {
        w.component[i] = components[i];
        w.across[i] = f->across[components[i]];
        w.down[i] = f->down[components[i]];
    }
    if (count > 1)
        return w;
    unsigned c = components[0];
    w.columns = divide_up(divide_up(f->width * f->across[c], f->across[0]), 8);
    w.rows = divide_up(divide_up(f->height * f->down[c], f->down[0]), 8);
    w.across[0] = w.down[0] = 1;
    return w;
}

static size_t block_at(const struct blocks *b, const struct walk *w, unsigned i, uint32_t row,
                       uint32_t column, unsigned k)
{
    uint32_t y = row * w->down[i] + k / w->across[i], x = column * w->across[i] + k % w->across[i];
    return (size_t)y * b->of[w->component[i]].stride + x;
}

/* --------------------------------------------------------------------------------------------- decoding */

/* The value that follows a code, or 0 where none does; *symbol: that of the code. -1: there is no such code. */
static inline __attribute__((always_inline)) int take_value(const struct huffman_decoder *d,
                                                            struct bit_reader *bits, int *symbol)
{
    if (bits->have < 32)
        bits_fill(bits);
    uint32_t entry = d->fast[bits_peek(bits, HUFFMAN_FAST)];
    *symbol = entry >> 8 & 0xff;
    if (entry == 0)
        *symbol = huffman_symbol(d, bits);
    else
        bits_skip(bits, entry & 0xff);
    int value = (int32_t)entry >> 16;
    unsigned size = *symbol & 15;
    if (value != 0 || size == 0 || *symbol < 0)
        return value;
    value = huffman_value(bits_peek(bits, size), size);
    bits_skip(bits, size);
    return value;
}

static inline __attribute__((always_inline)) bool decode_block(const struct huffman_decoder *dc,
                                                               const struct huffman_decoder *ac,
                                                               int *prediction, struct bit_reader *bits,
                                                               int16_t *values, uint64_t *marks)
{
    uint64_t found = 1;
    unsigned k = 1;
    int symbol;
    *prediction += take_value(dc, bits, &symbol);
    if (symbol < 0 || *prediction < -DC_MOST || *prediction > DC_MOST)
        return false;
    values[0] = (int16_t)*prediction;
    while (k < BLOCK_VALUES) {
        int value = take_value(ac, bits, &symbol);
        if (symbol <= END) /* or none */
            break;
        k += (unsigned)symbol >> 4;
        if (k >= BLOCK_VALUES)
            return false;
        values[k] = (int16_t)value;
        found |= (uint64_t)(value != 0) << k++;
    }
    *marks = found & ~1ull;
    return symbol >= 0 &&
           k == BLOCK_VALUES - (unsigned)__builtin_clzll(found); /* zeros may not end a block */
}

bool blocks_decode(struct blocks *b, const struct walk *w, const struct blocks_decoders *d, uint32_t row,
                   uint32_t column, struct predictions *p, struct bit_reader *bits)
{
    int16_t ignored_values[BLOCK_VALUES];
    uint64_t ignored;
    struct bit_reader here = *bits; /* in registers */
    bool ok = true;
    for (unsigned i = 0; i < w->count; i++)
        for (unsigned k = 0; k < (unsigned)w->across[i] * w->down[i]; k++) {
            int16_t *values = ignored_values;
            uint64_t *marks = &ignored;
            if (column < w->columns) {
                size_t at = block_at(b, w, i, row, column, k);
                values = b->of[w->component[i]].values + at * BLOCK_VALUES;
                marks = b->of[w->component[i]].marks + at;
            }
            ok &= decode_block(d->dc[i], d->ac[i], &p->of[i], &here, values, marks);
        }
    *bits = here;
    return ok;
}

/* --------------------------------------------------------------------------------------------- encoding */

static inline unsigned size_of(int value)
{
    return value == 0 ? 0 : 32 - (unsigned)__builtin_clz((unsigned)(value < 0 ? -value : value));
}

/* A symbol and the bits of its value, which a negative value has less one. */
static inline __attribute__((always_inline)) bool put_value(const struct huffman_encoder *e, unsigned symbol,
                                                            int value, unsigned size, struct bit_writer *bits)
{
    uint32_t low = (uint32_t)(value + (value >> 31)) & ((1u << size) - 1), code = e->code[symbol];
    bits_put(bits, (code & 0xffff) << size | low, (code >> 16) + size);
    return code > 0;
}

static inline __attribute__((always_inline)) bool encode_block(const struct huffman_encoder *dc,
                                                               const struct huffman_encoder *ac,
                                                               int *prediction, struct bit_writer *bits,
                                                               const int16_t *values, uint64_t marks)
{
    int difference = values[0] - *prediction;
    unsigned size = size_of(difference), last = 0;
    bool ok = put_value(dc, size, difference, size, bits);
    *prediction = values[0];
    for (; marks; marks &= marks - 1) {
        unsigned k = (unsigned)__builtin_ctzll(marks), run = k - last - 1;
        for (; run > 15; run -= 16)
            ok &= put_value(ac, ZEROS, 0, 0, bits);
        size = size_of(values[k]);
        ok &= put_value(ac, run << 4 | size, values[k], size, bits);
        last = k;
    }
    return last == BLOCK_VALUES - 1 ? ok : put_value(ac, END, 0, 0, bits) && ok;
}

bool blocks_encode(const struct blocks *b, const struct walk *w, const struct blocks_encoders *e,
                   uint32_t row, uint32_t column, struct predictions *p, struct bit_writer *bits)
{
    struct bit_writer here = *bits;
    bool ok = true;
    for (unsigned i = 0; i < w->count; i++)
        for (unsigned k = 0; k < (unsigned)w->across[i] * w->down[i]; k++) {
            int16_t same = (int16_t)p->of[i];
            const int16_t *values = &same;
            uint64_t marks = 0;
            if (column < w->columns) {
                size_t at = block_at(b, w, i, row, column, k);
                values = b->of[w->component[i]].values + at * BLOCK_VALUES;
                marks = b->of[w->component[i]].marks[at];
            }
            ok &= encode_block(e->dc[i], e->ac[i], &p->of[i], &here, values, marks);
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

void blocks_count(const struct blocks *b, const struct walk *w, const struct blocks_counts *c, uint32_t row,
                  uint32_t column, struct predictions *p)
{
    for (unsigned i = 0; i < w->count; i++)
        for (unsigned k = 0; k < (unsigned)w->across[i] * w->down[i]; k++) {
            if (column >= w->columns) { /* of nothing: no difference, end of block */
                c->dc[i][0]++;
                c->ac[i][END]++;
                continue;
            }
            size_t at = block_at(b, w, i, row, column, k);
            count_coefficients(c->dc[i], c->ac[i], &p->of[i],
                               b->of[w->component[i]].values + at * BLOCK_VALUES,
                               b->of[w->component[i]].marks[at]);
        }
}
