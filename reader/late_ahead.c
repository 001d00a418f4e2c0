/* Values that are asked for ahead: see late_ahead.h. */
#include "late_ahead.h"

#include "delivery.h"
#include "late.h"
#include "late_fields.h"
#include "mix.h"

/* False: there is no room for more. */
static bool value_ahead(const apl_reader *r, const struct job *job, unsigned field, size_t row)
{
    uint32_t nth, copy, index = delivery_block(&r->spec, job->deliveries[row], &nth, &copy);
    const apl_store *store = mix_source_of(&r->spec, index)->store;
    if (!r->spec.options.wanted[field] || !late_is(&r->spec, index, field) || !store_is_elsewhere(store) ||
        cache_block(&r->cache, job->epoch, index)->stage != BLOCK_IN)
        return true;
    struct late_value v = late_value_of(&r->spec, &r->cache.standing, job, field, row);
    return store_ahead_value(store, r->spec.subset.block[index].number, v.list, v.record,
                             future_of_delivery(r, job->epoch, job->deliveries[row]));
}

/* Asks for more values, field by field as they are read, and none before number `at`; until there is no room, which each that is read
 * makes. Any thread that collates the batch may do so. */
static bool ask_from(const apl_reader *r, struct job *job, uint32_t at)
{
    /* relaxed: asking twice does no harm */
    uint32_t all = r->spec.schema->count * job->rows,
             ahead = atomic_load_explicit(&job->ahead, memory_order_relaxed);
    while (ahead < all) {
        uint32_t next = ahead > at ? ahead : at;
        if (next >= all || !value_ahead(r, job, next / job->rows, next % job->rows))
            return next >= all;
        if (atomic_compare_exchange_strong_explicit(&job->ahead, &ahead, next + 1, memory_order_relaxed,
                                                    memory_order_relaxed))
            ahead = next + 1;
    }
    return true;
}

bool late_ahead(const apl_reader *r, struct job *job)
{
    return ask_from(r, job, 0);
}

void late_ask(const struct worker *w, struct job *job, uint32_t at)
{
    (void)ask_from(w->reader, job, at);
}
