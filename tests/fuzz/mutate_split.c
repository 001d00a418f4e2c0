/* Mutates a split file: numbers of its head, its rule, its bitsets, the part that it says it is; makes size and checksum
 * right. */
#include "bitset.h"
#include "entropy.h"
#include "fuzz.h"
#include "repair.h"

#define HEAD    104u
#define TAIL    16u
#define SUM     8u
#define RECORDS 4096u /* of the store that targets read: fewer */

enum { BY_GROUP = 3 }; /* in the upper half of the rule */
enum { AT_RULE = 48, AT_COUNT = 80, AT_RECORDS = 88 };

/* Where the two tables begin, and what is behind them; false: the file is too broken to be understood. */
static bool find_places(const uint8_t *data, size_t body, size_t places[3])
{
    struct cursor c = cursor_over(data + HEAD, body - HEAD);
    for (unsigned i = 0; i < (data[AT_RULE] >> 4 == BY_GROUP ? 5 : 4); i++) /* names */
        cursor_take(&c, cursor_u16(&c));
    for (unsigned i = 0; i < 2; i++) {
        places[i] = body - cursor_left(&c);
        cursor_u8(&c);
        uint64_t bytes = cursor_u64(&c);
        if (bytes > cursor_left(&c))
            return false;
        cursor_take(&c, (size_t)bytes);
    }
    places[2] = body - cursor_left(&c);
    return !c.failed;
}

static bool decode_table(const uint8_t *table, size_t bytes, uint8_t *raw)
{
    size_t coded = (size_t)load_le(table + 1, 8);
    struct entropy *entropy = entropy_new();
    bool whole = table[0] == 0 ? coded == bytes
                               : entropy_decode(entropy, table + 9, coded, raw, bytes, NULL) == APL_OK;
    if (whole && table[0] == 0)
        memcpy(raw, table + 9, bytes);
    entropy_free(entropy);
    return whole;
}

/* Both bitsets, decoded, a few of their bits moved, set or cleared; and as many records as there are bits set. */
static size_t mutate_tables(uint8_t *data, size_t body, size_t room, unsigned *seed)
{
    static uint8_t raw[2][RECORDS / 8 + 1], whole[1 << 16];
    size_t places[3], n = (size_t)load_le(data + AT_COUNT, 8);
    if (n == 0 || n > RECORDS || !find_places(data, body, places))
        return body;
    size_t bytes = bitset_bytes(n), tail = body - places[2], size = places[0] + 2 * (9 + bytes) + tail;
    if (size > room || size > sizeof whole || !decode_table(data + places[0], bytes, raw[0]) ||
        !decode_table(data + places[1], bytes, raw[1]))
        return body;
    for (unsigned i = draw(seed, 4); i < 4; i++) {
        unsigned side = draw(seed, 2), bit = draw(seed, (unsigned)n);
        raw[side][bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (draw(seed, 4)) /* not in both tables */
            raw[!side][bit / 8] &= (uint8_t) ~(1u << bit % 8);
    }
    memcpy(whole, data, places[0]);
    uint8_t *at = whole + places[0];
    for (unsigned side = 0; side < 2; side++, at += 9 + bytes) {
        uint64_t marked = 0;
        for (size_t i = 0; i < bytes; i++)
            marked += (uint64_t)__builtin_popcount(raw[side][i]);
        store_le(whole + AT_RECORDS + (size_t)8 * side, marked, 8);
        at[0] = 0;
        store_le(at + 1, bytes, 8);
        memcpy(at + 9, raw[side], bytes);
    }
    memcpy(at, data + places[2], tail);
    memcpy(data, whole, size);
    return size;
}

/* Another rule, with or without the part that its file must name; or other inputs of the hash, but those that have a name. */
static size_t mutate_rule(uint8_t *data, size_t body, size_t room, unsigned *seed)
{
    size_t places[3];
    unsigned by = data[AT_RULE] >> 4;
    if (by != BY_GROUP && draw(seed, 2))
        by = draw(seed, BY_GROUP);
    unsigned rule = 1 + draw(seed, 5);
    data[AT_RULE] = (uint8_t)(by << 4 | rule);
    if (!find_places(data, body, places) || draw(seed, 8) == 0)
        return body;
    if (rule < 3)
        return places[2];
    if (places[2] + TAIL > room)
        return body;
    uint8_t *tail = data + places[2];
    unsigned parts = 2 + draw(seed, 6);
    store_le(tail, draw(seed, parts), 4);
    store_le(tail + 4, parts, 4);
    store_le(tail + 8, rule == 5 ? 1 + draw(seed, 3000000) : 0, 8);
    return places[2] + TAIL;
}

static void mutate_tail(uint8_t *data, size_t body, unsigned *seed)
{
    static const uint8_t places[3] = {16, 12, 8}, widths[3] = {4, 4, 8};
    unsigned pick = draw(seed, 3);
    put_interesting(data + body - places[pick], widths[pick], seed);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    unsigned width = 1u << draw(&seed, 4);
    if (size < HEAD + SUM + TAIL || draw(&seed, 16) == 0)
        return LLVMFuzzerMutate(data, size, room);
    size_t body = size - SUM;
    switch (draw(&seed, 8)) {
    case 0:
        put_interesting(data + AT_RULE + draw(&seed, HEAD - AT_RULE - 7), width, &seed);
        break;
    case 1:
        put_interesting(data + HEAD + draw(&seed, (unsigned)(body - HEAD - width + 1)), width, &seed);
        break;
    case 2:
        data[HEAD + draw(&seed, (unsigned)(body - HEAD))] ^= (uint8_t)(1u << draw(&seed, 8));
        break;
    case 3:
        body = mutate_rule(data, body, room - SUM, &seed);
        break;
    case 4:
        mutate_tail(data, body, &seed);
        break;
    case 5:
    case 6:
        body = mutate_tables(data, body, room - SUM, &seed);
        break;
    default:
        body = HEAD + LLVMFuzzerMutate(data + HEAD, body - HEAD, room - SUM - HEAD);
    }
    store_le(data + 8, body + SUM, 8);
    store_le(data + body, hash_xxh3_64(data, body), SUM);
    return body + SUM;
}
