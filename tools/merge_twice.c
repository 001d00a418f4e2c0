/* Are stores to be merged that are one, or copies of each other? See merge.h. */
#include "args.h"
#include "merge.h"
#include "report.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A store, or a shard of a set, and its file; at a URL, or where it is not found, that has no inode. */
struct piece {
    unsigned source;
    const apl_shard *shard; /* NULL: a store */
    const uint8_t *digest;
    dev_t device;
    ino_t inode;
};

struct pieces {
    const struct copy_source *sources;
    const char *const *paths;
    struct piece *all;
    size_t count;
};

static void name_piece(const struct pieces *p, const struct piece *is, char name[2 * PATH_MAX])
{
    snprintf(name, (size_t)2 * PATH_MAX, "%s%s%s", p->paths[is->source], is->shard ? "/" : "",
             is->shard ? is->shard->name : "");
}

static void add_piece(struct pieces *p, unsigned source, const apl_shard *shard)
{
    struct stat st;
    char path[3 * PATH_MAX], name[2 * PATH_MAX];
    struct piece *is = &p->all[p->count++];
    *is = (struct piece){.source = source, .shard = shard};
    is->digest = shard ? shard->content_digest : apl_store_info(p->sources[source].store)->content_digest;
    name_piece(p, is, name);
    snprintf(path, sizeof path, "%s/data.mdb", name);
    if (stat(path, &st) == 0) {
        is->device = st.st_dev;
        is->inode = st.st_ino;
    }
}

/* Copies of each other follow one another, as they were given. */
static int by_content(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    int order = memcmp(x->digest, y->digest, 32);
    return order ? order : x->source < y->source ? -1 : x->source > y->source;
}

static bool is_same_file(const struct pieces *p, const struct piece *a, const struct piece *b)
{
    char first[2 * PATH_MAX], again[2 * PATH_MAX];
    name_piece(p, a, first);
    name_piece(p, b, again);
    return a->source != b->source &&
           (a->inode ? a->device == b->device && a->inode == b->inode : strcmp(first, again) == 0);
}

static void tell_copy(const struct pieces *p, const struct piece *a, const struct piece *b, const char *out)
{
    char first[2 * PATH_MAX], again[2 * PATH_MAX];
    name_piece(p, a, first);
    name_piece(p, b, again);
    note("%s has the same records as %s: %s has them twice", shown_db(again), shown_db(first), shown_db(out));
}

/* Of sets that have the same shards, the sets are named. */
static void drop_same_set(const struct pieces *p, struct piece *a, struct piece *b)
{
    if (a->source != b->source &&
        memcmp(apl_store_info(p->sources[a->source].store)->content_digest,
               apl_store_info(p->sources[b->source].store)->content_digest, 32) == 0)
        a->shard = b->shard = NULL;
}

static int refuse(const struct pieces *p, struct piece first_piece, struct piece again_piece)
{
    struct piece *a = &first_piece, *b = &again_piece;
    char first[2 * PATH_MAX], again[2 * PATH_MAX];
    drop_same_set(p, a, b);
    name_piece(p, a, first);
    name_piece(p, b, again);
    return strcmp(first, again) != 0
               ? failed("%s: is given twice, as it is %s", shown_db(again), shown_db(first))
           : !a->shard == !b->shard ? failed("%s: is given twice", shown_db(again))
                                    : failed("%s: is given twice, as it is in the set", shown_db(again));
}

/* The first of those that are alike, and come before this one. */
static size_t first_alike(const struct pieces *p, size_t i, size_t first)
{
    return memcmp(p->all[first].digest, p->all[i].digest, 32) == 0 ? first : i;
}

static int check_files(const struct pieces *p)
{
    for (size_t i = 1, first = 0; i < p->count; i++) {
        first = first_alike(p, i, first);
        for (size_t k = first; k < i; k++)
            if (is_same_file(p, &p->all[k], &p->all[i]))
                return refuse(p, p->all[k], p->all[i]);
    }
    return 0;
}

static void tell_copies(const struct pieces *p, const char *out)
{
    struct piece told = {.source = UINT_MAX};
    for (size_t i = 1, first = 0; i < p->count; i++) {
        first = first_alike(p, i, first);
        if (first == i)
            continue;
        struct piece a = p->all[first], b = p->all[i];
        drop_same_set(p, &a, &b);
        bool again = told.source == b.source && !told.shard && !b.shard; /* another of their shards */
        if (!again)
            tell_copy(p, &a, &b, out);
        told = b;
    }
}

int merge_check_twice(const struct copy *copy, const struct copy_source *sources, const char *const *paths,
                      unsigned count)
{
    struct pieces p = {sources, paths, NULL, 0};
    size_t most = 0;
    for (unsigned s = 0; s < count; s++)
        most += 1 + (size_t)apl_store_info(sources[s].store)->shards;
    p.all = calloc(most, sizeof *p.all);
    if (!p.all)
        return failed("out of memory");
    for (unsigned s = 0; s < count; s++) {
        const apl_shard *shard;
        unsigned i = 0;
        for (; (shard = apl_store_shard(sources[s].store, i)); i++)
            add_piece(&p, s, shard);
        if (i == 0)
            add_piece(&p, s, NULL);
    }
    qsort(p.all, p.count, sizeof *p.all, by_content);
    int status = check_files(&p);
    if (!status && !copy->quiet)
        tell_copies(&p, copy->path);
    free(p.all);
    return status;
}
