/* Mutates the manifest's entries, and makes size and checksum right. */
#include "fuzz.h"
#include "repair.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    if (size <= 24 || draw(&seed, 16) == 0)
        return LLVMFuzzerMutate(data, size, room);
    size = mutate_entries(data, size, room, &seed);
    repair_manifest(data, size);
    return size;
}
