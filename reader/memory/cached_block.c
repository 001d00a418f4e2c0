/* A block of the split, as it is cached: see cached_block.h. */
#include "cached_block.h"

#include <stdlib.h>
#include <string.h>

/* Takes slots for the records that the epoch's sample has. */
static bool take_sampled(struct cached_block *b, struct slab *slab, const struct subset_block *block,
                         const uint32_t *cumulative)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < block->count; i++)
        n += cumulative[i + 1] > cumulative[i];
    if (!slab_take(slab, b->slots, n, 0))
        return false;
    for (uint32_t i = block->count; i-- > 0;) {
        uint32_t copies = cumulative[i + 1] - cumulative[i];
        b->slots[i] = copies ? b->slots[--n] : NO_SLOT;
        if (copies)
            slab_add(slab, &b->slots[i], 1, copies);
    }
    return true;
}

bool cached_take_slots(struct cached_block *b, struct slab *slab, const struct subset_block *block,
                       const uint32_t *cumulative, unsigned reuse, bool *nomem)
{
    b->slots = malloc(block->count * sizeof *b->slots);
    *nomem = !b->slots;
    if (*nomem)
        return false;
    if (cumulative ? take_sampled(b, slab, block, cumulative + block->before)
                   : slab_take(slab, b->slots, block->count, reuse))
        return true;
    free(b->slots);
    b->slots = NULL;
    return false;
}

bool cached_share_slots(struct cached_block *b, const struct cached_block *before, struct slab *slab,
                        uint32_t count, unsigned deliveries)
{
    b->slots = malloc(count * sizeof *b->slots);
    if (!b->slots) {
        slab_release(slab, before->slots, count);
        return false;
    }
    memcpy(b->slots, before->slots, count * sizeof *b->slots);
    slab_add(slab, b->slots, count, deliveries);
    return true;
}

void cached_loaded(struct cached_block *b, struct raw_column *ragged, const apl_error *error)
{
    b->ragged = ragged;
    if (!error)
        return;
    free(b->error);
    b->error = malloc(sizeof *b->error);
    if (b->error)
        *b->error = *error;
}

uint64_t cached_varying_bytes(const struct cached_block *b, unsigned fields)
{
    uint64_t bytes = 0;
    for (unsigned f = 0; b->ragged && f < fields; f++)
        bytes += raw_column_bytes(&b->ragged[f]);
    return bytes;
}

bool cached_pass(struct cached_block *b, struct slab *slab, uint32_t count, uint32_t nth)
{
    if (b->stage == BLOCK_IN || b->stage == BLOCK_BAD) {
        uint32_t slot = b->slots[nth];
        slab_release(slab, &slot, 1);
        return true;
    }
    if (!b->passed && !(b->passed = calloc(count, sizeof *b->passed)))
        return false;
    b->passed[nth]++;
    return true;
}

void cached_forget_passed(struct cached_block *b)
{
    free(b->passed);
    b->passed = NULL;
}

void cached_give_passed(struct cached_block *b, struct slab *slab, uint32_t count)
{
    for (uint32_t i = 0; b->passed && b->slots && i < count; i++)
        for (uint16_t k = 0; k < b->passed[i]; k++) {
            uint32_t slot = b->slots[i];
            slab_release(slab, &slot, 1);
        }
    cached_forget_passed(b);
}

uint64_t cached_evict(struct cached_block *b, unsigned ragged_fields)
{
    uint64_t bytes = cached_varying_bytes(b, ragged_fields);
    for (unsigned f = 0; b->ragged && f < ragged_fields; f++)
        raw_column_free(&b->ragged[f]);
    if (ragged_fields)
        free(b->ragged);
    free(b->slots);
    free(b->error);
    free(b->passed);
    *b = (struct cached_block){.stage = BLOCK_OUT};
    return bytes;
}
