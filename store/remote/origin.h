/* What the files of one store, or of one set, share that is elsewhere: how much has been asked for, and the cache, if there is one. */
#ifndef ORIGIN_H
#define ORIGIN_H

#include "disk_cache.h"

struct origin {
    atomic_uint holders;
    struct traffic traffic;
    struct disk_cache *cache; /* NULL: none */
};

/* cache: a directory, or NULL, or "": none. */
apl_status origin_open(const char *cache, uint64_t budget, struct origin **origin, apl_error *err);
struct origin *origin_retain(struct origin *origin);

/* NULL is fine. */
void origin_release(struct origin *origin);

#endif
