/* Windows: what is delivered are not records but windows over their values. When a reader is opened, its subset becomes one whose records
 * are windows, block by block as their records lie, so that all else plans, counts and resumes them as if they were records. */
#ifndef TOKEN_WINDOWS_H
#define TOKEN_WINDOWS_H

#include "spec.h"

/* Reads the lengths of values, which are alike in the fields that are windowed; and puts windows in the place of spec->subset, which from
 * then on spec->options.windows has. */
apl_status windows_open(struct spec *spec, const bool *windowed, apl_error *err);
void windows_free(struct windows *w);

/* Bytes that windows take beyond the buffers of batches; and that one of them stands for in the cache, of a field. */
uint64_t windows_bytes(const struct spec *spec);
uint64_t windows_standing_bytes(const struct spec *spec, unsigned field);

/* A part of a window: of one record, whose place it gives among the blocks of windows.records. */
struct window_part {
    uint32_t block, nth;
    uint64_t id, offset; /* of the record; where in its value the part begins */
    uint32_t before;     /* tokens of the block before this value */
    uint32_t start, tokens;
};

struct window_walk {
    const struct windows *windows;
    uint32_t block, nth;
    uint64_t offset, left;
};

/* Goes through the parts of a window, record `nth` of block `index` of the reader's subset, from its beginning. */
void windows_begin(const struct spec *spec, uint32_t index, uint32_t nth, struct window_walk *walk);
bool windows_next(struct window_walk *walk, struct window_part *part);

/* How many records block `index` of the reader's subset has, be it of windows. */
uint32_t windows_block_records(const struct spec *spec, uint32_t index);

/* The records of a block of windows. */
static inline const struct subset_block *windows_records(const struct windows *w, uint32_t index)
{
    return &w->records.block[w->block[index].records];
}

#endif
