/* Splits that divide the same records: see siblings.h. */
#include "siblings.h"
#include "inputs.h"
#include "store_splits.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PARTS 100 /* if one part of a division shares records with another split, most do */

struct finder {
    apl_store *store;
    const apl_split_list *files;
    const char *const *names;
    size_t count, room;
    struct siblings_list *found;
};

static bool is_side(const apl_split_file *f, const char *name)
{
    return strcmp(f->name, name) == 0 || strcmp(f->rest, name) == 0;
}

static bool is_wanted(const struct finder *s, const apl_split_file *f)
{
    for (size_t i = 0; i < s->count; i++)
        if (is_side(f, s->names[i]))
            return true;
    return s->count == 0;
}

/* The file that the parent of `f` is a side of; NULL: the parent is a split of the source, or its file is gone. */
static const apl_split_file *parent_of(const struct finder *s, const apl_split_file *f)
{
    const apl_split_file *g;
    if (apl_store_find_split(s->store, f->parent) >= 0)
        return NULL;
    for (size_t i = 0; (g = apl_split_list_file(s->files, i)); i++)
        if (g->status == APL_OK && is_side(g, f->parent))
            return g;
    return NULL;
}

/* Are they one file, or parts of one division into many? */
static bool is_same(const apl_split_file *a, const apl_split_file *b)
{
    return a == b || (a->parts && a->parts == b->parts && strcmp(a->parent, b->parent) == 0);
}

/* Does `f` come from `from`, or from another part of its division? What is made of the rests of several folds may well
 * overlap. A file whose parents do not fit it is not in the list as one that can be used, so that there are no circles. */
static bool comes_from(const struct finder *s, const apl_split_file *f, const apl_split_file *from)
{
    while (f && !is_same(f, from))
        f = parent_of(s, f);
    return f != NULL;
}

/* How many records two splits have in common. */
static apl_status count_common(apl_store *store, const char *a, const char *b, uint64_t *n, apl_error *err)
{
    struct split_ids x = {NULL, 0}, y = {NULL, 0};
    apl_status status = splits_ids(store, a, &x, err);
    if (status == APL_OK)
        status = splits_ids(store, b, &y, err);
    if (status == APL_OK)
        *n = splits_common(&x, &y);
    free(x.ids);
    free(y.ids);
    return status;
}

static apl_status add(struct finder *s, const apl_split_file *a, const apl_split_file *b, const char *shares,
                      apl_error *err)
{
    struct siblings_list *found = s->found;
    if (found->count == s->room) {
        struct siblings *larger = realloc(found->list, (s->room = 2 * s->room + 16) * sizeof *larger);
        if (!larger)
            return inputs_no_memory(err);
        found->list = larger;
    }
    found->list[found->count++] = (struct siblings){a, b, shares};
    return APL_OK;
}

/* Both divide the records of one parent. Where their parts share none, the rest of one has those of the other's. */
static apl_status add_siblings(struct finder *s, const apl_split_file *a, const apl_split_file *b,
                               apl_error *err)
{
    uint64_t shared = 0;
    apl_status status = count_common(s->store, a->name, b->name, &shared, err);
    if (status != APL_OK || (shared == 0 && (a->parts || b->parts || b->records == 0)))
        return status;
    return add(s, a, b, shared ? a->name : a->rest, err);
}

/* The file that `orphan` comes from is gone: does it divide records on both sides of `f`? */
static apl_status add_orphan(struct finder *s, const apl_split_file *f, const apl_split_file *orphan,
                             apl_error *err)
{
    uint64_t part = 0, rest = 0;
    apl_status status = count_common(s->store, f->name, orphan->name, &part, err);
    if (status == APL_OK)
        status = count_common(s->store, f->name, orphan->rest, &rest, err);
    if (status != APL_OK || part == 0 || part + rest == orphan->records + orphan->rest_records)
        return status;
    return add(s, f, orphan, f->name, err);
}

static bool is_orphan(const struct finder *s, const apl_split_file *f)
{
    return apl_store_find_split(s->store, f->parent) < 0 && !parent_of(s, f);
}

static apl_status compare(struct finder *s, const apl_split_file *a, const apl_split_file *b, apl_error *err)
{
    if (strcmp(a->source, b->source) != 0 || (a->parts && b->parts) || !(is_wanted(s, a) || is_wanted(s, b)))
        return APL_OK;
    if (strcmp(a->parent, b->parent) == 0)
        return add_siblings(s, a, b, err);
    if (is_orphan(s, b) && !comes_from(s, a, b))
        return add_orphan(s, a, b, err);
    return is_orphan(s, a) && !comes_from(s, b, a) ? add_orphan(s, b, a, err) : APL_OK;
}

static bool is_looked_at(const apl_split_file *f)
{
    return f->status == APL_OK && f->part < MOST_PARTS;
}

apl_status siblings_find(apl_store *store, const apl_split_list *files, const char *const *names,
                         size_t count, struct siblings_list *found, apl_error *err)
{
    struct finder s = {.store = store, .files = files, .names = names, .count = count, .found = found};
    const apl_split_file *a, *b;
    apl_status status = APL_OK;
    *found = (struct siblings_list){NULL, 0};
    for (size_t i = 0; (a = apl_split_list_file(files, i)); i++)
        for (size_t k = i + 1; is_looked_at(a) && (b = apl_split_list_file(files, k)); k++)
            if (status == APL_OK && is_looked_at(b))
                status = compare(&s, a, b, err);
    return status;
}
