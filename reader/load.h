/* From the store into slots. */
#ifndef LOAD_H
#define LOAD_H

#include "reader.h"

/* Makes a worker's own things; for each worker once. */
apl_status worker_init(struct worker *w, apl_error *err);
void worker_free(struct worker *w);

/* Decodes block `index` of the split into its slots, and its values of varying shape into b->ragged; *found: another reader that
 * shares them has done so. Without the reader's lock: the block is in stage BLOCK_LOADING, and so this thread's alone. */
apl_status load_block(struct worker *w, uint32_t index, struct resident *b, bool *found, apl_error *err);

/* For tests: called before each block is loaded, in the thread that loads it, with the block's number in the store; may
 * take its time, or fail the load. NULL: nothing is called. */
struct load_hook {
    apl_status (*before)(void *user, uint64_t number, apl_error *err);
    void *user;
};
void load_set_hook(const struct load_hook *hook);

/* Frees the values of varying shape of a block. */
void load_drop_ragged(const apl_reader *r, struct resident *b);

/* The slot of member i of a resident block; NO_SLOT: the epoch's sample has it not. */
#define NO_SLOT UINT32_MAX
static inline uint32_t resident_slot(const apl_reader *r, const struct resident *b, uint32_t index,
                                     uint32_t i)
{
    return b->slots ? b->slots[i] : (uint32_t)r->subset.block[index].first + i;
}

#endif
