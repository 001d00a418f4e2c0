/* Mutates what a state says of epoch and position, and the bits of free order; makes the checksum right. Eight bytes
 * are the epoch to begin with. */
#include "fuzz.h"
#include "repair.h"

#define HEAD 96u

static void repair_state(uint8_t *state, size_t size, unsigned *seed)
{
    uint64_t set = 0;
    for (size_t i = HEAD; i < size; i++)
        set += (uint64_t)__builtin_popcount(state[i]);
    if (size > HEAD && draw(seed, 4))
        store_le(state + 72, set, 8);
    store_le(state + 80, size, 8);
    uint8_t parts[16];
    store_le(parts, hash_xxh3_64(state, 88), 8);
    store_le(parts + 8, hash_xxh3_64(state + HEAD, size - HEAD), 8);
    store_le(state + 88, hash_xxh3_64(parts, sizeof parts), 8);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    uint8_t *state = data + 1;
    if (size == 1 + 8) {
        put_interesting(state, 8, &seed);
        return size;
    }
    if (size < 1 + HEAD || draw(&seed, 12) == 0)
        return LLVMFuzzerMutate(data, size, room);
    switch (draw(&seed, 6)) {
    case 0:
    case 1:
        put_interesting(state + 64 + 8 * draw(&seed, 2), 8, &seed);
        break;
    case 2:
        LLVMFuzzerMutate(state, 80, 80);
        break;
    case 3:
        store_le(state + 72, draw(&seed, 90), 8);
        break;
    case 4:
        data[0] = (uint8_t)draw(&seed, 256);
        break;
    default:
        if (size > 1 + HEAD)
            LLVMFuzzerMutate(state + HEAD, size - 1 - HEAD, size - 1 - HEAD);
    }
    repair_state(state, size - 1, &seed);
    return size;
}
