/* Which blocks are retained in memory for the next epoch, because it needs them first and there are slots to spare. With the reader's lock
 * held. */
#ifndef RETENTION_H
#define RETENTION_H

#include "plan.h"

struct retention {
    uint8_t *retained; /* of each block; NULL: there is nothing to spare, and none is */
    uint32_t *peeked;  /* scratch: the order of the next epoch */
};

/* Nothing is allocated if no slot is to spare. */
apl_status retention_open(struct retention *retention, uint32_t blocks, uint32_t spare_slots, apl_error *err);
void retention_free(struct retention *retention);

/* Chooses again: the blocks that the epoch after `epoch` needs first, as many as there is room for. */
void retention_choose(struct retention *retention, const struct plan_options *plan,
                      const struct subset *subset, uint64_t epoch, uint32_t spare_slots);

static inline bool retention_any(const struct retention *retention)
{
    return retention->retained != NULL;
}

static inline bool retention_has(const struct retention *retention, uint32_t index)
{
    return retention->retained && retention->retained[index];
}

#endif
