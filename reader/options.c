/* What a caller asks of a reader, checked and completed. */
#include "options.h"

#include "collation.h"
#include "images.h"
#include "late.h"
#include "mix.h"
#include "packing.h"
#include "photos.h"
#include "sampling.h"
#include "transform.h"

#include <errno.h>
#include <stdlib.h>

#define DEFAULT_BATCH  256u
#define DEFAULT_BINS   64u
#define DEFAULT_DEPTH  4u
#define DEFAULT_WINDOW ((uint64_t)4 << 30) /* bytes */
#define MAX_BATCH      ((size_t)1 << 24)
/* Batches that may be lent at once under the default budget, beyond those at work: as many as fit into so many bytes. */
#define LEAST_SPARE 12u
#define MOST_SPARE  256u
#define SPARE_BYTES ((uint64_t)64 << 20)

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

static apl_status resolve_rank(struct reader_options *o, const apl_reader_options *asked, apl_error *err)
{
    /* Slurm: the number of the step's tasks, which a batch script that runs alone does not have. */
    static const char *const launchers[][2] = {{"RANK", "WORLD_SIZE"},
                                               {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                               {"PMI_RANK", "PMI_SIZE"},
                                               {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
    o->rank = asked->ranks.rank;
    o->world = asked->ranks.world;
    for (size_t i = 0; o->world == 0 && i < sizeof launchers / sizeof *launchers; i++)
        TRY(from_environment(launchers[i][0], launchers[i][1], &o->rank, &o->world, err));
    if (o->world == 0) {
        o->rank = 0;
        o->world = 1;
    }
    if (o->world > 1u << 20)
        return fail(err, APL_E_INVALID, "world is %u: at most %u", o->world, 1u << 20);
    if (o->rank >= o->world)
        return fail(err, APL_E_INVALID, "rank %u of %u: ranks are 0 to %u", o->rank, o->world, o->world - 1);
    return APL_OK;
}

/* ---------------------------------------------------------------------------------------------- fields */

/* Which fields are wanted; that may be none. */
static apl_status resolve_fields(apl_reader *r, const apl_reader_options *asked, apl_error *err)
{
    struct reader_options *o = &r->options;
    for (unsigned f = 0; f < r->schema->count; f++)
        o->wanted[f] = !asked->fields;
    for (size_t i = 0; asked->fields && i < asked->field_count; i++) {
        unsigned f;
        TRY(store_find_field(r->store, asked->fields[i], &f, err));
        o->wanted[f] = true;
    }
    bool any = false;
    for (unsigned f = 0; f < r->schema->count; f++) {
        any |= o->wanted[f];
        r->options.ragged |= o->wanted[f] && field_varying(&r->schema->fields[f]) > 0;
    }
    r->options.ids_only = !any;
    return mix_match_fields(r, asked, err);
}

/* Bytes cannot hold what is normalised: a caller that took them for floats would read past the batch. */
static apl_status check_normalised(const apl_field *f, const apl_transform *t, apl_error *err)
{
    if (t->scale == APL_SCALE_NORMALISE && t->dtype == APL_U8)
        return fail(err, APL_E_INVALID, "field %s: u8 cannot be normalised: set dtype to f32, f16 or bf16",
                    f->name);
    return APL_OK;
}

static apl_status resolve_transforms(apl_reader *r, const apl_reader_options *asked, apl_error *err)
{
    struct reader_options *o = &r->options;
    for (size_t i = 0; i < asked->transform_count; i++) {
        apl_transform t;
        unsigned field = 0;
        TRY(transform_take(&t, asked->transforms, i, err));
        TRY(transform_geometry(r->store, o->wanted, &t, &field, err));
        TRY(check_normalised(&r->schema->fields[field], &t, err));
        TRY(transform_moments(&r->subset, &r->schema->fields[field], &t, err));
        if (o->transforms[field].size)
            return fail(err, APL_E_INVALID, "field %s: two transforms", r->schema->fields[field].name);
        o->transforms[field] = t;
    }
    return APL_OK;
}

bool options_assembly(const apl_reader *r, unsigned field, struct assembly *a)
{
    const apl_transform *t = &r->options.transforms[field];
    const apl_field *f = &r->schema->fields[field];
    if (t->size == 0)
        return false;
    struct image_shape shape = image_shape(f);
    bool photo = photos_makes(f, t); /* what was cropped already is assembled */
    *a = (struct assembly){.channels = t->grey_plane ? 1 : shape.channels,
                           .height = photo ? t->crop_height : shape.height,
                           .width = photo ? t->crop_width : shape.width,
                           .pad = photo ? 0 : t->pad,
                           .pad_mode = t->pad_mode,
                           .out_height = t->crop_height,
                           .out_width = t->crop_width,
                           .cutout = t->cutout,
                           .dtype = t->dtype,
                           .layout = t->layout};
    for (unsigned c = 0; c < a->channels; c++) {
        a->scale[c] = t->scale == APL_SCALE_UNIT        ? 1.0f / 255.0f
                      : t->scale == APL_SCALE_NORMALISE ? 1.0f / t->deviation[c]
                                                        : 1.0f;
        a->bias[c] = t->scale == APL_SCALE_NORMALISE ? -t->mean[c] / t->deviation[c] : 0.0f;
    }
    return true;
}

void options_slot_bytes(const apl_reader *r, size_t *bytes)
{
    for (unsigned f = 0; f < r->schema->count; f++)
        bytes[f] = r->options.wanted[f] ? r->schema->fields[f].value_bytes : 0;
}

void options_row_bytes(const apl_reader *r, size_t *bytes)
{
    options_slot_bytes(r, bytes);
    for (unsigned f = 0; f < r->schema->count; f++) {
        struct assembly a;
        if (options_assembly(r, f, &a))
            bytes[f] = assemble_bytes(&a);
    }
    collation_row_bytes(r, bytes);
}

/* ----------------------------------------------------------------------------------- window and budget */

static uint32_t largest_block(const apl_reader *r)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < r->subset.blocks; i++)
        most = r->subset.block[i].count > most ? r->subset.block[i].count : most;
    return most;
}

/* Bytes that a value of a field of varying shape takes up in the window, on average. */
static uint64_t standing_bytes(const apl_reader *r, unsigned f)
{
    uint64_t loaded = mix_average_bytes(r, f, false), listed = late_is_any(r, f) ? LATE_BYTES : 0;
    return loaded > listed ? loaded : listed;
}

/* Bytes that values which are read late take up in a batch, on average; those of images that are decoded there, none. */
static uint64_t late_row_bytes(const apl_reader *r)
{
    uint64_t bytes = 0;
    for (unsigned f = 0; f < r->schema->count; f++)
        if (r->options.wanted[f] && r->options.transforms[f].size == 0)
            bytes += mix_average_bytes(r, f, true);
    return bytes;
}

static uint64_t buffer_bytes(const apl_reader *r)
{
    size_t row[POOL_MAX_COLUMNS];
    options_row_bytes(r, row);
    return pool_buffer_bytes(r->options.batch_size, collation_columns(r), row) +
           (r->options.pack.row ? pool_piece_bytes(r->options.batch_size, options_most(&r->options)) : 0) +
           r->options.batch_size * late_row_bytes(r);
}

/* Bytes that a record takes up decoded; of fields of varying shape, on average. Where no field is wanted, of
 * all: then the window, and with it the order, is the one of a reader of all. */
static uint64_t record_bytes(const apl_reader *r)
{
    uint64_t bytes = 0;
    for (unsigned f = 0; f < r->schema->count; f++) {
        const apl_field *field = &r->schema->fields[f];
        if (r->options.wanted[f] || r->options.ids_only)
            bytes += field->value_bytes ? field->value_bytes : standing_bytes(r, f);
    }
    return bytes ? bytes : 1;
}

/* Deliveries that a place in the window stands for. */
static unsigned place_deliveries(const struct reader_options *o)
{
    return o->plan.sampler ? 1 : o->plan.reuse;
}

uint64_t options_slots(const apl_reader *r, uint64_t window)
{
    const struct reader_options *o = &r->options;
    if (window >= r->subset.records)
        return r->subset.records;
    /* A record of which one copy is left stands in a slot like any other, and counts for one part of `reuse` in
     * the window. Beyond that, room for what has been drawn and not yet been copied, so that loading can run
     * ahead. */
    uint64_t planned = o->pack.row ? 2 * o->pack.most_of_all : (uint64_t)o->queue_depth * o->batch_size;
    uint64_t slots = window * place_deliveries(o) + planned + 2 * (uint64_t)largest_block(r);
    return slots < r->subset.records ? slots : r->subset.records;
}

static uint64_t needed_bytes(const apl_reader *r, uint64_t window, unsigned buffers)
{
    size_t slot[APL_MAX_FIELDS];
    struct plan_options plan = r->options.plan;
    plan.window = window;
    options_slot_bytes(r, slot);
    uint64_t varying = 0, slots = options_slots(r, window);
    uint64_t deliveries =
        r->options.plan.sampler ? sampler_records(r->options.plan.sampler) : r->subset.records * plan.reuse;
    for (unsigned f = 0; f < r->schema->count; f++)
        if (r->options.wanted[f] && slot[f] == 0)
            varying += slots * (standing_bytes(r, f) + 8);
    return slab_bytes((uint32_t)slots, r->schema->count, slot) + varying + packing_bytes(r) +
           plan_bytes(&plan, &r->subset) + buffers * buffer_bytes(r) +
           (uint64_t)r->subset.blocks * 2 * (sizeof(struct cached_block) + sizeof(uint32_t)) + deliveries / 8;
}

static unsigned spare_buffers(const apl_reader *r)
{
    uint64_t fit = SPARE_BYTES / buffer_bytes(r);
    return fit < LEAST_SPARE ? LEAST_SPARE : fit > MOST_SPARE ? MOST_SPARE : (unsigned)fit;
}

static apl_status check_lanes(const apl_reader *r, const apl_reader_options *asked, apl_error *err)
{
    const struct reader_options *o = &r->options;
    if (o->plan.lanes == 1)
        return APL_OK;
    if (o->free_order || asked->sequential)
        return fail(err, APL_E_INVALID, "lanes are for strict order");
    if (o->plan.lanes % o->world != 0 || o->plan.lanes > UINT16_MAX || o->plan.lanes > r->subset.blocks)
        return fail(err, APL_E_INVALID,
                    "%u lanes: not a multiple of world, which is %u, or more than the %u blocks of the split",
                    o->plan.lanes, o->world, r->subset.blocks);
    return APL_OK;
}

/* Slots for decoded blocks that stay for the next epoch, out of what the budget leaves over. */
static uint32_t spare_slots(const apl_reader *r, uint64_t needed)
{
    const struct reader_options *o = &r->options;
    size_t slot[APL_MAX_FIELDS];
    if (o->covers || r->options.plan.sampler || r->options.ragged || r->options.ids_only ||
        o->plan.lanes > 1 || o->budget <= needed)
        return 0;
    options_slot_bytes(r, slot);
    uint64_t base = slab_bytes(0, r->schema->count, slot),
             one = (slab_bytes(1u << 20, r->schema->count, slot) >> 20) + 1;
    uint64_t left = o->budget - needed, fit = left > base ? (left - base) / one : 0;
    return (uint32_t)(fit < r->subset.records ? fit : r->subset.records);
}

static apl_status resolve_window(apl_reader *r, const apl_reader_options *asked, apl_error *err)
{
    struct reader_options *o = &r->options;
    uint64_t records = r->subset.records, fit = DEFAULT_WINDOW / record_bytes(r);
    uint32_t largest = largest_block(r);
    uint64_t least = (uint64_t)largest * o->plan.lanes, most = fit / place_deliveries(o);
    uint64_t window = asked->window ? asked->window : records <= fit ? records : most > least ? most : least;
    window = window < records ? window : records;
    if (window < records && window / o->plan.lanes < largest)
        return fail(err, APL_E_INVALID,
                    "a window of %llu records: a lane's share is less than a block, which has %u",
                    (unsigned long long)window, largest);
    if (window >= UINT32_MAX / place_deliveries(o))
        return fail(err, APL_E_UNSUPPORTED, "a window of more than 2^32 deliveries");
    o->plan.window = window;
    o->covers = window == records;
    if (o->fill && !o->covers)
        return fail(err, APL_E_INVALID,
                    "fill: a window of %llu records does not cover the split, which has %llu",
                    (unsigned long long)window, (unsigned long long)records);
    unsigned buffers = o->queue_depth + (o->consumers ? o->consumers : 1), spare = spare_buffers(r);
    uint64_t needed = needed_bytes(r, window, buffers);
    o->budget = asked->memory_budget ? asked->memory_budget : needed_bytes(r, window, buffers + spare);
    if (o->budget >= needed) {
        o->spare_slots = spare_slots(r, needed_bytes(r, window, buffers + spare));
        return APL_OK;
    }
    uint64_t low = 0, high = window; /* needed_bytes() grows with the window */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (needed_bytes(r, middle, buffers) <= o->budget)
            low = middle;
        else
            high = middle;
    }
    if (low < (uint64_t)largest * o->plan.lanes)
        return fail(err, APL_E_INVALID,
                    "memory_budget: %llu bytes are too few for any window; one of %u records needs %llu",
                    (unsigned long long)o->budget, largest * o->plan.lanes,
                    (unsigned long long)needed_bytes(r, (uint64_t)largest * o->plan.lanes, buffers));
    return fail(err, APL_E_INVALID,
                "memory_budget: a window of %llu records needs %llu bytes; %llu are enough for one of %llu",
                (unsigned long long)window, (unsigned long long)needed, (unsigned long long)o->budget,
                (unsigned long long)low);
}

/* ------------------------------------------------------------------------------------------- sampling */

static apl_status resolve_sampling(apl_reader *r, const apl_reader_options *asked, apl_error *err)
{
    static const apl_sampling plain = APL_SAMPLING_INIT;
    const apl_sampling *sampling = asked->sampling ? asked->sampling : &plain;
    double *weights = NULL;
    TRY(mix_weights(r, asked, &weights, err));
    if (!asked->sampling && !weights)
        return APL_OK;
    apl_status status = APL_OK;
    if (asked->reuse > 1)
        status =
            fail(err, APL_E_INVALID, "sampling and reuse exclude each other: ask for more records an epoch");
    else if (asked->sequential)
        status = fail(err, APL_E_INVALID, "sampling and sequential exclude each other");
    else
        status = sampling_open(&r->subset, sampling, weights, asked->seed, &r->options.plan.sampler, err);
    free(weights);
    TRY(status);
    r->options.plan.reuse = sampler_radix(&r->subset);
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
    if (asked->allocator && (!asked->allocator->allocate || !asked->allocator->deallocate))
        return fail(err, APL_E_INVALID, "an allocator without functions");
    return APL_OK;
}

apl_status options_resolve(apl_reader *r, const apl_reader_options *asked, apl_error *err)
{
    struct reader_options *o = &r->options;
    TRY(check_numbers(asked, err));
    TRY(mix_open(r, asked, err));
    o->plan = (struct plan_options){.seed = asked->seed,
                                    .bins = asked->bins ? asked->bins : DEFAULT_BINS,
                                    .reuse = asked->reuse ? asked->reuse : 1,
                                    .lanes = asked->ranks.lanes ? asked->ranks.lanes : 1,
                                    .sequential = asked->sequential};
    o->batch_size = asked->batch_size ? asked->batch_size : DEFAULT_BATCH;
    o->drop_last = asked->drop_last;
    o->free_order = asked->order == APL_FREE;
    o->fill = asked->fill;
    o->first_epoch = asked->first_epoch;
    o->skip_corrupt = asked->faults.skip_corrupt;
    o->timeout_ms = asked->faults.timeout_ms;
    o->on_batch = asked->on_batch;
    o->on_batch_user = asked->on_batch_user;
    TRY(resolve_rank(o, asked, err));
    TRY(resolve_threads(o, asked, err));
    TRY(resolve_fields(r, asked, err));
    TRY(resolve_transforms(r, asked, err));
    TRY(collation_resolve(r, asked, err));
    TRY(resolve_sampling(r, asked, err));
    if (o->free_order && o->world > 1)
        return fail(err, APL_E_UNSUPPORTED,
                    "free order is for one rank: ranks share an order only if it is strict");
    TRY(check_lanes(r, asked, err));
    TRY(collation_finish(r, asked, err));
    return resolve_window(r, asked, err);
}
