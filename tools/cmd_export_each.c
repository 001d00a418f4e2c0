/* Reading a store for the formats of `apldata export`: see cmd_export.h. */
#include "cmd_export.h"

#include "args.h"
#include "chunk.h"

#include "report.h"

#include <stdlib.h>

static void show_progress(struct export *x)
{
    struct progress_state state = {.what = "writing", .records = x->done, .fraction = -1};
    if (x->total)
        state.fraction = (double)x->done / (double)x->total;
    progress_show(&x->progress, &state);
}

int export_each(struct export *x, uint64_t first, uint64_t count, const unsigned *fields, unsigned n,
                int (*take)(void *user, const apl_batch *batch), void *user)
{
    uint64_t ids[CHUNK_RECORDS];
    size_t chunk = chunk_records(x->info);
    int status = 0;
    for (uint64_t at = 0; at < count && !status; at += chunk) {
        size_t rows = count - at < chunk ? (size_t)(count - at) : chunk;
        apl_batch *batch = NULL;
        for (size_t i = 0; i < rows; i++)
            ids[i] = first + at + i;
        status = chunk_get(x->store, ids, rows, fields, n, x->threads, &batch);
        if (!status)
            status = take(user, batch);
        apl_batch_release(batch);
        x->done += rows;
        show_progress(x);
    }
    return status;
}

int export_fields(const struct export *x, bool positions, unsigned fields[APL_MAX_FIELDS], unsigned *count)
{
    bool wanted[APL_MAX_FIELDS] = {false};
    for (unsigned i = 0; i < x->fields.count; i++) {
        int field = apl_store_find_field(x->store, x->fields.name[i]);
        if (field < 0)
            return failed("%s: no field '%s'", shown_db(x->path), shown(x->fields.name[i]));
        wanted[field] = true;
    }
    *count = 0;
    for (unsigned i = 0; i < x->info->fields; i++)
        if (x->fields.count ? wanted[i] : positions || apl_store_field(x->store, i)->role != APL_POSITION)
            fields[(*count)++] = i;
    return 0;
}
