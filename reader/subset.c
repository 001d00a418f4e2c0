/* The records of a split, block by block. */
#include "subset.h"

#include <stdlib.h>

static apl_status find_split(const apl_store *store, const char *name, uint64_t *first, uint64_t *count,
                             apl_error *err)
{
    int i = name ? apl_store_find_split(store, name) : 0;
    if (i >= 0 && apl_store_split(store, (unsigned)i)) {
        const apl_split *split = apl_store_split(store, (unsigned)i);
        *first = split->first;
        *count = split->count;
        return APL_OK;
    }
    char shown[128];
    printable(shown, sizeof shown, name, strlen(name));
    return fail(err, APL_E_NOTFOUND, "%s: has no split %s", store->name, shown);
}

apl_status subset_open(const apl_store *store, const char *split, struct subset *subset, apl_error *err)
{
    const struct manifest *m = &store->manifest;
    uint64_t first = 0, count = 0;
    TRY(find_split(store, split, &first, &count, err));
    *subset = (struct subset){.records = count, .stride = m->info.block_records};
    if (count == 0)
        return fail(err, APL_E_INVALID, "%s: the split is empty", store->name);
    /* Splits begin and end where blocks do. */
    uint64_t from = manifest_block_of(m, first), to = manifest_block_of(m, first + count - 1) + 1;
    if (to - from > UINT32_MAX / subset->stride)
        return fail(err, APL_E_UNSUPPORTED, "%s: a split of more than 2^32 records", store->name);
    subset->blocks = (uint32_t)(to - from);
    subset->block = calloc(subset->blocks, sizeof *subset->block);
    if (!subset->block)
        return fail_nomem(err);
    for (uint32_t i = 0; i < subset->blocks; i++) {
        struct subset_block *b = &subset->block[i];
        b->number = from + i;
        manifest_block_ids(m, b->number, &b->first_id, &b->records);
        b->count = b->records;
        b->first = b->first_id - first;
    }
    return APL_OK;
}

void subset_close(struct subset *subset)
{
    for (uint32_t i = 0; i < subset->blocks; i++)
        free((void *)subset->block[i].members);
    free(subset->block);
    *subset = (struct subset){0};
}
