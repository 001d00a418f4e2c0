#include "chunk.h"

#include "args.h"
#include "interrupt.h"

#include <stdlib.h>

#define CHUNK_BYTES (32u << 20)

size_t chunk_records(const apl_info *info)
{
    uint64_t mean = info->records ? info->raw_bytes / info->records + 1 : 1;
    uint64_t n = CHUNK_BYTES / mean;
    n = n > CHUNK_RECORDS ? CHUNK_RECORDS : n;
    if (n > info->block_records && info->block_records)
        n -= n % info->block_records;
    return n ? (size_t)n : 1;
}

apl_status chunk_read(apl_store *store, const uint64_t *ids, size_t n, const unsigned *fields, unsigned count,
                      unsigned threads, apl_batch **batch, apl_error *err)
{
    const char *names[APL_MAX_FIELDS];
    apl_get_options options = APL_GET_OPTIONS_INIT;
    for (unsigned i = 0; i < count; i++)
        names[i] = apl_store_field(store, fields[i])->name;
    options.fields = names;
    options.field_count = count;
    options.threads = threads;
    return apl_store_get_batch(store, ids, n, &options, batch, err);
}

int chunk_get(apl_store *store, const uint64_t *ids, size_t n, const unsigned *fields, unsigned count,
              unsigned threads, apl_batch **batch)
{
    apl_error err;
    if (interrupted())
        return EXIT_FAILURE;
    return chunk_read(store, ids, n, fields, count, threads, batch, &err) == APL_OK
               ? 0
               : failed("%s", err.message);
}
