/* The records of a split, shard by shard: see wds_exports.h. */
#include "wds_exports.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SPLITS_MAX 1024u
#define ANYWAY     " (--partial, or partial=True in Python, does without)"

struct wds_exported {
    size_t shard; /* its place among all shards */
    char *name;
    uint64_t number, first;
};

struct wds_exported_split {
    char name[APL_MAX_NAME + 1];
    uint64_t records;
};

void wds_exports_free(struct wds_exports *e)
{
    for (size_t i = 0; i < e->count; i++)
        free(e->shards[i].name);
    free(e->shards);
    free(e->splits);
}

/* ---------------------------------------------------------------------------------------------------- taking them */

static struct wds_exported_split *find_exported(const struct wds_exports *e, const char *name)
{
    for (size_t s = 0; s < e->split_count; s++)
        if (strcmp(e->splits[s].name, name) == 0)
            return &e->splits[s];
    return NULL;
}

static apl_status take_exported_split(struct wds_exports *e, const struct declared_split *is, apl_error *err)
{
    const struct wds_exported_split *known = find_exported(e, is->name);
    if (known && known->records != is->records)
        return fail(err, APL_E_SOURCE,
                    "is of another export than shards before it: its split %.64s has %s, and theirs "
                    "%" PRIu64,
                    is->name, number_of(is->records, "record", "records"), known->records);
    if (known)
        return APL_OK;
    struct wds_exported_split *splits =
        e->split_count < SPLITS_MAX ? realloc(e->splits, (e->split_count + 1) * sizeof *splits) : NULL;
    if (e->split_count == SPLITS_MAX)
        return fail(err, APL_E_UNSUPPORTED, "names one more than %u splits", SPLITS_MAX);
    if (!splits)
        return fail_nomem(err);
    e->splits = splits;
    struct wds_exported_split *new = &splits[e->split_count++];
    *new = (struct wds_exported_split){.records = is->records};
    memcpy(new->name, is->name, strlen(is->name)); /* declared_read() has measured it */
    return APL_OK;
}

static bool make_exported_room(struct wds_exports *e)
{
    if (e->count < e->room)
        return true;
    size_t room = e->room ? 2 * e->room : 16;
    struct wds_exported *shards = realloc(e->shards, room * sizeof *shards);
    if (!shards)
        return false;
    e->shards = shards;
    e->room = room;
    return true;
}

apl_status wds_exports_take(struct wds_exports *e, size_t shard, const char *name, const struct declared *d,
                            const struct declared *first, apl_error *err)
{
    if (!d->numbered || !d->split)
        return APL_OK;
    for (size_t s = 0; s < d->split_count && !(first && declared_same_export(d, first)); s++)
        TRY(take_exported_split(e, &d->splits[s], err));
    char *copy = make_exported_room(e) ? strdup(name) : NULL;
    if (!copy)
        return fail_nomem(err);
    e->shards[e->count++] = (struct wds_exported){shard, copy, d->number, d->first};
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------------- checking */

/* The shards of one split, in the order of their records. */
struct in_order {
    const struct wds_exported_split *split;
    const struct wds_exported **shards;
    size_t count;
    uint64_t present; /* records */
};

static int by_first(const void *x, const void *y)
{
    const struct wds_exported *a = *(const struct wds_exported *const *)x,
                              *b = *(const struct wds_exported *const *)y;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static void find_shards(const struct wds_exports *e, const struct wds_shards *all, struct in_order *o)
{
    o->count = 0;
    o->present = 0;
    for (size_t i = 0; i < e->count; i++) {
        const struct wds_shard *is = &all->shards[e->shards[i].shard];
        if (strcmp(is->split, o->split->name) != 0)
            continue;
        o->shards[o->count++] = &e->shards[i];
        o->present += is->samples;
    }
    qsort(o->shards, o->count, sizeof *o->shards, by_first);
}

/* Before the shard `at`, or after the last, there should be more records. */
static apl_status tell_missing(const struct in_order *o, size_t at, apl_error *err)
{
    const struct wds_exported *before = at > 0 ? o->shards[at - 1] : NULL;
    uint64_t next = before ? before->number + 1 : 0;
    const struct wds_exported_split *split = o->split;
    if (at == o->count)
        return fail(err, APL_E_INCOMPLETE,
                    "%s: it has been cut off, or the shards behind it are missing: of the %s of "
                    "the split %.64s there are %" PRIu64 ANYWAY,
                    before->name, number_of(split->records, "record", "records"), split->name, o->present);
    if (o->shards[at]->number == next && before)
        return fail(err, APL_E_INCOMPLETE, "%s: lacks some of its %" PRIu64 " records" ANYWAY, before->name,
                    o->shards[at]->first - before->first);
    return fail(
        err, APL_E_INCOMPLETE,
        "%s: of the shards before it some are missing, %.64s-%06" PRIu64 ".tar first: of the %s of the "
        "split there are %" PRIu64 ANYWAY,
        o->shards[at]->name, split->name, next, number_of(split->records, "record", "records"), o->present);
}

static apl_status check_order(const struct in_order *o, const struct wds_shards *all, apl_error *err)
{
    uint64_t records = 0;
    for (size_t i = 0; i < o->count; i++) {
        if (o->shards[i]->first > records)
            return tell_missing(o, i, err);
        if (o->shards[i]->first < records)
            return fail(err, APL_E_SOURCE,
                        "%s: begins with record %" PRIu64
                        " of the split %.64s, but shards before it have %s: it is "
                        "of another export",
                        o->shards[i]->name, o->shards[i]->first, o->split->name,
                        number_of(records, "record", "records"));
        records += all->shards[o->shards[i]->shard].samples;
    }
    return records < o->split->records ? tell_missing(o, o->count, err) : APL_OK;
}

apl_status wds_exports_check(const struct wds_exports *e, const struct wds_shards *shards,
                             const struct format_host *host, apl_error *err)
{
    struct in_order o = {.shards = malloc((e->count + 1) * sizeof *o.shards)};
    apl_status status = o.shards ? APL_OK : fail_nomem(err);
    if (host->partial || (shards->count == 1 && !host->whole)) {
        free(o.shards);
        return status;
    }
    for (size_t s = 0; s < e->split_count && status == APL_OK; s++) {
        o.split = &e->splits[s];
        find_shards(e, shards, &o);
        if (o.count > 0)
            status = check_order(&o, shards, err);
        else if (host->whole)
            status = fail(err, APL_E_INCOMPLETE,
                          "%s: is of an export whose split %.64s is missing, %.64s-000000.tar first" ANYWAY,
                          host->source, o.split->name, o.split->name);
    }
    free(o.shards);
    return status;
}
