/* What a delivery is of: deliveries are numbers, reference x reuse + copy, where a reference is block x stride + the
 * record's place among those chosen of the block. */
#ifndef DELIVERY_H
#define DELIVERY_H

#include "spec.h"

/* The sample of an epoch (or of that parity) that is planned or handed out, as the number of deliveries before each record; NULL:
 * each record comes `reuse` times. */
static inline const uint32_t *delivery_sample(const struct spec *spec, uint64_t epoch)
{
    return spec->options.plan.sampler ? sampler_cumulative(spec->options.plan.sampler, epoch) : NULL;
}

/* The block of a delivery, and which of its chosen records it is. */
static inline uint32_t delivery_block(const struct spec *spec, uint32_t delivery, uint32_t *nth,
                                      uint32_t *copy)
{
    uint32_t reference = delivery;
    *copy = 0;
    if (spec->options.plan.reuse > 1) {
        reference = delivery / spec->options.plan.reuse;
        *copy = delivery % spec->options.plan.reuse;
    }
    *nth = reference % spec->subset.stride;
    return reference / spec->subset.stride;
}

/* The place of a delivery among all of its epoch: where its bit is. cumulative: as delivery_sample() says. */
static inline uint32_t delivery_number(const struct spec *spec, const uint32_t *cumulative, uint32_t index,
                                       uint32_t nth, uint32_t copy)
{
    uint64_t record = spec->subset.block[index].before + nth;
    return (uint32_t)deliveries_before(cumulative, record, spec->options.plan.reuse) + copy;
}

/* How many deliveries of a block an epoch has. */
static inline uint32_t delivery_count(const struct spec *spec, const uint32_t *cumulative, uint32_t index)
{
    return deliveries_of_block(cumulative, &spec->subset.block[index], spec->options.plan.reuse);
}

#endif
