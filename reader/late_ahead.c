/* Values that are asked for ahead: see late_ahead.h. */
#include "late_ahead.h"

#include "delivery.h"
#include "late.h"
#include "late_fields.h"
#include "mix.h"

/* Of files here: more than these on their way keep no disk busier, and to ask for a short value costs more than it saves where its pages
 * are in memory. */
#define HERE_VALUES 64u
#define HERE_BYTES  ((size_t)16 << 20)
#define HERE_LEAST  ((size_t)4 << 10)
#define HERE_NEAR   8u

/* False: there are enough on their way. */
static bool value_ahead_here(const apl_store *store, uint64_t number, const struct late_value *v,
                             uint32_t far)
{
    if (far >= HERE_VALUES || far * v->place.bytes > HERE_BYTES)
        return false;
    return v->place.bytes < HERE_LEAST || late_is_probe(v) ||
           store_ahead_value(store, number, v->list, v->record, DUE_UNKNOWN);
}

/* Value `at` of a batch, counted field by field, and the store that has it; NULL: it is not read late, or its block is bad. */
static const apl_store *find_value(const apl_reader *r, const struct job *job, uint32_t at,
                                   struct late_value *v)
{
    unsigned field = at / job->rows;
    size_t row = at % job->rows;
    uint32_t nth, copy, index = delivery_block(&r->spec, job->deliveries[row], &nth, &copy);
    if (!r->spec.options.wanted[field] || !late_is(&r->spec, index, field) ||
        cache_block(&r->cache, job->epoch, index)->stage != BLOCK_IN)
        return NULL;
    *v = late_value_of(&r->spec, &r->cache.standing, job, field, row);
    return mix_source_of(&r->spec, index)->store;
}

/* False: there is no room for more. `far`: values from the one that is read next. `locked`: the kernel is not told of files here, which
 * may wait for the disk. */
static bool value_ahead(const apl_reader *r, const struct job *job, uint32_t at, uint32_t far, bool locked)
{
    struct late_value v;
    const apl_store *store = find_value(r, job, at, &v);
    if (!store)
        return true;
    uint64_t number = r->spec.subset.block[v.index].number;
    if (!store_is_elsewhere(store))
        return locked || value_ahead_here(store, number, &v, far);
    bool read_now = far == 0 && !locked;
    return read_now || store_ahead_value(store, number, v.list, v.record,
                                         future_of_delivery(r, job->epoch, job->deliveries[at % job->rows]));
}

/* Asks for more values, field by field as they are read, and none before number `at`; until there is no room, which each that is read
 * makes. Any thread that collates the batch may do so. */
static bool ask_from(const apl_reader *r, struct job *job, uint32_t at, bool locked)
{
    /* relaxed: asking twice does no harm */
    uint32_t all = r->spec.schema->count * job->rows,
             ahead = atomic_load_explicit(&job->ahead, memory_order_relaxed);
    while (ahead < all) {
        uint32_t next = ahead > at ? ahead : at;
        if (next >= all || !value_ahead(r, job, next, next - at, locked))
            return next >= all;
        if (atomic_compare_exchange_strong_explicit(&job->ahead, &ahead, next + 1, memory_order_relaxed,
                                                    memory_order_relaxed))
            ahead = next + 1;
    }
    return true;
}

bool late_ahead(const apl_reader *r, struct job *job)
{
    return ask_from(r, job, 0, true);
}

/* A network file system may have been too busy when it was asked. */
static void near_again(const apl_reader *r, const struct job *job, uint32_t at)
{
    struct late_value v;
    const apl_store *store = find_value(r, job, at, &v);
    if (store && !store_is_elsewhere(store) && v.place.bytes >= HERE_LEAST && !late_is_probe(&v))
        store_ahead_near(store, r->spec.subset.block[v.index].number, v.list, v.record);
}

void late_ask(const struct worker *w, struct job *job, uint32_t at)
{
    const apl_reader *r = w->reader;
    bool sure = residence_is_sure(&w->values);
    if (!sure || r->spec.elsewhere)
        (void)ask_from(r, job, at, false);
    if (!sure && at + HERE_NEAR < r->spec.schema->count * job->rows)
        near_again(r, job, at + HERE_NEAR);
}
