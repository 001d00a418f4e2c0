/* The window that fits into memory: see window.h. */
#include "window.h"

#include "buckets.h"
#include "cached_block.h"
#include "collation.h"
#include "expansion.h"
#include "late_fields.h"
#include "mix.h"
#include "packing.h"
#include "sizes.h"
#include "token_windows.h"

#define DEFAULT_WINDOW ((uint64_t)4 << 30) /* bytes */
/* Batches that may be lent at once under the default budget, beyond those at work: as many as fit into this many bytes. */
#define LEAST_SPARE 12u
#define MOST_SPARE  256u
#define SPARE_BYTES ((uint64_t)64 << 20)

static uint32_t largest_block(const struct spec *spec)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < spec->subset.blocks; i++)
        most = spec->subset.block[i].count > most ? spec->subset.block[i].count : most;
    return most;
}

/* Bytes that a value of a field of varying shape takes up in the window, on average. */
static uint64_t standing_bytes(const struct spec *spec, unsigned f)
{
    if (spec->options.windows.length)
        return windows_standing_bytes(spec, f);
    uint64_t loaded = mix_average_bytes(spec, f, false), listed = late_is_any(spec, f) ? late_bytes(spec) : 0;
    return loaded > listed ? loaded : listed;
}

/* Bytes that values of varying shape take up in a row of a batch, on average; those of images that are decoded there, none. Rows that
 * are padded to the longest are taken for twice the average. */
static uint64_t varying_row_bytes(const struct spec *spec, const size_t *row)
{
    const struct reader_options *o = &spec->options;
    uint64_t bytes = 0;
    for (unsigned f = 0; f < spec->schema->count && !o->stages; f++) {
        if (!o->wanted[f] || o->transforms[f].size)
            continue;
        uint64_t late = late_is_any(spec, f) ? mix_average_bytes(spec, f, true) : 0,
                 loaded = row[f] ? 0 : mix_average_bytes(spec, f, false);
        bytes += (late > loaded ? late : loaded) << (o->collations[f].how == APL_COLLATE_PAD);
    }
    return bytes;
}

static uint64_t buffer_bytes(const struct spec *spec)
{
    size_t row[POOL_MAX_COLUMNS];
    sizes_of_row(spec, row);
    return pool_buffer_bytes(spec->options.batch_size, collation_columns(spec), row) +
           pool_piece_bytes(options_pieces(&spec->options),
                            spec->options.pack.row ? options_most(&spec->options) : 0) +
           spec->options.batch_size * varying_row_bytes(spec, row);
}

/* Bytes that a record takes up decoded, with all its fields, also those that are not read: the window, and with it the order, is the same
 * whatever is read. Of fields of varying shape, on average; of windows, which are made of these alone, a window's share. */
static uint64_t record_bytes(const struct spec *spec)
{
    uint64_t bytes = 0;
    for (unsigned f = 0; f < spec->schema->count; f++) {
        const apl_field *field = &spec->schema->fields[f];
        if (!field->value_bytes)
            bytes += standing_bytes(spec, f);
        else if (!spec->options.windows.length)
            bytes += field->value_bytes;
    }
    return bytes ? bytes : 1;
}

/* Deliveries that a place in the window stands for. */
static unsigned place_deliveries(const struct reader_options *o)
{
    return o->plan.sampler ? 1 : o->plan.reuse;
}

uint64_t window_slots(const struct spec *spec, uint64_t window)
{
    const struct reader_options *o = &spec->options;
    if (window >= spec->subset.records)
        return spec->subset.records;
    /* A record of which one copy is left stands in a slot like any other, and counts for one part of `reuse` in
     * the window. Beyond that, room for what has been drawn and not yet been copied, so that loading can run
     * ahead. */
    uint64_t planned = o->pack.row
                           ? 2 * o->pack.most_of_all
                           : (uint64_t)o->queue_depth * o->batch_size * o->rank_count + o->bucket.pool;
    uint64_t slots = window * place_deliveries(o) + planned + 2 * (uint64_t)largest_block(spec);
    return slots < spec->subset.records ? slots : spec->subset.records;
}

uint64_t window_varying_bytes(const struct spec *spec, uint64_t window)
{
    uint64_t slots = window_slots(spec, window), chosen = spec->subset.records, loaded = 0, bytes = 0;
    size_t slot[APL_MAX_FIELDS];
    sizes_of_slot(spec, slot);
    for (uint32_t i = 0; i < spec->subset.blocks; i++)
        loaded += spec->subset.block[i].records;
    for (unsigned f = 0; f < spec->schema->count && !spec->options.stages; f++)
        if (spec->options.wanted[f] && slot[f] == 0)
            bytes += standing_bytes(spec, f) + 8;
    return bytes * (chosen ? slots * (loaded / chosen) + slots * (loaded % chosen) / chosen : 0);
}

static uint64_t needed_bytes(const struct spec *spec, uint64_t window, unsigned buffers)
{
    size_t slot[APL_MAX_FIELDS];
    struct plan_options plan = spec->options.plan;
    plan.window = window;
    plan.bins = spec->options.asked_bins;
    sizes_of_slot(spec, slot);
    uint64_t slots = window_slots(spec, window);
    uint64_t deliveries = spec->options.plan.sampler ? sampler_records(spec->options.plan.sampler)
                                                     : spec->subset.records * plan.reuse;
    return slab_bytes((uint32_t)slots, spec->schema->count, slot) + window_varying_bytes(spec, window) +
           packing_bytes(spec) + windows_bytes(spec) + buckets_bytes(spec) +
           plan_bytes(&plan, &spec->subset) +
           (uint64_t)buffers * spec->options.rank_count * buffer_bytes(spec) +
           (uint64_t)spec->subset.blocks * 2 * (sizeof(struct cached_block) + sizeof(uint32_t)) +
           deliveries / 8 * spec->options.rank_count;
}

static unsigned spare_buffers(const struct spec *spec)
{
    uint64_t fit = SPARE_BYTES / buffer_bytes(spec) / spec->options.rank_count;
    return fit < LEAST_SPARE ? LEAST_SPARE : fit > MOST_SPARE ? MOST_SPARE : (unsigned)fit;
}

apl_status window_check_lanes(const struct spec *spec, const apl_reader_options *asked, apl_error *err)
{
    const struct reader_options *o = &spec->options;
    if (o->plan.lanes == 1)
        return APL_OK;
    if (o->free_order || asked->sequential)
        return fail(err, APL_E_INVALID, "lanes are for strict order");
    if (o->plan.lanes > UINT16_MAX || o->plan.lanes > spec->subset.blocks)
        return fail(err, APL_E_INVALID, "%u lanes: at most %u, and no more than the %s of the split",
                    o->plan.lanes, UINT16_MAX, number_of(spec->subset.blocks, "block", "blocks"));
    return APL_OK;
}

/* Slots for decoded blocks that stay for the next epoch, out of what the budget leaves over. */
static uint32_t spare_slots(const struct spec *spec, uint64_t needed)
{
    const struct reader_options *o = &spec->options;
    size_t slot[APL_MAX_FIELDS];
    if (o->covers || spec->options.plan.sampler || spec->options.ragged || o->ids_only || o->stages ||
        o->plan.lanes > 1 || o->budget <= needed)
        return 0;
    sizes_of_slot(spec, slot);
    uint64_t base = slab_bytes(0, spec->schema->count, slot),
             one = (slab_bytes(1u << 20, spec->schema->count, slot) >> 20) + 1;
    uint64_t left = o->budget - needed, fit = left > base ? (left - base) / one : 0;
    return (uint32_t)(fit < spec->subset.records ? fit : spec->subset.records);
}

apl_status window_check_standing(const struct spec *spec, uint64_t standing, apl_error *err)
{
    uint64_t stored = 0;
    for (uint32_t i = 0; i < spec->sources.count; i++)
        stored += spec->sources.source[i].store->manifest.info.file_bytes;
    apl_status status = expansion_check_standing(spec->options.expansion, stored, standing,
                                                 "so does a memory_budget; a smaller window takes less", err);
    return status == APL_OK ? APL_OK : fail_in(err, status, "%s", spec->store->name);
}

/* Without a budget of the caller's it is the files that say how much memory is taken. */
static apl_status bound_standing(struct spec *spec, const apl_reader_options *asked, apl_error *err)
{
    size_t slot[APL_MAX_FIELDS];
    uint64_t window = spec->options.plan.window;
    if (!asked->memory_budget)
        TRY(expansion_allowed(&spec->options.expansion, err));
    sizes_of_slot(spec, slot);
    return window_check_standing(spec,
                                 slab_bytes((uint32_t)window_slots(spec, window), spec->schema->count, slot) +
                                     window_varying_bytes(spec, window),
                                 err);
}

/* The budget has no room for the window: the largest that it has room for is named. */
static apl_status refuse_budget(const struct spec *spec, uint64_t needed, unsigned buffers, apl_error *err)
{
    const struct reader_options *o = &spec->options;
    uint64_t least = (uint64_t)largest_block(spec) * o->plan.lanes, low = 0, high = o->plan.window;
    while (high - low > 1) { /* needed_bytes() grows with the window */
        uint64_t middle = low + (high - low) / 2;
        if (needed_bytes(spec, middle, buffers) <= o->budget)
            low = middle;
        else
            high = middle;
    }
    if (low < least)
        return fail(err, APL_E_INVALID,
                    "memory_budget: %llu bytes are too few for any window; one of %s needs %llu",
                    (unsigned long long)o->budget, number_of(least, "record", "records"),
                    (unsigned long long)needed_bytes(spec, least, buffers));
    return fail(err, APL_E_INVALID,
                "memory_budget: a window of %s needs %llu bytes; %llu are enough for one of %llu",
                number_of(o->plan.window, "record", "records"), (unsigned long long)needed,
                (unsigned long long)o->budget, (unsigned long long)low);
}

apl_status window_resolve(struct spec *spec, const apl_reader_options *asked, apl_error *err)
{
    struct reader_options *o = &spec->options;
    uint64_t records = spec->subset.records, fit = DEFAULT_WINDOW / record_bytes(spec);
    uint32_t largest = largest_block(spec);
    uint64_t least = (uint64_t)largest * o->plan.lanes, most = fit / place_deliveries(o);
    uint64_t window = asked->window ? asked->window : records <= fit ? records : most > least ? most : least;
    window = window < records ? window : records;
    if (window < records && window / o->plan.lanes < largest)
        return fail(err, APL_E_INVALID, "a window of %s: a lane's share is less than a block, which has %u",
                    number_of(window, "record", "records"), largest);
    if (window >= UINT32_MAX / place_deliveries(o))
        return fail(err, APL_E_UNSUPPORTED, "a window of more than 2^32 deliveries");
    o->plan.window = window;
    o->plan.bins = plan_shape(&o->plan, &spec->subset).bins;
    o->covers = window == records;
    if (o->fill && !o->covers)
        return fail(err, APL_E_INVALID, "fill: a window of %s does not cover the split, which has %llu",
                    number_of(window, "record", "records"), (unsigned long long)records);
    unsigned buffers = options_buffers(o), spare = spare_buffers(spec);
    uint64_t needed = needed_bytes(spec, window, buffers);
    /* The sizes of packed rows, and of windows, are known. */
    o->bounded = asked->memory_budget && o->ragged && !o->stages && !o->pack.row && !o->windows.length;
    o->budget = asked->memory_budget ? asked->memory_budget : needed_bytes(spec, window, buffers + spare);
    TRY(bound_standing(spec, asked, err));
    if (o->budget >= needed) {
        o->spare_slots = spare_slots(spec, needed_bytes(spec, window, buffers + spare));
        return APL_OK;
    }
    return refuse_budget(spec, needed, buffers, err);
}
