/* Which blocks are retained for the next epoch: see retention.h. */
#include "retention.h"

#include "entering.h"

#include <stdlib.h>
#include <string.h>

apl_status retention_open(struct retention *retention, uint32_t blocks, uint32_t spare_slots, apl_error *err)
{
    if (!spare_slots)
        return APL_OK;
    retention->retained = calloc(blocks, 1);
    retention->peeked = calloc(blocks, sizeof *retention->peeked);
    return retention->retained && retention->peeked ? APL_OK : fail_nomem(err);
}

void retention_free(struct retention *retention)
{
    free(retention->retained);
    free(retention->peeked);
}

void retention_choose(struct retention *retention, const struct plan_options *plan,
                      const struct subset *subset, uint64_t epoch, uint32_t spare_slots)
{
    uint64_t room = spare_slots;
    if (!retention->retained)
        return;
    memset(retention->retained, 0, subset->blocks);
    entering_order(plan->seed, epoch + 1, plan->sequential, subset->blocks, retention->peeked);
    for (uint32_t i = 0; i < subset->blocks; i++) {
        uint32_t count = subset->block[retention->peeked[i]].count;
        if (count > room)
            break;
        room -= count;
        retention->retained[retention->peeked[i]] = 1;
    }
}
