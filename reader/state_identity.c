/*
 * What shapes the order, as states have it: one hash of all of it, and one byte of the hash of each part, which tell what
 * differs. Not batch size, threads, budget, world, fields or transforms.
 */
#include "field_kinds.h"
#include "hash.h"
#include "mix.h"
#include "state.h"

#include <stdio.h>

#define LIST 160

/* In the order of their bytes. */
enum part { SPLITS, FREE, SEQUENTIAL, WINDOW, OTHERS, SAMPLING, COLLATION, BLOCKS, PARTS };

static const char *const names[PARTS] = {
    "split", "order", "shuffling", "window", "bins, lanes or reuse", "sampling", "collation", "ids",
};

/* With the zero behind it. */
static void identify_text(struct buffer *b, const char *text)
{
    buffer_put(b, text, strlen(text) + 1);
}

static void identify_collation(const apl_reader *r, struct buffer *b)
{
    const struct reader_options *o = &r->spec.options;
    if (o->pack.row) { /* positions count tokens of this field */
        identify_text(b, "packed");
        identify_text(b, r->spec.schema->fields[o->pack.field].name);
    }
    if (o->bucket.batches) {
        identify_text(b, "buckets");
        identify_text(b, r->spec.schema->fields[o->bucket.field].name);
        buffer_le(b, o->bucket.batches, 8);
        buffer_le(b, options_global_batch(o), 8);
    }
    if (o->windows.length) {
        identify_text(b, "windows");
        identify_text(b, r->spec.schema->fields[o->windows.field].name);
        buffer_le(b, o->windows.length, 8);
        buffer_le(b, o->windows.stride, 8);
        buffer_le(b, o->windows.join, 1);
    }
}

static void identify_sampling(const struct sampler *sampler, struct buffer *b)
{
    if (!sampler)
        return;
    struct hash128 sample = sampler_digest(sampler);
    buffer_le(b, sample.low, 8);
    buffer_le(b, sample.high, 8);
}

/* Which records, wherever their blocks begin: the ids of each run of them. */
static void identify_records(const struct subset *s, struct buffer *b)
{
    uint64_t from = 0, to = 0; /* the run that has begun */
    for (uint32_t i = 0; i < s->blocks; i++) {
        const struct subset_block *block = &s->block[i];
        for (uint32_t k = 0, some = 1; k < block->count; k += some) {
            uint64_t id = block->first_id + (block->chosen ? block->chosen[k] : k);
            some = block->chosen ? 1 : block->count;
            if (id != to) {
                buffer_le(b, from, 8);
                buffer_le(b, to, 8);
                from = id;
            }
            to = id + some;
        }
    }
    buffer_le(b, from, 8);
    buffer_le(b, to, 8);
}

/* Which records: where blocks begin and end, and what is chosen of them. */
static void identify_blocks(const struct subset *s, struct buffer *b)
{
    for (uint32_t i = 0; i < s->blocks; i++) {
        const struct subset_block *block = &s->block[i];
        buffer_le(b, block->first_id, 8);
        buffer_le(b, block->count, 4);
        for (uint32_t k = 0; block->chosen && k < block->count; k++)
            buffer_le(b, block->chosen[k], 2);
    }
}

/* States of version 1 had the bins that are asked for, or 64, and the blocks of any order. */
static void identify_part(const apl_reader *r, enum part part, unsigned version, struct buffer *b)
{
    const struct reader_options *o = &r->spec.options;
    switch (part) {
    case SPLITS:
        for (uint32_t i = 0; i < r->spec.sources.count; i++)
            identify_text(b, r->spec.sources.source[i].split);
        break;
    case FREE:
        buffer_le(b, o->free_order, 1);
        break;
    case SEQUENTIAL:
        buffer_le(b, o->plan.sequential, 1);
        break;
    case WINDOW:
        buffer_le(b, o->plan.window, 8);
        break;
    case OTHERS:
        buffer_le(b,
                  version > 1     ? o->plan.sequential ? 0 : o->plan.bins
                  : o->asked_bins ? o->asked_bins
                                  : 64,
                  4);
        buffer_le(b, o->plan.lanes, 4);
        buffer_le(b, o->plan.reuse, 4);
        break;
    case SAMPLING:
        identify_sampling(o->plan.sampler, b);
        break;
    case COLLATION:
        identify_collation(r, b);
        break;
    default:
        if (version > 1)
            identify_records(&r->spec.subset, b);
        else
            identify_blocks(&r->spec.subset, b);
    }
}

/* The byte of a part. A window of all records is the same of however many, and as many bins as suit follow from other parts. */
static uint64_t part_byte(const apl_reader *r, enum part part, const uint8_t *bytes, size_t size)
{
    const struct reader_options *o = &r->spec.options;
    if (part == WINDOW && o->plan.window >= r->spec.subset.records)
        return 0;
    if (part == OTHERS) {
        uint32_t others[] = {o->asked_bins, o->plan.lanes, o->plan.reuse};
        return hash_xxh3_64(others, sizeof others) & 255;
    }
    return hash_xxh3_64(bytes, size) & 255;
}

/* Of all parts, for states of this version; also of where blocks begin, where the order depends on that. False: out of memory. */
static bool identify_order(const apl_reader *r, unsigned version, struct hash128 *order)
{
    const struct plan_options *plan = &r->spec.options.plan;
    struct plan_shape shape = plan_shape(plan, &r->spec.subset);
    struct buffer b = {0};
    *order = (struct hash128){0};
    for (unsigned i = 0; i < PARTS; i++) {
        size_t from = b.size;
        identify_part(r, (enum part)i, version, &b);
        if (!b.failed)
            order->high |= part_byte(r, (enum part)i, b.data + from, b.size - from) << 8 * i;
    }
    if (version > 1 && !plan->sequential && (!shape.whole || shape.lanes > 1))
        identify_blocks(&r->spec.subset, &b);
    if (r->spec.sources.count > 1)
        buffer_put(&b, r->identity.content, sizeof r->identity.content);
    bool ok = !b.failed;
    if (ok)
        order->low = hash_xxh3_128(b.data, b.size).low;
    buffer_free(&b);
    return ok;
}

apl_status state_identify(apl_reader *r, apl_error *err)
{
    struct hash128 first = {0};
    TRY(mix_digest(&r->spec, r->identity.content, err));
    if (!identify_order(r, 2, &r->identity.order) ||
        (r->spec.options.plan.sequential && !identify_order(r, 1, &first)))
        return fail_nomem(err);
    r->identity.first = first.low;
    r->identity.kinds = kinds_sum(&r->spec);
    return APL_OK;
}

bool identity_is_first(const apl_reader *r, uint64_t low)
{
    return r->spec.options.plan.sequential && low == r->identity.first;
}

static bool part_differs(uint64_t differing, enum part part)
{
    return (differing >> 8 * part & 255) != 0;
}

/* What follows from a difference that is listed is not: another split has other records, windows are records of their own,
 * and another sample has other lanes by default. */
static bool is_told(uint64_t differing, enum part part)
{
    if (part == BLOCKS && (part_differs(differing, SPLITS) || part_differs(differing, COLLATION)))
        return false;
    return part_differs(differing, part) && !(part == OTHERS && part_differs(differing, SAMPLING));
}

/* "window differs", "shuffling and window differ"; all of them if no byte differs, or nearly all do. */
static void name_parts(uint64_t differing, char list[LIST])
{
    unsigned differ = 0, due = 0, listed = 0, last = 0;
    for (unsigned i = 0; i < PARTS; i++) {
        differ += part_differs(differing, (enum part)i);
        due += is_told(differing, (enum part)i);
    }
    bool all = differ == 0 || differ >= PARTS - 1;
    due = all ? PARTS : due;
    size_t n = 0;
    for (unsigned i = 0; i < PARTS; i++)
        if (all || is_told(differing, (enum part)i)) {
            const char *comma = listed == 0 ? "" : listed + 1 < due ? ", " : all ? " or " : " and ";
            n += (size_t)snprintf(list + n, LIST - n, "%s%s", comma, names[i]);
            listed++;
            last = i;
        }
    snprintf(list + n, LIST - n, " %s",
             listed == 1 && last != OTHERS && last != BLOCKS ? "differs" : "differ");
}

apl_status identity_check(const struct identity *own, uint64_t low, uint64_t high, apl_error *err)
{
    char list[LIST];
    if (low == own->order.low)
        return APL_OK;
    name_parts(high ^ own->order.high, list);
    return fail(err, APL_E_MISMATCH, "the state is of another order: %s", list);
}
