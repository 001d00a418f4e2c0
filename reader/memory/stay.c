/* Which blocks stay for the next epoch: see stay.h. */
#include "stay.h"

#include <stdlib.h>
#include <string.h>

apl_status stay_open(struct stay *stay, uint32_t blocks, uint32_t spare_slots, apl_error *err)
{
    if (!spare_slots)
        return APL_OK;
    stay->stays = calloc(blocks, 1);
    stay->peeked = calloc(blocks, sizeof *stay->peeked);
    return stay->stays && stay->peeked ? APL_OK : fail_nomem(err);
}

void stay_free(struct stay *stay)
{
    free(stay->stays);
    free(stay->peeked);
}

void stay_choose(struct stay *stay, const struct plan *plan, const struct subset *subset, uint64_t epoch,
                 uint32_t spare_slots)
{
    uint64_t room = spare_slots;
    if (!stay->stays)
        return;
    memset(stay->stays, 0, subset->blocks);
    plan_peek(plan, epoch + 1, stay->peeked);
    for (uint32_t i = 0; i < subset->blocks; i++) {
        uint32_t count = subset->block[stay->peeked[i]].count;
        if (count > room)
            break;
        room -= count;
        stay->stays[stay->peeked[i]] = 1;
    }
}
