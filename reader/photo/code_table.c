/* Tables of Huffman codes: see code_table.h. */
#include "code_table.h"

#include <string.h>

#define SIZE(symbol) ((symbol)&15)
#define RUN(symbol)  ((symbol) >> 4)
#define MOST_SYMBOLS 256

/* Values of `size` bits whose highest bit is 0 are negative (T.81, F.2.2.1, EXTEND). */
static int32_t code_extend(uint32_t value, unsigned size)
{
    return size && value >> (size - 1) == 0 ? (int32_t)value - (1 << size) + 1 : (int32_t)value;
}

static uint32_t code_steps(const struct code_table *h, uint8_t symbol)
{
    if (!h->steps)
        return 0;
    return SIZE(symbol) || RUN(symbol) == 15 ? RUN(symbol) + 1 : CODE_END;
}

static uint32_t code_entry(unsigned bits, uint32_t steps, int32_t value)
{
    return bits | steps << 8 | (uint32_t)value << 16;
}

#define AT_ONCE 8 /* entries, of which many are alike */

static void code_repeat(uint32_t *look, unsigned free_bits, uint32_t entry)
{
    const uint32_t some[AT_ONCE] = {entry, entry, entry, entry, entry, entry, entry, entry};
    uint32_t count = 1u << free_bits;
    for (uint32_t i = 0; count >= AT_ONCE && i < count; i += AT_ONCE)
        memcpy(look + i, some, sizeof some);
    for (uint32_t i = 0; count < AT_ONCE && i < count; i++)
        look[i] = entry;
}

/* All entries that begin with a code of `length` bits. */
static void code_enter(const struct code_table *h, uint32_t *look, unsigned length, uint8_t symbol)
{
    unsigned size = SIZE(symbol), free_bits = CODE_BITS - length;
    if (size > free_bits) {
        code_repeat(look, free_bits, code_entry(0, CODE_LONG, (int32_t)(length << 8 | symbol)));
        return;
    }
    free_bits -= size;
    for (uint32_t value = 0; value < 1u << size; value++)
        code_repeat(look + (value << free_bits), free_bits,
                    code_entry(length + size, code_steps(h, symbol), code_extend(value, size)));
}

bool code_table_make(struct code_table *h, const uint8_t counts[CODE_LONGEST], const uint8_t *symbols,
                     bool steps)
{
    uint32_t code = 0, place = 0;
    h->steps = steps;
    for (unsigned length = 1; length <= CODE_LONGEST; length++, code <<= 1) {
        uint32_t count = counts[length - 1];
        if (place + count > MOST_SYMBOLS || code + count > 1u << length)
            return false;
        h->shift[length] = (int32_t)place - (int32_t)code;
        memcpy(h->symbols + place, symbols + place, count);
        for (uint32_t i = 0; i < count && length <= CODE_BITS; i++)
            code_enter(h, h->look + ((code + i) << (CODE_BITS - length)), length, h->symbols[place + i]);
        code += count;
        place += count;
        h->limit[length] = code << (CODE_LONGEST - length);
    }
    uint32_t used = h->limit[CODE_BITS] >> (CODE_LONGEST - CODE_BITS);
    for (uint32_t i = used; i < 1u << CODE_BITS; i++)
        h->look[i] = code_entry(0, CODE_LONG, 0);
    return true;
}

/* 0: no code. */
static unsigned code_length(const struct code_table *h, uint32_t code)
{
    for (unsigned length = CODE_BITS + 1; length <= CODE_LONGEST; length++)
        if (code < h->limit[length])
            return length;
    return 0;
}

uint32_t code_table_long(const struct code_table *h, uint64_t word, uint32_t entry)
{
    uint32_t code = (uint32_t)(word >> (64 - CODE_LONGEST));
    unsigned length = entry >> 24;
    uint8_t symbol = (uint8_t)(entry >> 16);
    if (length == 0) { /* it is longer than CODE_BITS, or none */
        length = code_length(h, code);
        if (length == 0)
            return code_entry(1, CODE_BAD, 0);
        symbol = h->symbols[(int32_t)(code >> (CODE_LONGEST - length)) + h->shift[length]];
    }
    unsigned size = SIZE(symbol);
    uint32_t value = (uint32_t)(word << length >> 1 >> (63 - size));
    return code_entry(length + size, code_steps(h, symbol), code_extend(value, size));
}
