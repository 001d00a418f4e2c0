/* From the store into slots. */
#ifndef LOAD_H
#define LOAD_H

#include "late.h"
#include "reader.h"

/* Makes a worker's own things; for each worker once. */
apl_status worker_init(struct worker *w, apl_error *err);
void worker_free(struct worker *w);

/* What has become of a block. */
struct loaded_block {
    bool found;                /* another reader that shares it has decoded it */
    struct raw_column *ragged; /* of each field of varying shape, its values; NULL: none */
};

/* Decodes block `index` of the split into its slots. Without the reader's lock: the block is in stage BLOCK_LOADING, and so this
 * thread's alone. `loaded` is filled in on errors too. */
apl_status load_block(struct worker *w, uint32_t index, const struct cached_block *b,
                      struct loaded_block *loaded, apl_error *err);

/* Of a reader with stores elsewhere: has blocks fetched, the one that is to be loaded now and then those that will be next. `late`: others may
 * be needed sooner. False: there is no room for all of them. */
#define LOADS_AHEAD 64u
bool load_ahead(const apl_reader *r, const struct load_item *items, unsigned count, bool late);

/* Is it a probe, which load_ahead_here() passes over? See residence.h. */
static inline bool load_is_probe(struct load_item item)
{
    return item.index % 64 == 0;
}

/* Tells the kernel of those that are in files here; without the lock, as it may wait for the disk. */
void load_ahead_here(const apl_reader *r, const struct load_item *items, unsigned count);

/* For tests: called before each block is loaded, in the thread that loads it, with the block's number in the store; may
 * take its time, or fail the load. NULL: nothing is called. */
void load_set_hook(const struct load_hook *hook);

#endif
