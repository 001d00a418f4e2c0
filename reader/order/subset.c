/* The records that a reader is to read, block by block: see subset.h. */
#include "subset.h"

#include "split.h"

#include <stdlib.h>

/* --------------------------------------------------------------------------------------------- by block */

/* Which of the block's records are selected; all of them if there is no table. */
static apl_status list_members(const struct selection *s, uint64_t first, struct subset_block *b,
                               apl_error *err)
{
    uint32_t n = 0;
    b->count = b->records;
    if (!s->bits.words)
        return APL_OK;
    for (uint32_t i = 0; i < b->records; i++)
        n += selection_has(s, first + i);
    b->count = n;
    if (n == 0 || n == b->records)
        return APL_OK;
    uint16_t *chosen = malloc(n * sizeof *chosen);
    b->chosen = chosen;
    if (!chosen)
        return fail_nomem(err);
    for (uint32_t i = 0; i < b->records; i++)
        if (selection_has(s, first + i))
            *chosen++ = (uint16_t)i;
    return APL_OK;
}

/* The blocks that hold the records of a source's split, which begins and ends where blocks do. */
static void find_blocks(const apl_store *store, const struct selection *s, uint64_t *from, uint64_t *to)
{
    *from = manifest_block_of(&store->manifest, s->first);
    *to = manifest_block_of(&store->manifest, s->first + s->count - 1) + 1;
}

/* Lists the part's blocks but for those that have no record in the selection. */
static apl_status list_blocks(const struct selection *s, uint32_t number, struct subset *subset,
                              apl_error *err)
{
    const struct subset_part *part = &subset->part[number];
    uint64_t from, to, first, before = subset->records;
    find_blocks(part->store, s, &from, &to);
    for (; from < to; from++) {
        struct subset_block *b = &subset->block[subset->blocks];
        *b = (struct subset_block){.number = from, .part = number, .before = before};
        manifest_block_ids(&part->store->manifest, from, &first, &b->records);
        b->first_id = part->first_id + first;
        apl_status status = list_members(s, first, b, err);
        before += b->count;
        subset->blocks += b->count > 0;
        TRY(status);
    }
    subset->records = before;
    return APL_OK;
}

static apl_status list_parts(const struct selection *selections, struct subset *subset, apl_error *err)
{
    const struct subset_part *part = subset->part;
    uint64_t blocks = 0, from, to;
    for (uint32_t i = 0; i < subset->parts; i++) {
        uint32_t records = part[i].store->manifest.info.block_records;
        find_blocks(part[i].store, &selections[i], &from, &to);
        subset->stride = records > subset->stride ? records : subset->stride;
        blocks += to - from;
        if (blocks > UINT32_MAX / subset->stride)
            return fail(err, APL_E_UNSUPPORTED, "%s: a split of more than 2^32 records", part[i].store->name);
    }
    subset->block = calloc((size_t)blocks + 1, sizeof *subset->block);
    if (!subset->block)
        return fail_nomem(err);
    for (uint32_t i = 0; i < subset->parts; i++)
        TRY(list_blocks(&selections[i], i, subset, err));
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------ by id */

/* The part whose store has a record of that id; NULL if none has. */
static struct subset_part *part_of(struct subset *subset, uint64_t id)
{
    for (uint32_t i = 0; i < subset->parts; i++)
        if (id - subset->part[i].first_id < subset->part[i].store->manifest.info.records)
            return &subset->part[i];
    return NULL;
}

/* Marks the ids, each in the table of its part. */
static apl_status mark_ids(struct subset_ids ids, const struct selection *selections, struct bitset *chosen,
                           struct subset *subset, apl_error *err)
{
    for (size_t i = 0; i < ids.count; i++) {
        struct subset_part *part = part_of(subset, ids.ids[i]);
        const struct selection *s = part ? &selections[part - subset->part] : NULL;
        uint64_t id = part ? ids.ids[i] - part->first_id : 0;
        if (!part)
            return fail(err, APL_E_INVALID, "%s: ids[%zu] is %llu, and no record has that id",
                        subset->part->store->name, i, (unsigned long long)ids.ids[i]);
        if (id - s->first >= s->count || !selection_has(s, id))
            return fail(err, APL_E_INVALID, "%s: ids[%zu] is %llu, which is not in split %s",
                        part->store->name, i, (unsigned long long)ids.ids[i], subset_split(part));
        if (!bitset_set(&chosen[part - subset->part], id - s->first))
            return fail(err, APL_E_INVALID, "%s: ids[%zu] is %llu, which comes more than once",
                        part->store->name, i, (unsigned long long)ids.ids[i]);
        part->records++;
    }
    return APL_OK;
}

/* Cuts the selections down to the ids. */
static apl_status choose_ids(struct subset_ids ids, struct selection *selections, struct subset *subset,
                             apl_error *err)
{
    apl_status status = APL_OK;
    struct bitset *chosen = calloc(subset->parts, sizeof *chosen);
    if (!chosen)
        return fail_nomem(err);
    for (uint32_t i = 0; i < subset->parts && status == APL_OK; i++) {
        subset->part[i].records = 0;
        status = bitset_init(&chosen[i], selections[i].count, err);
    }
    if (status == APL_OK)
        status = mark_ids(ids, selections, chosen, subset, err);
    for (uint32_t i = 0; i < subset->parts; i++) {
        struct bitset before = selections[i].bits;
        selections[i].bits = chosen[i];
        bitset_free(&before);
    }
    free(chosen);
    return status;
}

/* ------------------------------------------------------------------------------------------- the whole */

static apl_status select_parts(struct selection *selections, struct subset *subset, apl_error *err)
{
    uint64_t ids = 0;
    for (uint32_t i = 0; i < subset->parts; i++) {
        struct subset_part *part = &subset->part[i];
        TRY(selection_open(part->store, part->split, &selections[i], err));
        if (selections[i].records == 0)
            return fail(err, APL_E_INVALID, "%s: the split %s is empty", part->store->name,
                        subset_split(part));
        part->records = selections[i].records;
        part->first_id = ids;
        if (part->store->manifest.info.records > UINT64_MAX - ids)
            return fail(err, APL_E_UNSUPPORTED, "%s: more than 2^64 records with those before",
                        part->store->name);
        ids += part->store->manifest.info.records;
    }
    return APL_OK;
}

static apl_status open_parts(struct subset_ids ids, struct selection *selections, struct subset *subset,
                             apl_error *err)
{
    TRY(select_parts(selections, subset, err));
    if (ids.ids)
        TRY(choose_ids(ids, selections, subset, err));
    return list_parts(selections, subset, err);
}

apl_status subset_open_parts(const struct subset_part *parts, uint32_t count, struct subset_ids ids,
                             struct subset *subset, apl_error *err)
{
    *subset = (struct subset){.parts = count};
    struct selection *selections = calloc(count, sizeof *selections);
    subset->part = calloc(count, sizeof *subset->part);
    apl_status status = APL_OK;
    if (!selections || !subset->part)
        GUARD(fail_nomem(err));
    memcpy(subset->part, parts, count * sizeof *parts);
    status = open_parts(ids, selections, subset, err);
out:
    for (uint32_t i = 0; selections && i < count; i++)
        selection_close(&selections[i]);
    free(selections);
    if (status != APL_OK)
        subset_close(subset);
    return status;
}

apl_status subset_open(const apl_store *store, const char *split, struct subset *subset, apl_error *err)
{
    struct subset_part part = {.store = store, .split = split};
    return subset_open_parts(&part, 1, (struct subset_ids){NULL, 0}, subset, err);
}

void subset_close(struct subset *subset)
{
    for (uint32_t i = 0; i < subset->blocks; i++)
        free((void *)subset->block[i].chosen);
    free(subset->block);
    free(subset->part);
    *subset = (struct subset){0};
}
