/* What a caller asks of a reader: see asked.h. */
#include "asked.h"

#include "mix.h"
#include "sized.h"

#include <stdlib.h>
#include <string.h>

static apl_status take_sources(struct asked *a, apl_error *err)
{
    static const apl_source defaults = APL_SOURCE_INIT;
    const apl_source *theirs = a->options.mix.sources;
    a->options.mix.sources = a->sources = calloc(a->options.mix.count, sizeof *a->sources);
    if (!a->sources)
        return fail_nomem(err);
    for (size_t i = 0; i < a->options.mix.count; i++) {
        a->sources[i] = defaults;
        TRY(options_take_from(&a->sources[i], sizeof *a->sources, theirs, i, "apl_source", err));
    }
    return APL_OK;
}

/* Members that only a later version has. */
static apl_status check_reserved(const apl_reader_options *o, apl_error *err)
{
    static const apl_reader_options none;
    const char *part = NULL;
    if (memcmp(o->ranks.reserved, none.ranks.reserved, sizeof none.ranks.reserved) != 0)
        part = "ranks";
    else if (memcmp(o->mix.reserved, none.mix.reserved, sizeof none.mix.reserved) != 0)
        part = "mix";
    else if (memcmp(o->faults.reserved, none.faults.reserved, sizeof none.faults.reserved) != 0)
        part = "faults";
    if (!part)
        return APL_OK;
    return fail(
        err, APL_E_INVALID,
        "apl_reader_options: %s.reserved is not 0: of a newer version, and asks for what this library does "
        "not know, or not from APL_READER_OPTIONS_INIT",
        part);
}

/* An array and its length, or a rank and the number of ranks: one without the other is a slip. */
static apl_status check_pairs(const apl_reader_options *o, apl_error *err)
{
    if (!o->fields && o->field_count)
        return fail(err, APL_E_INVALID, "fields is NULL, but field_count is %zu", o->field_count);
    if (!o->kinds && o->kind_count)
        return fail(err, APL_E_INVALID, "kinds is NULL, but kind_count is %zu", o->kind_count);
    if (!o->transforms && o->transform_count)
        return fail(err, APL_E_INVALID, "transforms is NULL, but transform_count is %zu", o->transform_count);
    if (o->transforms && !o->transform_count)
        return fail(err, APL_E_INVALID, "transforms is empty: set transform_count, or transforms to NULL");
    if (!o->collations != !o->collation_count)
        return fail(err, APL_E_INVALID, "collations is %s, but collation_count is %zu",
                    o->collations ? "not NULL" : "NULL", o->collation_count);
    if (!o->state && o->state_size)
        return fail(err, APL_E_INVALID, "state is NULL, but state_size is %zu", o->state_size);
    if (!o->ranks.list != !o->ranks.count)
        return fail(err, APL_E_INVALID, "ranks.list is %s, but ranks.count is %u",
                    o->ranks.list ? "not NULL" : "NULL", o->ranks.count);
    if (o->ranks.list && o->ranks.rank)
        return fail(err, APL_E_INVALID, "ranks.rank is %u, but ranks.list says which ranks are served",
                    o->ranks.rank);
    if (o->ranks.rank && o->ranks.world == 0)
        return fail(err, APL_E_INVALID, "ranks.rank is %u, but ranks.world is 0: set both, or neither",
                    o->ranks.rank);
    return APL_OK;
}

apl_status asked_take(struct asked *a, const apl_reader_options *options, apl_error *err)
{
    *a = (struct asked){APL_READER_OPTIONS_INIT, APL_SAMPLING_INIT, APL_BLEND_INIT, NULL};
    TRY(options_take(&a->options, sizeof a->options, options, "apl_reader_options", err));
    TRY(options_take(&a->sampling, sizeof a->sampling, a->options.sampling, "apl_sampling", err));
    if (a->options.sampling)
        a->options.sampling = &a->sampling;
    TRY(options_take(&a->blend, sizeof a->blend, a->options.blend, "apl_blend", err));
    if (a->options.blend)
        a->options.blend = &a->blend;
    TRY(check_reserved(&a->options, err));
    TRY(check_pairs(&a->options, err));
    TRY(mix_check(&a->options, err));
    return a->options.mix.count ? take_sources(a, err) : APL_OK;
}

void asked_free(struct asked *a)
{
    free(a->sources);
    a->sources = NULL;
}
