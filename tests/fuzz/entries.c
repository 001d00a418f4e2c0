/* Mutating the entries of a manifest. */
#include "fuzz.h"
#include "repair.h"

#define HEAD 24u

/* The entry that begins nearest below a random place; 0: none. */
static size_t some_entry(const uint8_t *data, size_t size, unsigned *seed)
{
    size_t target = draw(seed, (unsigned)size), at = HEAD, last = 0;
    while (at <= target && at + 8 <= size) {
        last = at;
        at += 8 + load_le(data + at + 4, 4);
    }
    return last;
}

/* Doubles an entry, or takes it out. */
static size_t change_entries(uint8_t *data, size_t size, size_t room, unsigned *seed)
{
    size_t at = some_entry(data, size, seed);
    if (at == 0)
        return size;
    size_t n = 8 + load_le(data + at + 4, 4);
    if (n > size - at)
        return size;
    if (draw(seed, 2) == 0) {
        memmove(data + at, data + at + n, size - at - n);
        return size - n;
    }
    if (n > room - size)
        return size;
    memmove(data + at + n, data + at, size - at);
    return size + n;
}

/* Mutates the payload of an entry and keeps its length right. */
static size_t change_payload(uint8_t *data, size_t size, size_t room, unsigned *seed)
{
    size_t at = some_entry(data, size, seed);
    if (at == 0)
        return size;
    size_t n = load_le(data + at + 4, 4), tail = size - at - 8 - n;
    if (n > size - at - 8)
        return size;
    size_t most = n + 16 < n + (room - size) ? n + 16 : n + (room - size);
    uint8_t *payload = malloc(most + 1);
    memcpy(payload, data + at + 8, n);
    size_t now = LLVMFuzzerMutate(payload, n, most);
    memmove(data + at + 8 + now, data + at + 8 + n, tail);
    memcpy(data + at + 8, payload, now);
    store_le(data + at + 4, now, 4);
    free(payload);
    return at + 8 + now + tail;
}

/* The first entry from `at` on that has this tag; 0: none. */
static size_t find_entry(const uint8_t *data, size_t size, size_t at, unsigned tag)
{
    for (; at + 8 <= size; at += 8 + load_le(data + at + 4, 4))
        if (load_le(data + at, 2) == tag && load_le(data + at + 4, 4) >= 16 &&
            load_le(data + at + 4, 4) <= size - at - 8)
            return at;
    return 0;
}

/* The first number and the count that end the payload of a split, member or segment. */
static uint8_t *range_of(uint8_t *data, size_t at)
{
    return data + at + 8 + load_le(data + at + 4, 4) - 16;
}

/* Moves the boundary between two neighbours, so that together they still cover what they have to. */
static void move_boundary(uint8_t *data, size_t size, unsigned tag, uint64_t by)
{
    size_t one = find_entry(data, size, HEAD, tag);
    size_t two = one ? find_entry(data, size, one + 8 + load_le(data + one + 4, 4), tag) : 0;
    if (two == 0)
        return;
    uint8_t *a = range_of(data, one), *b = range_of(data, two);
    store_le(a + 8, load_le(a + 8, 8) + by, 8);
    store_le(b, load_le(b, 8) + by, 8);
    store_le(b + 8, load_le(b + 8, 8) - by, 8);
}

/* Of splits (6), members (7), segments (8), or of several of them alike. */
static void move_boundaries(uint8_t *data, size_t size, unsigned *seed)
{
    unsigned which = 1 + draw(seed, 7);
    uint64_t by = draw(seed, 2) ? 1 + draw(seed, 5) : (uint64_t)0 - 1 - draw(seed, 5);
    for (unsigned tag = 6; tag <= 8; tag++)
        if (which >> (tag - 6) & 1)
            move_boundary(data, size, tag, by);
}

/* Gives an entry the payload's beginning, such as the name, of another of its tag. */
static void copy_name(uint8_t *data, size_t size, unsigned tag)
{
    size_t one = find_entry(data, size, HEAD, tag);
    size_t two = one ? find_entry(data, size, one + 8 + load_le(data + one + 4, 4), tag) : 0;
    if (two == 0)
        return;
    size_t n = 2 + load_le(data + one + 8, 2), room = load_le(data + two + 4, 4);
    if (n <= room && n <= load_le(data + one + 4, 4) && load_le(data + two + 8, 2) + 2 == n)
        memcpy(data + two + 8, data + one + 8, n);
}

size_t mutate_entries(uint8_t *data, size_t size, size_t room, unsigned *seed)
{
    unsigned width = 1u << draw(seed, 4);
    switch (draw(seed, 6)) {
    case 4:
        move_boundaries(data, size, seed);
        return size;
    case 5:
        copy_name(data, size, 6 + draw(seed, 2));
        return size;
    case 0:
        return change_entries(data, size, room, seed);
    case 1:
        return change_payload(data, size, room, seed);
    case 2:
        if (size > HEAD + width)
            put_interesting(data + HEAD + draw(seed, (unsigned)(size - HEAD - width)), width, seed);
        return size;
    default:
        return HEAD + LLVMFuzzerMutate(data + HEAD, size - HEAD, room - HEAD);
    }
}
