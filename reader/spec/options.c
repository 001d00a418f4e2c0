/* What a caller asks of a reader, checked and completed. */
#include "options.h"

#include "blending.h"
#include "collation.h"
#include "field_kinds.h"
#include "following.h"
#include "mix.h"
#include "parallel.h"
#include "sampling.h"
#include "stage.h"
#include "transform.h"
#include "window.h"

#include <errno.h>
#include <stdlib.h>

#define DEFAULT_BATCH 256u
#define DEFAULT_DEPTH 4u
#define MAX_BATCH     ((size_t)1 << 24)
#define MAX_SERVED    1024u

/* ----------------------------------------------------------------------------------------------- ranks */

/* What a launcher says in two variables; world stays 0 where they are not set. A launcher that contradicts itself is an error: to read
 * everything in every process would be a silent one. */
static apl_status from_environment(const char *rank_name, const char *world_name, unsigned *rank,
                                   unsigned *world, apl_error *err)
{
    const char *r = getenv(rank_name), *w = getenv(world_name);
    char *r_end, *w_end;
    if (!r || !w || !*r || !*w)
        return APL_OK;
    errno = 0;
    unsigned long rank_value = strtoul(r, &r_end, 10), world_value = strtoul(w, &w_end, 10);
    if (errno || *r_end || *w_end || world_value == 0 || world_value > 1u << 20 || rank_value >= world_value)
        return fail(err, APL_E_INVALID, "the environment says %s=%.32s and %s=%.32s", rank_name, r,
                    world_name, w);
    *rank = (unsigned)rank_value;
    *world = (unsigned)world_value;
    return APL_OK;
}

/* How many ranks there are, and which this process is. */
static apl_status resolve_world(struct reader_options *o, const apl_ranks *asked, unsigned *rank,
                                apl_error *err)
{
    /* Slurm: the number of the step's tasks, which a batch script that runs alone does not have. */
    static const char *const launchers[][2] = {{"RANK", "WORLD_SIZE"},
                                               {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                               {"PMI_RANK", "PMI_SIZE"},
                                               {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
    *rank = asked->rank;
    o->world = asked->world;
    for (size_t i = 0; o->world == 0 && i < sizeof launchers / sizeof *launchers; i++)
        TRY(from_environment(launchers[i][0], launchers[i][1], rank, &o->world, err));
    if (o->world == 0) {
        *rank = 0;
        o->world = 1;
    }
    if (o->world > 1u << 20)
        return fail(err, APL_E_INVALID, "world is %u: at most %u", o->world, 1u << 20);
    return APL_OK;
}

static apl_status check_rank(const struct reader_options *o, unsigned i, apl_error *err)
{
    if (o->ranks[i] >= o->world)
        return fail(err, APL_E_INVALID, "rank %u of %u: ranks are 0 to %u", o->ranks[i], o->world,
                    o->world - 1);
    for (unsigned k = 0; k < i; k++)
        if (o->ranks[k] == o->ranks[i])
            return fail(err, APL_E_INVALID, "ranks.list has rank %u twice", o->ranks[i]);
    return APL_OK;
}

/* The ranks that are served: those listed, or this process's own. */
static apl_status resolve_ranks(struct reader_options *o, const apl_ranks *asked, apl_error *err)
{
    unsigned own;
    TRY(resolve_world(o, asked, &own, err));
    unsigned count = asked->list ? asked->count : 1;
    if (count > MAX_SERVED)
        return fail(err, APL_E_INVALID, "ranks.count is %u: at most %u", count, MAX_SERVED);
    o->ranks = malloc(count * sizeof *o->ranks);
    if (!o->ranks)
        return fail_nomem(err);
    o->rank_count = count;
    for (unsigned i = 0; i < count; i++) {
        o->ranks[i] = asked->list ? asked->list[i] : own;
        TRY(check_rank(o, i, err));
    }
    return APL_OK;
}

/* ---------------------------------------------------------------------------------------------- fields */

/* Which fields are wanted, if any. */
static apl_status resolve_fields(struct spec *spec, const apl_reader_options *asked, apl_error *err)
{
    struct reader_options *o = &spec->options;
    for (unsigned f = 0; f < spec->schema->count; f++)
        o->wanted[f] = !asked->fields;
    for (size_t i = 0; asked->fields && i < asked->field_count; i++) {
        unsigned f;
        TRY(store_find_field(spec->store, asked->fields[i], &f, err));
        o->wanted[f] = true;
    }
    bool any = false;
    for (unsigned f = 0; f < spec->schema->count; f++) {
        any |= o->wanted[f];
        spec->options.ragged |= o->wanted[f] && field_varying(&spec->schema->fields[f]) > 0;
    }
    spec->options.ids_only = !any;
    return mix_match_fields(spec, asked, err);
}

/* Bytes cannot hold what is normalised: a caller that took them for floats would read past the batch. */
static apl_status check_normalised(const apl_field *f, const apl_transform *t, apl_error *err)
{
    if (t->scale == APL_SCALE_NORMALISE && t->dtype == APL_U8)
        return fail(err, APL_E_INVALID, "field %s: u8 cannot be normalised: set dtype to f32, f16 or bf16",
                    f->name);
    return APL_OK;
}

static apl_status resolve_transforms(struct spec *spec, const apl_reader_options *asked, apl_error *err)
{
    struct reader_options *o = &spec->options;
    for (size_t i = 0; i < asked->transform_count; i++) {
        apl_transform t;
        unsigned field = 0;
        TRY(transform_take(&t, asked->transforms, i, err));
        TRY(transform_geometry(spec->schema, o->wanted, &t, &field, err));
        TRY(check_normalised(&spec->schema->fields[field], &t, err));
        TRY(transform_moments(&spec->subset, &spec->schema->fields[field], &t, err));
        if (o->transforms[field].size)
            return fail(err, APL_E_INVALID, "field %s: two transforms", spec->schema->fields[field].name);
        o->transforms[field] = t;
    }
    return following_resolve(spec, err);
}

/* ------------------------------------------------------------------------------------------- sampling */

static apl_status check_sampled(const struct spec *spec, const apl_reader_options *asked,
                                const apl_sampling *sampling, const double *weights, apl_error *err)
{
    const struct reader_options *o = &spec->options;
    if (asked->reuse > 1)
        return fail(err, APL_E_INVALID,
                    "sampling and reuse exclude each other: ask for more records an epoch");
    if (asked->sequential)
        return fail(err, APL_E_INVALID, "sampling and sequential exclude each other");
    if (o->pack.row && !weights)
        return fail(err, APL_E_INVALID, "what is packed is sampled only by weights of the stores of a mix");
    if (o->windows.length && (sampling->field || sampling->weights || sampling->weight_field))
        return fail(
            err, APL_E_INVALID,
            "windows are sampled alike, or by weights of the stores of a mix, not of classes or records");
    return APL_OK;
}

/* Where values are packed, stores have shares of the tokens. */
static apl_status open_sample(struct spec *spec, const apl_reader_options *asked,
                              const apl_sampling *sampling, const double *weights, apl_error *err)
{
    struct reader_options *o = &spec->options;
    if (!o->pack.row)
        return sampling_open(&spec->subset, sampling, weights, asked->seed, &o->plan.sampler, err);
    struct token_rule rule = {
        .lengths = o->pack.lengths, .weights = weights, .by_tokens = asked->mix.by_tokens != 0};
    return sampling_open_shares(&spec->subset, sampling, &rule, asked->seed, &o->plan.sampler,
                                &o->pack.tokens, err);
}

static apl_status resolve_sampling(struct spec *spec, const apl_reader_options *asked, apl_error *err)
{
    static const apl_sampling plain = APL_SAMPLING_INIT;
    const apl_sampling *sampling = asked->sampling ? asked->sampling : &plain;
    double *weights = NULL;
    TRY(mix_weights(spec, asked, &weights, err));
    if (!asked->sampling && !weights)
        return APL_OK;
    apl_status status = check_sampled(spec, asked, sampling, weights, err);
    if (status == APL_OK)
        status = open_sample(spec, asked, sampling, weights, err);
    free(weights);
    TRY(status);
    spec->options.plan.reuse = sampler_radix(&spec->subset);
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------- the whole */

static apl_status resolve_threads(struct reader_options *o, const apl_reader_options *asked, apl_error *err)
{
    unsigned all = cores();
    if ((asked->loaders == 0) != (asked->consumers == 0))
        return fail(err, APL_E_INVALID, "loaders and consumers: both or none");
    o->loaders = asked->loaders;
    o->consumers = asked->consumers;
    o->threads = asked->threads == APL_NO_THREADS ? 0
                 : asked->threads                 ? asked->threads
                 : all > 1                        ? all - 1
                                                  : 1;
    if (asked->loaders)
        o->threads = 0;
    if (o->threads > MAX_THREADS || o->loaders > MAX_THREADS || o->consumers > MAX_THREADS)
        return fail(err, APL_E_INVALID, "more than %u threads", MAX_THREADS);
    o->queue_depth = asked->queue_depth ? asked->queue_depth : DEFAULT_DEPTH;
    if (o->queue_depth > 1u << 16)
        return fail(err, APL_E_INVALID, "queue_depth %u", o->queue_depth);
    unsigned most = o->threads + o->loaders + o->consumers;
    o->plan.helpers = most ? most - 1 : 0;
    return APL_OK;
}

static apl_status check_numbers(const apl_reader_options *asked, apl_error *err)
{
    if (asked->batch_size > MAX_BATCH)
        return fail(err, APL_E_INVALID, "batch_size %zu: at most %zu", asked->batch_size, MAX_BATCH);
    if (asked->bins > PLAN_MAX_BINS)
        return fail(err, APL_E_INVALID, "%u bins: at most %u", asked->bins, PLAN_MAX_BINS);
    if (asked->reuse > UINT16_MAX)
        return fail(err, APL_E_INVALID, "reuse %u", asked->reuse);
    if ((unsigned)asked->order > APL_FREE)
        return fail(err, APL_E_INVALID, "order is %u: APL_STRICT (0) or APL_FREE (1)",
                    (unsigned)asked->order);
    if (asked->sequential && asked->order == APL_FREE)
        return fail(err, APL_E_INVALID, "sequential and free order exclude each other");
    if (asked->fill && asked->order != APL_FREE)
        return fail(err, APL_E_INVALID, "fill is for free order: strict order has no need of it");
    if (asked->late && (asked->order != APL_FREE || asked->fill))
        return fail(err, APL_E_INVALID,
                    "late is for free order, and not with fill, which leaves no block behind");
    if (asked->allocator && (!asked->allocator->allocate || !asked->allocator->deallocate))
        return fail(err, APL_E_INVALID, "an allocator without functions");
    return APL_OK;
}

apl_status options_resolve(struct spec *spec, const apl_reader_options *asked, apl_error *err)
{
    struct reader_options *o = &spec->options;
    TRY(check_numbers(asked, err));
    TRY(kinds_open(spec, asked->kinds, asked->kind_count, err));
    TRY(mix_open(spec, asked, err));
    TRY(stage_resolve(spec, asked, err));
    o->plan = (struct plan_options){.seed = asked->seed,
                                    .bins = asked->bins,
                                    .reuse = asked->reuse ? asked->reuse : 1,
                                    .lanes = asked->ranks.lanes ? asked->ranks.lanes : 1,
                                    .sequential = asked->sequential,
                                    .arriving = asked->order == APL_FREE};
    o->batch_size = asked->batch_size ? asked->batch_size : DEFAULT_BATCH;
    o->drop_last = asked->drop_last;
    o->free_order = asked->order == APL_FREE;
    o->asked_bins = asked->bins;
    o->fill = asked->fill;
    o->late = asked->fill ? 0 : asked->late ? asked->late : UINT32_MAX;
    o->first_epoch = asked->first_epoch;
    o->skip_corrupt = asked->faults.skip_corrupt;
    o->timeout_ms = asked->faults.timeout_ms;
    o->on_batch = asked->on_batch;
    o->on_batch_user = asked->on_batch_user;
    TRY(resolve_ranks(o, &asked->ranks, err));
    TRY(resolve_threads(o, asked, err));
    TRY(resolve_fields(spec, asked, err));
    TRY(resolve_transforms(spec, asked, err));
    TRY(collation_resolve(spec, asked, err));
    TRY(following_check(spec, err));
    TRY(blending_resolve(spec, asked->blend, err));
    TRY(collation_open(spec, asked, err));
    TRY(resolve_sampling(spec, asked, err));
    if (o->free_order && o->world > 1)
        return fail(err, APL_E_UNSUPPORTED,
                    "free order is for one rank: ranks share an order only if it is strict");
    TRY(collation_finish(spec, err));
    TRY(window_check_lanes(spec, asked, err));
    return window_resolve(spec, asked, err);
}
