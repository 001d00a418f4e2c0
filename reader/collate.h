/* From slots into a batch. */
#ifndef MAKE_H
#define MAKE_H

#include "reader.h"

/* Assembles a planned batch whose blocks are all in (or bad, and to be left out). Without the reader's lock.
 */
apl_status make_batch(struct worker *w, struct job *job, apl_error *err);

/* The block of a delivery, and the member's place in it. */
static inline uint32_t delivery_block(const apl_reader *r, uint32_t delivery, uint32_t *member,
                                      uint32_t *copy)
{
    uint32_t reference = delivery;
    *copy = 0;
    if (r->options.plan.reuse > 1) {
        reference = delivery / r->options.plan.reuse;
        *copy = delivery % r->options.plan.reuse;
    }
    *member = reference % r->subset.stride;
    return reference / r->subset.stride;
}

/* The place of a delivery among all of its epoch: where its bit is. first: as sampled() says. */
static inline uint32_t delivery_number(const apl_reader *r, const uint32_t *first, uint32_t index,
                                       uint32_t member, uint32_t copy)
{
    uint64_t record = r->subset.block[index].first + member;
    return (uint32_t)deliveries_before(first, record, r->options.plan.reuse) + copy;
}

#endif
