/* Batches of records of like lengths: see buckets.h. */
#include "buckets.h"

#include "delivery.h"
#include "lengths.h"
#include "random.h"

#include <stdlib.h>

apl_status buckets_open(struct spec *spec, apl_error *err)
{
    struct reader_options *o = &spec->options;
    struct bucket *b = &o->bucket;
    uint64_t all = spec->subset.records * o->plan.reuse, batch = options_global_batch(o);
    if (o->plan.sampler)
        all = sampler_records(o->plan.sampler);
    b->pool = b->batches < all / batch + 1 ? b->batches * batch : (all / batch + 1) * batch;
    b->lengths = malloc(spec->subset.records * sizeof *b->lengths);
    if (!b->lengths)
        return fail_nomem(err);
    TRY(lengths_read(spec, b->field, b->lengths, err));
    lengths_forget_unknown(b->lengths, spec->subset.records);
    return APL_OK;
}

void buckets_free(struct bucket *b)
{
    free(b->lengths);
}

uint64_t buckets_bytes(const struct spec *spec)
{
    const struct bucket *b = &spec->options.bucket;
    return b->batches
               ? spec->subset.records * sizeof(uint32_t) + b->pool * (sizeof(uint64_t) + 2 * sizeof(uint32_t))
               : 0;
}
