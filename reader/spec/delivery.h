/* What a delivery is of: deliveries are numbers, reference x reuse + copy, where a reference is block x stride + the
 * record's place among those chosen of the block. */
#ifndef DELIVERY_H
#define DELIVERY_H

#include "reader.h"

/* The sample of an epoch (or of that parity) that is planned or handed out, as the number of deliveries before each record; NULL:
 * each record comes `reuse` times. */
static inline const uint32_t *delivery_sample(const apl_reader *r, uint64_t epoch)
{
    return r->options.plan.sampler ? sampler_cumulative(r->options.plan.sampler, epoch) : NULL;
}

/* The block of a delivery, and which of its chosen records it is. */
static inline uint32_t delivery_block(const apl_reader *r, uint32_t delivery, uint32_t *nth, uint32_t *copy)
{
    uint32_t reference = delivery;
    *copy = 0;
    if (r->options.plan.reuse > 1) {
        reference = delivery / r->options.plan.reuse;
        *copy = delivery % r->options.plan.reuse;
    }
    *nth = reference % r->subset.stride;
    return reference / r->subset.stride;
}

/* The place of a delivery among all of its epoch: where its bit is. cumulative: as delivery_sample() says. */
static inline uint32_t delivery_number(const apl_reader *r, const uint32_t *cumulative, uint32_t index,
                                       uint32_t nth, uint32_t copy)
{
    uint64_t record = r->subset.block[index].before + nth;
    return (uint32_t)deliveries_before(cumulative, record, r->options.plan.reuse) + copy;
}

/* How many deliveries of a block an epoch has. */
static inline uint32_t delivery_count(const apl_reader *r, const uint32_t *cumulative, uint32_t index)
{
    return deliveries_of_block(cumulative, &r->subset.block[index], r->options.plan.reuse);
}

#endif
