/* See wds_splits.h. */
#include "wds_splits.h"

apl_status wds_splits_use(struct wds_splits *s, const char *name, uint32_t rank, const char *shown,
                          apl_error *err)
{
    s->shown = shown;
    for (unsigned i = 0; i < s->count; i++)
        if (strcmp(s->splits[i].name, name) == 0) {
            s->shard = &s->splits[i];
            return APL_OK;
        }
    if (s->count == WDS_SPLITS) /* unreached: there are no more among the shards */
        return fail(err, APL_E_UNSUPPORTED, "has one more than %u splits", WDS_SPLITS);
    s->shard = &s->splits[s->count++];
    *s->shard = (struct wds_split){.rank = rank};
    memcpy(s->shard->name, name, strlen(name) + 1);
    return APL_OK;
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
