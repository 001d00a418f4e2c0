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

size_t mutate_entries(uint8_t *data, size_t size, size_t room, unsigned *seed)
{
    unsigned width = 1u << draw(seed, 4);
    switch (draw(seed, 4)) {
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
