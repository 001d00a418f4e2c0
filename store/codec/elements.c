/* Byte shuffle and delta. */
#include "elements.h"

#include <string.h>

void elements_shuffle(uint8_t *to, const uint8_t *from, size_t count, unsigned element_bytes)
{
    for (unsigned b = 0; b < element_bytes; b++)
        for (size_t i = 0; i < count; i++)
            *to++ = from[i * element_bytes + b];
}

void elements_unshuffle(uint8_t *to, const uint8_t *from, size_t count, unsigned element_bytes)
{
    for (unsigned b = 0; b < element_bytes; b++)
        for (size_t i = 0; i < count; i++)
            to[i * element_bytes + b] = *from++;
}

/* Elements as stored; a big-endian machine turns them round. */
static inline uint64_t load_element(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(&v, p, bytes);
#else
    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t)p[i] << (8 * i);
#endif
    return v;
}

static inline void store_element(uint8_t *p, uint64_t v, unsigned bytes)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(p, &v, bytes);
#else
    for (unsigned i = 0; i < bytes; i++)
        p[i] = (uint8_t)(v >> (8 * i));
#endif
}

static inline void delta(uint8_t *to, const uint8_t *from, size_t count, unsigned bytes)
{
    uint64_t before = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t v = load_element(from + i * bytes, bytes);
        store_element(to + i * bytes, v - before, bytes);
        before = v;
    }
}

static inline void undelta(uint8_t *data, size_t count, unsigned bytes)
{
    uint64_t v = 0;
    for (size_t i = 0; i < count; i++) {
        v += load_element(data + i * bytes, bytes);
        store_element(data + i * bytes, v, bytes);
    }
}

/* A loop of its own for each size: with the size known, an element is one load. */
void elements_delta(uint8_t *to, const uint8_t *from, size_t count, unsigned element_bytes)
{
    switch (element_bytes) {
    case 1:
        delta(to, from, count, 1);
        break;
    case 2:
        delta(to, from, count, 2);
        break;
    case 4:
        delta(to, from, count, 4);
        break;
    case 8:
        delta(to, from, count, 8);
        break;
    }
}

void elements_undelta(uint8_t *data, size_t count, unsigned element_bytes)
{
    switch (element_bytes) {
    case 1:
        undelta(data, count, 1);
        break;
    case 2:
        undelta(data, count, 2);
        break;
    case 4:
        undelta(data, count, 4);
        break;
    case 8:
        undelta(data, count, 8);
        break;
    }
}
