/* Blocks that could not be read, and that a batch has met. With the reader's lock held. */
#ifndef BAD_BLOCKS_H
#define BAD_BLOCKS_H

#include "status.h"

#include <stdbool.h>
#include <stdint.h>

struct bad_blocks {
    uint8_t *known;   /* of each block: a batch has met it, and its records are counted */
    uint64_t records; /* of known ones */
};

apl_status bad_blocks_open(struct bad_blocks *bad, uint32_t blocks, apl_error *err);
void bad_blocks_free(struct bad_blocks *bad);

static inline bool bad_blocks_know(const struct bad_blocks *bad, uint32_t index)
{
    return bad->known[index];
}

/* A batch meets block `index`: may its rows be left out, of this and of all known ones? */
bool bad_blocks_meet(const apl_reader *r, struct bad_blocks *bad, uint32_t index);

/* The error of what is left out no more: begins with the limit, if there is one. */
void bad_blocks_name_limit(const apl_reader *r, apl_error *err);

#endif
