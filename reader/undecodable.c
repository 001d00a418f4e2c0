/* Images that cannot be decoded: see undecodable.h. */
#include "undecodable.h"

#include "delivery.h"
#include "reader.h"

#include <stdlib.h>

void undecodable_free(struct undecodable *u)
{
    free(u->known);
}

static bool count_record(const apl_reader *r, struct undecodable *u, uint32_t delivery)
{
    uint32_t nth, copy, index = delivery_block(&r->spec, delivery, &nth, &copy);
    uint64_t record = r->spec.subset.block[index].before + nth;
    const struct subset_block *last = &r->spec.subset.block[r->spec.subset.blocks - 1];
    if (!u->known && !(u->known = calloc((size_t)((last->before + last->count) / 8 + 1), 1)))
        return false;
    uint8_t bit = (uint8_t)(1u << record % 8);
    u->records += !(u->known[record / 8] & bit);
    u->known[record / 8] |= bit;
    return true;
}

apl_status undecodable_meet(const apl_reader *r, struct job *job, apl_error *err)
{
    struct undecodable *u = &job->outlet->undecodable;
    u->corrupt = job->corrupt > u->corrupt ? job->corrupt : u->corrupt;
    for (uint32_t k = 0; k < job->undecodable; k++)
        if (!count_record(r, u, job->deliveries[job->buffer->batch.rows + k]))
            return fail_nomem(err);
    if (u->records == 0 || u->records + u->corrupt <= r->spec.options.skip_corrupt)
        return APL_OK;
    if (job->undecodable == 0)
        fail(&job->error, APL_E_CORRUPT, "more than %s would be left out: corrupt, or not decoded",
             number_of(r->spec.options.skip_corrupt, "record", "records"));
    else
        bad_blocks_name_limit(r, &job->error);
    job->error.status = job->status = APL_E_CORRUPT;
    *err = job->error;
    return APL_E_CORRUPT;
}
