/* What the files of one store, or of one set, share that is elsewhere: how much has been asked for, and the cache, if there is one. */
#ifndef ORIGIN_H
#define ORIGIN_H

#include "disk_cache.h"

struct origin {
    atomic_uint holders;
    struct traffic traffic;
    char *directory; /* of the cache; NULL: none */
    uint64_t budget;
    struct disk_cache *cache; /* NULL: none, or no file has answered yet */
    bool cache_failed;        /* it could not be opened */
    atomic_int unkept;        /* 0, or why the first part that was not kept there was not */
};

/* cache: a directory, or NULL, or "": none. Nothing is written there yet. */
apl_status origin_open(const char *cache, uint64_t budget, struct origin **origin, apl_error *err);
struct origin *origin_retain(struct origin *origin);

/* A file has answered: opens the cache, unless it is open. Of the files of an origin, the first is opened before all others, so no two
 * threads do this at once. A URL that does not answer thus leaves nothing on the disk. */
apl_status origin_answered(struct origin *origin, apl_error *err);

/* NULL is fine. */
void origin_release(struct origin *origin);

/* A part has not been kept: for what disk_cache_write() returned; or its server does not say which object it is of. */
#define UNKEPT_NAMELESS (-2)
void origin_not_kept(struct origin *origin, int why);

/* From now on all that is read is to be kept; and: has it been, until now? Of an origin with a cache. */
void origin_keep_all(struct origin *origin);
apl_status origin_kept_all(struct origin *origin, apl_error *err);

#endif
