/* See wds_splits.h. */
#include "wds_splits.h"

#include "file_name.h"

#include <stdio.h>

apl_status wds_splits_use(struct wds_splits *s, const char *name, uint32_t rank, apl_error *err)
{
    for (unsigned i = 0; i < s->count; i++)
        if (strcmp(s->splits[i].name, name) == 0) {
            s->shard = &s->splits[i];
            return APL_OK;
        }
    if (s->count == WDS_SPLITS)
        return fail(err, APL_E_UNSUPPORTED, "has one more than %u splits", WDS_SPLITS);
    if (strlen(name) > APL_MAX_NAME || rank > UINT16_MAX)
        return fail(err, APL_E_SOURCE, "is of a split that cannot be");
    s->shard = &s->splits[s->count++];
    *s->shard = (struct wds_split){.rank = rank};
    memcpy(s->shard->name, name, strlen(name) + 1);
    return APL_OK;
}

apl_status wds_splits_find(struct wds_splits *s, const char *path, const char *shown, apl_error *err)
{
    struct file_name n;
    const char *slash = strrchr(path, '/'), *folder = slash;
    bool known = file_name_read(&n, slash ? slash + 1 : path) && n.split;
    s->shown = shown;
    while (folder && folder > path && folder[-1] != '/')
        folder--;
    if (!known && folder) {
        char name[APL_MAX_NAME + 1];
        snprintf(name, sizeof name, "%.*s", (int)(slash - folder), folder);
        known = file_name_read(&n, name) && n.split && n.count == 0;
    }
    return wds_splits_use(s, known ? n.split : "train", known ? n.split_rank : 0, err);
}

apl_status wds_splits_begin_member(struct wds_splits *s, const struct format_host *host, apl_writer *writer,
                                   apl_error *err)
{
    if (s->begun == s->shard)
        return APL_OK;
    uint32_t number = s->shard->members++;
    if (number > UINT16_MAX)
        return fail(err, APL_E_SOURCE, "%s: splits come mixed: name the shards in their order", s->shown);
    s->begun = s->shard;
    return host->not_the_source(host->user, apl_writer_begin_member(writer, s->shard->name, s->shard->name,
                                                                    s->shard->rank << 16 | number, err));
}
