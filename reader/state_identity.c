/*
 * What shapes the order, as states have it: one hash of all of it, and one byte of the hash of each part, which tell what
 * differs. Not batch size, threads, budget, world, fields or transforms.
 */
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

static void identify_part(const apl_reader *r, enum part part, struct buffer *b)
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
        buffer_le(b, o->plan.bins, 4);
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
        identify_blocks(&r->spec.subset, b);
    }
}

/* The byte of a part. A window of all records is the same of however many. */
static uint64_t part_byte(const apl_reader *r, enum part part, const uint8_t *bytes, size_t size)
{
    bool whole = part == WINDOW && r->spec.options.plan.window >= r->spec.subset.records;
    return whole ? 0 : hash_xxh3_64(bytes, size) & 255;
}

apl_status state_identify(apl_reader *r, apl_error *err)
{
    struct buffer b = {0};
    uint64_t parts = 0;
    TRY(mix_digest(&r->spec, r->identity.content, err));
    for (unsigned i = 0; i < PARTS; i++) {
        size_t from = b.size;
        identify_part(r, (enum part)i, &b);
        if (!b.failed)
            parts |= part_byte(r, (enum part)i, b.data + from, b.size - from) << 8 * i;
    }
    if (r->spec.sources.count > 1)
        buffer_put(&b, r->identity.content, sizeof r->identity.content);
    bool failed = b.failed;
    if (!failed) {
        struct hash128 all = hash_xxh3_128(b.data, b.size);
        r->identity.order = (struct hash128){.low = all.low, .high = parts};
        r->identity.rest = all.high;
    }
    buffer_free(&b);
    return failed ? fail_nomem(err) : APL_OK;
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

/* "window differs", "shuffling and window differ"; all of them if no byte differs, or nearly all do, as in a state of an
 * earlier version. */
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
    if (low == own->order.low && (high == own->order.high || high == own->rest))
        return APL_OK;
    name_parts(high ^ own->order.high, list);
    return fail(err, APL_E_MISMATCH, "the state is of another order: %s", list);
}
