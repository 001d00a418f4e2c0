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

#endif
