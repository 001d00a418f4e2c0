/* See wds_shards.h. */
#include "wds_shards.h"

#include <stdlib.h>
#include <string.h>

void wds_shards_free(struct wds_shards *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->shards[i].split);
    free(s->shards);
}

apl_status wds_shards_add(struct wds_shards *s, const char *split, uint32_t rank, apl_error *err)
{
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 16;
        struct wds_shard *shards = realloc(s->shards, room * sizeof *shards);
        if (!shards)
            return fail_nomem(err);
        s->shards = shards;
        s->room = room;
    }
    char *name = strdup(split);
    if (!name)
        return fail_nomem(err);
    s->shards[s->count++] = (struct wds_shard){.split = name, .rank = rank};
    return APL_OK;
}

apl_status wds_shards_rename(struct wds_shards *s, const char *split, uint32_t rank, apl_error *err)
{
    struct wds_shard *last = &s->shards[s->count - 1];
    char *name = strdup(split);
    if (!name)
        return fail_nomem(err);
    for (size_t i = 0; i < s->count; i++) /* the first of a split says where it comes */
        if (strcmp(s->shards[i].split, split) == 0) {
            rank = s->shards[i].rank;
            break;
        }
    free(last->split);
    *last = (struct wds_shard){.split = name, .rank = rank, .samples = last->samples};
    return APL_OK;
}

void wds_shards_sample(struct wds_shards *s)
{
    s->shards[s->count - 1].samples++;
}

apl_status wds_shards_count(const struct wds_shards *s, const struct format_host *host, apl_error *err)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct wds_shard *is = &s->shards[i];
        if (is->samples > 0)
            TRY(host->count(host->user, is->split, is->rank << 16, is->samples, err));
    }
    return APL_OK;
}

void wds_shards_begin(struct wds_shards *s)
{
    s->at++;
    s->at_start = true;
}

bool wds_shards_own(struct wds_shards *s, const struct format_host *host)
{
    s->at_start = false;
    return host->own(host->user, s->shards[s->at - 1].split, 1);
}

bool wds_shards_pass(struct wds_shards *s, const struct format_host *host)
{
    const struct wds_shard *is = &s->shards[s->at - 1];
    bool passes = s->at_start && !host->coming(host->user, is->split, is->samples);
    if (passes)
        host->own(host->user, is->split, is->samples);
    s->at_start = false;
    return passes;
}
