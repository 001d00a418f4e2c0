/* See wds_shards.h. */
#include "wds_shards.h"

#include "file_name.h"
#include "split_note.h"

#include <stdlib.h>
#include <string.h>

void wds_shards_free(struct wds_shards *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->shards[i].split);
        free(s->shards[i].shown);
    }
    free(s->shards);
}

apl_status wds_shards_add(struct wds_shards *s, const struct path_split *told, const char *shown,
                          apl_error *err)
{
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 16;
        struct wds_shard *shards = realloc(s->shards, room * sizeof *shards);
        if (!shards)
            return fail_nomem(err);
        s->shards = shards;
        s->room = room;
    }
    struct wds_shard *new = &s->shards[s->count];
    *new = (struct wds_shard){
        .split = strdup(told->split), .shown = strdup(shown), .told = *told, .rank = told->rank};
    s->count++;
    return new->split &&new->shown ? APL_OK : fail_nomem(err);
}

apl_status wds_shards_rename(struct wds_shards *s, const char *split, uint32_t rank, apl_error *err)
{
    struct wds_shard *last = &s->shards[s->count - 1];
    if (strlen(split) > APL_MAX_NAME || rank > UINT16_MAX)
        return fail(err, APL_E_SOURCE, "is of a split that cannot be");
    char *name = strdup(split);
    if (!name)
        return fail_nomem(err);
    free(last->split);
    last->split = name;
    last->rank = rank;
    last->declared = true;
    return APL_OK;
}

/* A split as the first of its shards has it. */
struct split_place {
    const char *split;
    uint32_t rank, word; /* the rank that its name has by itself */
    size_t first;
};

static int by_split_place(const void *a, const void *b)
{
    const struct split_place *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->word != y->word)
        return x->word < y->word ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static struct split_place *find_split_place(struct split_place *places, unsigned count, const char *split)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(places[i].split, split) == 0)
            return &places[i];
    return NULL;
}

static struct split_place place_of(const struct wds_shard *shard, size_t at)
{
    struct file_name n;
    bool known = file_name_read(&n, shard->split) && n.split && n.count == 0;
    return (struct split_place){shard->split, shard->rank, known ? n.split_rank : UINT32_MAX, at};
}

apl_status wds_shards_settle(struct wds_shards *s, apl_error *err)
{
    struct split_place places[WDS_SPLITS];
    unsigned count = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (find_split_place(places, count, s->shards[i].split))
            continue;
        if (count == WDS_SPLITS)
            return fail(err, APL_E_UNSUPPORTED, "has one more than %u splits", WDS_SPLITS);
        places[count++] = place_of(&s->shards[i], i);
    }
    qsort(places, count, sizeof *places, by_split_place);
    for (unsigned i = 1; i < count; i++)
        if (places[i].rank <= places[i - 1].rank)
            places[i].rank = places[i - 1].rank + 1;
    for (size_t i = 0; i < s->count; i++)
        s->shards[i].rank = find_split_place(places, count, s->shards[i].split)->rank;
    return APL_OK;
}

const char *wds_shards_split(const struct wds_shards *s)
{
    return s->shards[(s->at > 0 ? s->at : s->count) - 1].split;
}

void wds_shards_say_empty(struct wds_shards *s)
{
    s->shards[s->count - 1].empty = true;
}

bool wds_shards_is_empty(const struct wds_shards *s)
{
    const struct wds_shard *last = &s->shards[s->count - 1];
    return last->empty && last->samples == 0;
}

void wds_shards_sample(struct wds_shards *s)
{
    s->shards[s->count - 1].samples++;
}

void wds_shards_tell(const struct wds_shards *s, const struct format_host *host)
{
    struct split_note note = {0};
    for (size_t i = 0; i < s->count; i++) {
        const struct wds_shard *is = &s->shards[i];
        const struct path_split own = {.split = is->split, .rank = is->rank, .told = true};
        split_note_take(&note, is->shown, is->declared ? &own : &is->told);
    }
    split_note_tell(&note, host);
}

apl_status wds_shards_count(const struct wds_shards *s, const struct format_host *host, apl_error *err)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct wds_shard *is = &s->shards[i];
        if (is->samples > 0 || is->empty)
            TRY(host->count(host->user, is->split, is->rank << 16, is->samples, err));
    }
    return APL_OK;
}

apl_status wds_shards_begin_empty(const struct wds_shards *s, struct wds_splits *splits,
                                  const struct format_host *host, apl_writer *writer, apl_error *err)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct wds_shard *is = &s->shards[i];
        if (!is->empty || is->samples > 0)
            continue;
        TRY(wds_splits_use(splits, is->split, is->rank, host->source, err));
        TRY(wds_splits_begin_member(splits, host, writer, err));
    }
    return APL_OK;
}

const struct wds_shard *wds_shards_begin(struct wds_shards *s)
{
    s->at_start = true;
    return &s->shards[s->at++];
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
