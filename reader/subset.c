/* The records of a split, block by block. */
#include "subset.h"

#include "split.h"

#include <stdlib.h>

/* Which of the block's records are selected; all of them if there is no table. */
static apl_status list_members(const struct selection *s, struct subset_block *b, apl_error *err)
{
    uint32_t n = 0;
    b->count = b->records;
    if (!s->marks.words)
        return APL_OK;
    for (uint32_t i = 0; i < b->records; i++)
        n += selection_has(s, b->first_id + i);
    b->count = n;
    if (n == 0 || n == b->records)
        return APL_OK;
    uint16_t *members = malloc(n * sizeof *members);
    b->members = members;
    if (!members)
        return fail_nomem(err);
    for (uint32_t i = 0; i < b->records; i++)
        if (selection_has(s, b->first_id + i))
            *members++ = (uint16_t)i;
    return APL_OK;
}

/* Lists the blocks from ... to-1 but for those that have no record in the split. */
static apl_status list_blocks(const apl_store *store, const struct selection *s, uint64_t from, uint64_t to,
                              struct subset *subset, apl_error *err)
{
    uint64_t before = 0;
    for (uint64_t number = from; number < to; number++) {
        struct subset_block *b = &subset->block[subset->blocks];
        *b = (struct subset_block){.number = number, .first = before};
        manifest_block_ids(&store->manifest, number, &b->first_id, &b->records);
        apl_status status = list_members(s, b, err);
        before += b->count;
        subset->blocks += b->count > 0;
        TRY(status);
    }
    return APL_OK;
}

static apl_status open_blocks(const apl_store *store, const struct selection *s, struct subset *subset,
                              apl_error *err)
{
    const struct manifest *m = &store->manifest;
    *subset = (struct subset){.records = s->records, .source = s->source, .stride = m->info.block_records};
    if (s->records == 0)
        return fail(err, APL_E_INVALID, "%s: the split is empty", store->name);
    /* Splits of the source begin and end where blocks do. */
    uint64_t from = manifest_block_of(m, s->first), to = manifest_block_of(m, s->first + s->count - 1) + 1;
    if (to - from > UINT32_MAX / subset->stride)
        return fail(err, APL_E_UNSUPPORTED, "%s: a split of more than 2^32 records", store->name);
    subset->block = calloc((size_t)(to - from), sizeof *subset->block);
    if (!subset->block)
        return fail_nomem(err);
    return list_blocks(store, s, from, to, subset, err);
}

apl_status subset_open(const apl_store *store, const char *split, struct subset *subset, apl_error *err)
{
    struct selection s;
    TRY(selection_open(store, split, &s, err));
    apl_status status = open_blocks(store, &s, subset, err);
    if (status != APL_OK)
        subset_close(subset);
    selection_close(&s);
    return status;
}

void subset_close(struct subset *subset)
{
    for (uint32_t i = 0; i < subset->blocks; i++)
        free((void *)subset->block[i].members);
    free(subset->block);
    *subset = (struct subset){0};
}
