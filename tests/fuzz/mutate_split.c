/* Mutates a split file, and makes size and checksum right. */
#include "fuzz.h"
#include "repair.h"

#define HEAD 104u
#define SUM  8u

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    unsigned width = 1u << draw(&seed, 4);
    if (size < HEAD + SUM + 8 || draw(&seed, 16) == 0)
        return LLVMFuzzerMutate(data, size, room);
    size_t body = size - SUM;
    switch (draw(&seed, 4)) {
    case 0:
        put_interesting(data + 48 + draw(&seed, HEAD - 48 - 7), width, &seed);
        break;
    case 1:
        put_interesting(data + HEAD + draw(&seed, (unsigned)(body - HEAD - width + 1)), width, &seed);
        break;
    case 2:
        data[HEAD + draw(&seed, (unsigned)(body - HEAD))] ^= (uint8_t)(1u << draw(&seed, 8));
        break;
    default:
        body = HEAD + LLVMFuzzerMutate(data + HEAD, body - HEAD, room - SUM - HEAD);
    }
    store_le(data + 8, body + SUM, 8);
    store_le(data + body, hash_xxh3_64(data, body), SUM);
    return body + SUM;
}
