/* Copying ahead of training: see stage.h. */
#include "stage.h"

static apl_status check_alone(const apl_reader_options *asked, apl_error *err)
{
    const char *with = asked->transforms   ? "transforms"
                       : asked->collations ? "collations"
                       : asked->blend      ? "blend"
                       : asked->on_batch   ? "on_batch"
                                           : NULL;
    return with
               ? fail(err, APL_E_INVALID, "stage and %s exclude each other: nothing is made of records", with)
               : APL_OK;
}

static apl_status check_cached(const apl_store *store, apl_error *err)
{
    if (!store_is_elsewhere(store))
        return fail(err, APL_E_INVALID, "%s: is on this machine already: there is nothing to stage",
                    store->name);
    if (!store->remote.origin->cache)
        return fail(err, APL_E_INVALID, "%s: was opened without a cache, which is staged to", store->name);
    return APL_OK;
}

apl_status stage_resolve(struct spec *spec, const apl_reader_options *asked, apl_error *err)
{
    spec->options.stages = asked->stage;
    if (!asked->stage)
        return APL_OK;
    TRY(check_alone(asked, err));
    for (uint32_t i = 0; i < spec->sources.count; i++) {
        TRY(check_cached(spec->sources.source[i].store, err));
        origin_keep_all(spec->sources.source[i].store->remote.origin);
    }
    return APL_OK;
}

apl_status stage_is_kept(const struct spec *spec, apl_error *err)
{
    for (uint32_t i = 0; i < spec->sources.count; i++) {
        const apl_store *store = spec->sources.source[i].store;
        apl_status status = origin_kept_all(store->remote.origin, err);
        if (status != APL_OK)
            return fail_in(err, status, "%s", store->name);
    }
    return APL_OK;
}
