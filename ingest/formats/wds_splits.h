/* The splits of a WebDataset: each shard is of one. */
#ifndef WDS_SPLITS_H
#define WDS_SPLITS_H

#include "format.h"

#define WDS_SPLITS 32u

struct wds_split {
    char name[APL_MAX_NAME + 1];
    uint32_t rank, members;
};

/* From {0}. It does not move: the last of it point into it. */
struct wds_splits {
    struct wds_split splits[WDS_SPLITS];
    unsigned count;
    const char *shown;       /* the shard's name, safe to print; the caller's */
    struct wds_split *shard; /* that of the shard; */
    struct wds_split *begun; /* of the member that was begun last */
};

/* The shard is of the split of that name, which may be new. `shown` is kept. */
apl_status wds_splits_use(struct wds_splits *s, const char *name, uint32_t rank, const char *shown,
                          apl_error *err);

/* Before a record: begins a member of the store unless the one before it is of the same split. */
apl_status wds_splits_begin_member(struct wds_splits *s, const struct format_host *host, apl_writer *writer,
                                   apl_error *err);

#endif
