/* Mutates a block's header, column entries or coded bytes, and makes all checksums right. */
#include "fuzz.h"
#include "repair.h"
#include "schemas.h"

#define HEAD  40u
#define ENTRY 40u

/* Mutates the end of the block, and lets the last column have what that makes it. */
static size_t change_tail(uint8_t *block, size_t size, size_t room, const struct schema *schema,
                          unsigned *seed)
{
    size_t head = load_le(block + 4, 4);
    if (head >= size)
        return LLVMFuzzerMutate(block, size, room);
    size_t at = head + draw(seed, (unsigned)(size - head));
    size_t now = at + LLVMFuzzerMutate(block + at, size - at, room - at);
    uint8_t *coded = block + HEAD + ENTRY * (schema->count - 1) + 16;
    if (coded + 8 <= block + head)
        store_le(coded, load_le(coded, 8) + now - size, 8);
    return now;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    if (size <= 1 + HEAD + ENTRY || draw(&seed, 16) == 0)
        return LLVMFuzzerMutate(data, size, room);
    const struct schema *schema = fuzz_schema(data[0] % SCHEMAS);
    uint8_t *block = data + 1;
    unsigned entry = HEAD + ENTRY * draw(&seed, schema->count), width = 1u << draw(&seed, 4);
    switch (draw(&seed, 5)) {
    case 0:
        put_interesting(block + 4 * draw(&seed, 9), 4, &seed);
        break;
    case 1:
        if (entry + ENTRY < size - 1)
            put_interesting(block + entry + 8 * draw(&seed, 3), 8, &seed);
        break;
    case 2:
        if (entry < size - 1)
            block[entry] = (uint8_t)draw(&seed, 6);
        break;
    case 3:
        put_interesting(block + draw(&seed, (unsigned)(size - 1 - width)), width, &seed);
        break;
    default:
        size = 1 + change_tail(block, size - 1, room - 1, schema, &seed);
    }
    repair_block(block, size - 1, schema);
    return size;
}
