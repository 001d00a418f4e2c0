/* Mutates one part of an indexed image: what is said of the region, the head, the tables, the codes, the index, or the segments'
 * bits; mostly makes sizes and lengths agree again, so that the bits are decoded. */
#include "fuzz.h"
#include "indexed.h"
#include "repair.h"

#define HEAD 8u

/* Where the parts of an image that was right begin. */
struct places {
    size_t codes, lengths, data, end;
    uint32_t count; /* segments */
};

static bool find_places(const uint8_t *image, size_t size, struct places *p)
{
    struct indexed x;
    if (indexed_parse(image, size, &x, NULL) != APL_OK)
        return false;
    *p = (struct places){.codes = INDEXED_HEAD + x.tables_bytes,
                         .lengths = (size_t)(x.lengths - image),
                         .data = (size_t)(x.data - image),
                         .end = (size_t)(x.restoring - image),
                         .count = x.segments * x.rendering.frame.rows};
    return true;
}

/* Bits of a byte, a byte, or some bytes from elsewhere. */
static void scatter(uint8_t *bytes, size_t size, unsigned *seed)
{
    for (unsigned n = 1 + draw(seed, 4); n > 0 && size > 0; n--) {
        size_t at = draw(seed, (unsigned)size), from = draw(seed, (unsigned)size);
        if (draw(seed, 3) == 0)
            bytes[at] = (uint8_t)draw(seed, 256);
        else if (draw(seed, 4) == 0)
            bytes[at] = bytes[from];
        else
            bytes[at] ^= (uint8_t)(1u << draw(seed, 8));
    }
}

/* The index is made to come to what there is, by the length of one segment. */
static void repair_lengths(uint8_t *image, const struct places *p, unsigned *seed)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < p->count; k++)
        sum += load_le(image + p->lengths + 2 * (size_t)k, 2);
    uint8_t *one = image + p->lengths + 2 * (size_t)draw(seed, p->count);
    uint64_t length = load_le(one, 2) + (p->end - p->data) - sum;
    if (length < UINT16_MAX)
        store_le(one, length, 2);
}

static void move_byte(uint8_t *image, const struct places *p, unsigned *seed)
{
    uint8_t *from = image + p->lengths + 2 * (size_t)draw(seed, p->count),
            *to = image + p->lengths + 2 * (size_t)draw(seed, p->count);
    store_le(from, load_le(from, 2) - 1, 2);
    store_le(to, load_le(to, 2) + 1, 2);
}

static size_t mutate_bits(uint8_t *image, const struct places *p, size_t room, unsigned *seed)
{
    size_t size = p->end - p->data;
    if (draw(seed, 3))
        scatter(image + p->data, size, seed);
    else
        size = LLVMFuzzerMutate(image + p->data, size, room - p->data);
    struct places now = *p;
    now.end = p->data + size;
    store_le(image + 8, now.end, 4);
    repair_lengths(image, &now, seed);
    return now.end;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    uint8_t *image = data + HEAD;
    struct places p;
    if (size < HEAD || draw(&seed, 16) == 0 || !find_places(image, size - HEAD, &p))
        return LLVMFuzzerMutate(data, size, room);
    switch (draw(&seed, 8)) {
    case 0:
        LLVMFuzzerMutate(data, HEAD, HEAD);
        break;
    case 1:
        scatter(image, INDEXED_HEAD, &seed);
        break;
    case 2:
        scatter(image + INDEXED_HEAD, p.codes - INDEXED_HEAD, &seed);
        break;
    case 3:
        scatter(image + p.codes, p.lengths - p.codes, &seed);
        break;
    case 4:
        move_byte(image, &p, &seed);
        break;
    default:
        return HEAD + mutate_bits(image, &p, room - HEAD, &seed);
    }
    return size;
}
