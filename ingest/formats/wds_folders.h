/* Folders in WebDataset shards that are called as other splits than the shard is of: train/1.jpg and test/1.jpg in one. */
#ifndef WDS_FOLDERS_H
#define WDS_FOLDERS_H

#include "format.h"

/* From {0}. */
struct wds_folders {
    uint64_t samples; /* in such folders; */
    char first[128];  /* of the first, safe to print */
    char split[APL_MAX_NAME + 1];
};

/* A sample, by the name of one of its files, and the split of its shard. */
void wds_folders_take(struct wds_folders *f, const char *name, const char *split);

/* After the last: an error, or if the format was asked for, a note. Nobody says which of the two names is right. */
apl_status wds_folders_check(const struct wds_folders *f, const struct format_host *host, apl_error *err);

#endif
