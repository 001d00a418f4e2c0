/* What the files of one store share that is elsewhere: see origin.h. */
#include "origin.h"

#include <stdlib.h>
#include <string.h>

apl_status origin_open(const char *cache, uint64_t budget, struct origin **origin, apl_error *err)
{
    struct origin *o = calloc(1, sizeof *o);
    if (!o)
        return fail_nomem(err);
    atomic_init(&o->holders, 1);
    o->budget = budget;
    if (cache && *cache && !(o->directory = strdup(cache))) {
        free(o);
        return fail_nomem(err);
    }
    *origin = o;
    return APL_OK;
}

apl_status origin_answered(struct origin *origin, apl_error *err)
{
    if (!origin->directory || origin->cache)
        return APL_OK;
    apl_status status = disk_cache_open(origin->directory, origin->budget, &origin->cache, err);
    origin->cache_failed = status != APL_OK;
    if (status == APL_OK && origin->budget)
        disk_cache_shrink(origin->cache);
    return status;
}

struct origin *origin_retain(struct origin *origin)
{
    /* relaxed: who retains holds a reference already */
    atomic_fetch_add_explicit(&origin->holders, 1, memory_order_relaxed);
    return origin;
}

void origin_release(struct origin *origin)
{
    /* acq_rel: what others did with it must have happened before it is freed */
    if (!origin || atomic_fetch_sub_explicit(&origin->holders, 1, memory_order_acq_rel) != 1)
        return;
    if (origin->cache)
        disk_cache_release(origin->cache);
    free(origin->directory);
    free(origin);
}

/* relaxed, below: who asks has read the part, or waits until it has been read */

void origin_not_kept(struct origin *origin, int why)
{
    int none = 0;
    atomic_compare_exchange_strong_explicit(&origin->unkept, &none, why, memory_order_relaxed,
                                            memory_order_relaxed);
}

void origin_keep_all(struct origin *origin)
{
    atomic_store_explicit(&origin->unkept, 0, memory_order_relaxed);
}

apl_status origin_kept_all(struct origin *origin, apl_error *err)
{
    int why = atomic_load_explicit(&origin->unkept, memory_order_relaxed);
    if (why == UNKEPT_NAMELESS)
        return fail(err, APL_E_UNSUPPORTED,
                    "its server sends no ETag that is exact and no Last-Modified: no part of it can be kept");
    return why ? disk_cache_fail(origin->cache, why, err) : APL_OK;
}
