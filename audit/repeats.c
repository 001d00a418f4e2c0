/* Equal inputs within a split: see repeats.h. */
#include "repeats.h"

#include "inputs.h"
#include "store_splits.h"

#include <stdlib.h>

/* Finds those of the ids, whose number is counted first. */
static size_t list_repeats(const struct split_ids *ids, const uint32_t *equal, uint32_t *seen,
                           struct repeat *list)
{
    size_t count = 0;
    for (uint64_t i = 0; i < ids->count; i++) {
        uint32_t id = (uint32_t)ids->ids[i], *first = &seen[equal[id]];
        if (*first == UINT32_MAX)
            *first = id;
        else if (list)
            list[count++] = (struct repeat){.id = id, .first = *first};
        else
            count++;
    }
    for (uint64_t i = 0; i < ids->count; i++)
        seen[equal[ids->ids[i]]] = UINT32_MAX;
    return count;
}

static apl_status look_at_split(apl_store *store, const char *name, const uint32_t *equal, uint32_t *seen,
                                struct repeats_report *report, apl_error *err)
{
    struct split_ids ids = {NULL, 0};
    struct repeats *larger, found = {.split = name};
    apl_status status = splits_ids(store, name, &ids, err);
    if (status == APL_OK)
        found.count = list_repeats(&ids, equal, seen, NULL);
    found.records = ids.count;
    if (status == APL_OK && found.count) {
        larger = realloc(report->splits, (report->count + 1) * sizeof *larger);
        report->splits = larger ? larger : report->splits;
        found.list = larger ? malloc(found.count * sizeof *found.list) : NULL;
        status = found.list ? APL_OK : inputs_no_memory(err);
    }
    if (status == APL_OK && found.count) {
        list_repeats(&ids, equal, seen, found.list);
        report->splits[report->count++] = found;
    }
    free(ids.ids);
    return status;
}

apl_status repeats_find(apl_store *store, const char *const *names, size_t count, const uint32_t *equal,
                        uint32_t *seen, struct repeats_report *report, apl_error *err)
{
    size_t all = count ? count : apl_store_info(store)->splits;
    apl_status status = APL_OK;
    for (size_t i = 0; status == APL_OK && i < all; i++)
        status = look_at_split(store, count ? names[i] : apl_store_split(store, (unsigned)i)->name, equal,
                               seen, report, err);
    return status;
}

void repeats_free(struct repeats_report *report)
{
    for (size_t i = 0; i < report->count; i++)
        free(report->splits[i].list);
    free(report->splits);
    *report = (struct repeats_report){.splits = NULL};
}
