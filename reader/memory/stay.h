/* Which blocks stay in memory for the next epoch, because it needs them first and there are slots to spare. With the reader's lock
 * held. */
#ifndef STAY_H
#define STAY_H

#include "plan.h"

struct stay {
    uint8_t *stays;   /* of each block; NULL: there is nothing to spare, and none does */
    uint32_t *peeked; /* scratch: the order of the next epoch */
};

/* Nothing is allocated if no slot is to spare. */
apl_status stay_open(struct stay *stay, uint32_t blocks, uint32_t spare_slots, apl_error *err);
void stay_free(struct stay *stay);

/* Chooses anew: the blocks that the epoch after `epoch` needs first, as many as there is room for. */
void stay_choose(struct stay *stay, const struct plan *plan, const struct subset *subset, uint64_t epoch,
                 uint32_t spare_slots);

static inline bool stay_any(const struct stay *stay)
{
    return stay->stays != NULL;
}

static inline bool stay_is_chosen(const struct stay *stay, uint32_t index)
{
    return stay->stays && stay->stays[index];
}

#endif
