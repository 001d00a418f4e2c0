/* Which splits a split comes from, whether they still hold what it divides, and whether they are those that were opened before. */
#include "split.h"

#include <stdio.h>

/* The file that has the parent of `file` as one of its sides. APL_E_NOTFOUND: the parent is a split of the source, or
 * its file has been removed, or cannot be read: a file says all about its records without it. */
static apl_status read_parent(const apl_store *store, const struct split_file *file,
                              struct split_file *parent, enum split_side *side, apl_error *err)
{
    apl_error own;
    if (file->generation == 0 || apl_store_find_split(store, file->parent) >= 0)
        return APL_E_NOTFOUND;
    *side = SPLIT_PART;
    apl_status status = split_file_read(store, file->parent, parent, &own);
    if (status == APL_E_NOTFOUND) {
        *side = SPLIT_REST;
        status = split_find_rest(store, file->parent, NULL, parent, &own);
    }
    if (status == APL_E_NOMEM)
        return fail_nomem(err);
    return status == APL_OK ? APL_OK : APL_E_NOTFOUND;
}

/* Are the records that `file` divides those of that side? */
static bool divides(const struct split_file *file, const struct split_file *parent, enum split_side side)
{
    const struct bitset *all = &parent->tables[side];
    if (file->first != parent->first || file->tables[SPLIT_PART].count != all->count ||
        file->generation != parent->generation + 1 ||
        file->records[SPLIT_PART] + file->records[SPLIT_REST] != parent->records[side])
        return false;
    return bitset_count_both(all, &file->tables[SPLIT_PART]) == file->records[SPLIT_PART] &&
           bitset_count_both(all, &file->tables[SPLIT_REST]) == file->records[SPLIT_REST];
}

apl_status split_climb(const apl_store *store, const struct split_file *file, split_visit *visit,
                       void *context, apl_error *err)
{
    struct split_file above = {0}, next;
    const struct split_file *at = file;
    enum split_side side;
    apl_status status;
    bool on = true;
    while (on && (status = read_parent(store, at, &next, &side, err)) == APL_OK) {
        /* generations fall with each step, so that a circle of names ends */
        bool same = divides(at, &next, side);
        on = visit(context, &next, same) && same;
        split_file_free(&above);
        above = next;
        at = &above;
    }
    split_file_free(&above);
    return on && status == APL_E_NOMEM ? status : APL_OK;
}

#define REST_BYTES ((size_t)2 * APL_MAX_NAME + sizeof "-")

/* Does the source have a split by a name of the file, or by that of its parent, which was none of the source's? A store of the
 * same content may have been made again from a source that calls its splits otherwise. The name then means the source's split,
 * and the records that it used to mean are in none, as the rest still lacks them. Which of its names: in words; NULL: none. */
static const char *find_shadowed(const apl_store *store, const struct split_file *file, char name[REST_BYTES])
{
    snprintf(name, REST_BYTES, "%s-%s", file->parent, file->name);
    if (apl_store_find_split(store, name) >= 0)
        return "rest";
    snprintf(name, REST_BYTES, "%s", file->name);
    if (apl_store_find_split(store, name) >= 0)
        return "part";
    snprintf(name, REST_BYTES, "%s", file->parent);
    return file->generation > 0 && apl_store_find_split(store, name) >= 0 ? "parent" : NULL;
}

/* The first split on the way up that has been replaced, or has a name of the source's. */
struct lineage {
    const apl_store *store;
    bool replaced, shadowed;
    char file[REST_BYTES], name[REST_BYTES]; /* its, and that of the source */
};

static bool find_wrong(void *context, const struct split_file *file, bool same)
{
    struct lineage *l = context;
    l->replaced = !same;
    l->shadowed = same && find_shadowed(l->store, file, l->name);
    snprintf(l->file, sizeof l->file, "%s", file->name);
    return !l->shadowed;
}

apl_status split_check_parents(const apl_store *store, const struct split_file *file, char **replaced,
                               apl_error *err)
{
    char shown[4 * SPLIT_FILE_BYTES], from[256], name[256];
    struct lineage l = {.store = store};
    split_file_shown(file, shown);
    const char *shadowed = find_shadowed(store, file, l.name);
    printable(name, sizeof name, l.name, strlen(l.name));
    if (shadowed)
        return fail(err, APL_E_MISMATCH, "%s/%s: its %s %s has the name of a split of the source",
                    store->directory_name, shown, shadowed, name);
    TRY(split_climb(store, file, find_wrong, &l, err));
    printable(from, sizeof from, l.file, strlen(l.file));
    printable(name, sizeof name, l.name, strlen(l.name));
    if (l.shadowed)
        return fail(err, APL_E_MISMATCH,
                    "%s/%s: split %s, which it comes from, shares the name %s with a split of the source",
                    store->directory_name, shown, from, name);
    if (!l.replaced)
        return APL_OK;
    fail(err, APL_E_MISMATCH, "%s/%s: split %s, which it comes from, has been replaced since: make it again",
         store->directory_name, shown, from);
    if (replaced)
        *replaced = strdup(l.file);
    return APL_E_MISMATCH;
}

/* What says which records it divides, and how: not its name, and not how it is coded. */
static uint64_t hash_of(const struct split_file *file)
{
    return bitset_hash(&file->tables[SPLIT_REST], bitset_hash(&file->tables[SPLIT_PART], file->first));
}

/* Compares the files on the way up with what was opened of them before. */
struct recall {
    const apl_store *store;
    apl_status status;
    apl_error *err;
};

static bool recall(void *context, const struct split_file *file, bool same)
{
    struct recall *r = context;
    char shown[4 * SPLIT_FILE_BYTES];
    if (!same)
        return false;
    r->status = seen_check(r->store->seen, file->name, hash_of(file), r->err);
    split_file_shown(file, shown);
    if (r->status == APL_E_MISMATCH)
        fail(r->err, r->status,
             "%s/%s: it has other records than when this store first read it: open the store again",
             r->store->directory_name, shown);
    return r->status == APL_OK;
}

apl_status split_check_seen(const apl_store *store, const struct split_file *file, apl_error *err)
{
    struct recall r = {store, APL_OK, err};
    if (recall(&r, file, true))
        TRY(split_climb(store, file, recall, &r, err));
    return r.status;
}

void split_set_seen(const apl_store *store, const struct split_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        seen_renew(store->seen, set->files[i].name, hash_of(&set->files[i]));
}
