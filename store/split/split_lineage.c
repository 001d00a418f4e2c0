/* Which splits a split comes from, and whether they still hold what it divides. */
#include "split.h"

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

/* Remembers the first file that has been replaced. */
static bool find_replaced(void *context, const struct split_file *file, bool same)
{
    char **name = context;
    if (!same)
        *name = strdup(file->name);
    return true;
}

apl_status split_check_parents(const apl_store *store, const struct split_file *file, char **replaced,
                               apl_error *err)
{
    char *name = NULL, shown[4 * SPLIT_FILE_BYTES], made[256];
    TRY(split_climb(store, file, find_replaced, &name, err));
    if (!name)
        return APL_OK;
    split_file_shown(file, shown);
    fail(err, APL_E_MISMATCH, "%s/%s: split %s, which it comes from, has been replaced since: make it again",
         store->directory_name, shown, printable(made, sizeof made, name, strlen(name)));
    if (replaced)
        *replaced = name;
    else
        free(name);
    return APL_E_MISMATCH;
}
