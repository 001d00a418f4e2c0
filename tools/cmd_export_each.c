/* Reading a store for the formats of `apldata export`: see cmd_export.h. */
#include "cmd_export.h"

#include "args.h"
#include "interrupt.h"

#include "report.h"

#include <stdlib.h>

/* Decoded at a time: enough to keep the threads busy without using much memory. */
#define CHUNK_BYTES   (32u << 20)
#define CHUNK_RECORDS 8192

/* Records to decode at a time: a whole number of blocks if possible. */
static size_t chunk_records(const struct export *x)
{
    uint64_t mean = x->info->records ? x->info->raw_bytes / x->info->records + 1 : 1;
    uint64_t n = CHUNK_BYTES / mean;
    n = n > CHUNK_RECORDS ? CHUNK_RECORDS : n;
    if (n > x->info->block_records && x->info->block_records)
        n -= n % x->info->block_records;
    return n ? (size_t)n : 1;
}

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
    const char *names[APL_MAX_FIELDS];
    size_t chunk = chunk_records(x);
    apl_get_options options = APL_GET_OPTIONS_INIT;
    for (unsigned i = 0; i < n; i++)
        names[i] = apl_store_field(x->store, fields[i])->name;
    options.fields = names;
    options.field_count = n;
    options.threads = x->threads;
    int status = 0;
    for (uint64_t at = 0; at < count && !status; at += chunk) {
        size_t rows = count - at < chunk ? (size_t)(count - at) : chunk;
        for (size_t i = 0; i < rows; i++)
            ids[i] = first + at + i;
        apl_batch *batch;
        apl_error err;
        if (interrupted())
            return EXIT_FAILURE;
        if (apl_store_get_batch(x->store, ids, rows, &options, &batch, &err) != APL_OK)
            return failed("%s", err.message);
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
    for (unsigned i = 0; i < x->field_count; i++) {
        int field = apl_store_find_field(x->store, x->field_names[i]);
        if (field < 0)
            return failed("%s: no field '%s'", shown(x->path), shown(x->field_names[i]));
        wanted[field] = true;
    }
    *count = 0;
    for (unsigned i = 0; i < x->info->fields; i++)
        if (x->field_count ? wanted[i] : positions || apl_store_field(x->store, i)->role != APL_POSITION)
            fields[(*count)++] = i;
    return 0;
}
