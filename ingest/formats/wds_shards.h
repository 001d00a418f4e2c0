/* The shards of a WebDataset, as their names were listed: of which split each is, and which samples are a part's own. */
#ifndef WDS_SHARDS_H
#define WDS_SHARDS_H

#include "path_split.h"
#include "wds_splits.h"

/* A shard, once it has been listed. */
struct wds_shard {
    char *split;
    char *shown;            /* its name, safe to print */
    struct path_split told; /* by its path */
    bool declared;          /* the split is what the shard itself says */
    uint32_t rank;
    uint64_t samples;
    bool empty; /* it says that its split has none */
};

/* From {0} to wds_shards_free(). */
struct wds_shards {
    struct wds_shard *shards;
    size_t count, room;
    size_t at;     /* of those being read, how many have begun */
    bool at_start; /* nothing of that shard has been read */
};
void wds_shards_free(struct wds_shards *s);

/* The first time: the next shard is of that split, by its path. `shown` is safe to print. */
apl_status wds_shards_add(struct wds_shards *s, const struct path_split *told, const char *shown,
                          apl_error *err);

/* The shard that is listed says itself of which split it is, and at which place that comes. */
apl_status wds_shards_rename(struct wds_shards *s, const char *split, uint32_t rank, apl_error *err);

/* Of which split the shard is that is listed, or read: that which began last. */
const char *wds_shards_split(const struct wds_shards *s);

/* It says that the split has no records; does it? */
void wds_shards_say_empty(struct wds_shards *s);
bool wds_shards_is_empty(const struct wds_shards *s);

/* It has one more sample. */
void wds_shards_sample(struct wds_shards *s);

/* After the last: the first shard of a split says where that comes, and no two come at the same place. */
apl_status wds_shards_settle(struct wds_shards *s, apl_error *err);

/* Then: are there names that tell no split, beside others that do, or that tell several? */
void wds_shards_tell(const struct wds_shards *s, const struct format_host *host);

/* And reports all of them to the host. */
apl_status wds_shards_count(const struct wds_shards *s, const struct format_host *host, apl_error *err);

/* After all samples, where no part is made: begins a member for each split that has none. */
apl_status wds_shards_begin_empty(const struct wds_shards *s, struct wds_splits *splits,
                                  const struct format_host *host, apl_writer *writer, apl_error *err);

/* The second time: the next shard, which begins. */
const struct wds_shard *wds_shards_begin(struct wds_shards *s);

/* The next sample of the shard: is it the part's own? */
bool wds_shards_own(struct wds_shards *s, const struct format_host *host);

/* Where the shard has no sample of the part's own, all pass at once. Asked of any but a shard's start: no. */
bool wds_shards_pass(struct wds_shards *s, const struct format_host *host);

#endif
