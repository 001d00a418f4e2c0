/* Mutates an image's file, and makes the checksums of a PNG's chunks right. */
#include "fuzz.h"
#include "gunzip.h"
#include "repair.h"

static void store_be32(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

static uint32_t load_be32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void repair_png(uint8_t *file, size_t size)
{
    static const uint8_t signature[8] = {137, 'P', 'N', 'G', 13, 10, 26, 10};
    if (size < sizeof signature || memcmp(file, signature, sizeof signature) != 0)
        return;
    for (size_t at = sizeof signature; size - at >= 12;) {
        const size_t inner = load_be32(file + at);
        if (inner > size - at - 12)
            return;
        store_be32(file + at + 8 + inner, gunzip_crc32(file + at + 4, 4 + inner));
        at += 12 + inner;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    size = LLVMFuzzerMutate(data, size, room);
    if (size > 1 && draw(&seed, 16) > 0)
        repair_png(data + 1, size - 1);
    return size;
}
