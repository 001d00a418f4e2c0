/* Shards that are of exports, whose schemas say what all shards of these hold: are some missing? */
#ifndef WDS_EXPORTS_H
#define WDS_EXPORTS_H

#include "declared.h"
#include "wds_shards.h"

struct wds_exported;
struct wds_exported_split;

/* From {0} to wds_exports_free(). */
struct wds_exports {
    struct wds_exported *shards;
    size_t count, room;
    struct wds_exported_split *splits;
    size_t split_count;
};
void wds_exports_free(struct wds_exports *e);

/* The shard that is being listed, number `shard` of all, has this schema; `first`: that of the first shard, or NULL. Schemas of older
 * versions say nothing. `name` is safe to print. Refuses one that contradicts those before. Errors do not name the shard. */
apl_status wds_exports_take(struct wds_exports *e, size_t shard, const char *name, const struct declared *d,
                            const struct declared *first, apl_error *err);

/* After the last: APL_E_INCOMPLETE if shards, or records of one, are missing; whole splits only matter where a directory was given. One
 * shard that was given by its name is wanted alone. */
apl_status wds_exports_check(const struct wds_exports *e, const struct wds_shards *shards,
                             const struct format_host *host, apl_error *err);

#endif
