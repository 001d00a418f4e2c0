/* Splits by their names: see split.h. */
#include "split.h"

#include <stdio.h>

#define LIST_TEXT 128

/* "train, test": as many of the source's splits as there is room for. */
static const char *list_splits(const apl_store *store, char text[LIST_TEXT])
{
    char shown[64];
    size_t n = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < store->manifest.split_count; i++) {
        const char *name = store->splits[i].name, *comma = n ? ", " : "";
        printable(shown, sizeof shown, name, strlen(name));
        if (n + strlen(comma) + strlen(shown) >= LIST_TEXT - 8) { /* "..." must fit behind the next comma */
            snprintf(text + n, LIST_TEXT - n, "%s...", comma);
            break;
        }
        n += (size_t)snprintf(text + n, LIST_TEXT - n, "%s%s", comma, shown);
    }
    return text;
}

static apl_status not_found(const apl_store *store, const char *name, apl_error *err)
{
    char shown[256], list[LIST_TEXT];
    return fail(err, APL_E_NOTFOUND, "%s: has no split %s; the source's splits are %s", store->name,
                *name ? printable(shown, sizeof shown, name, strlen(name)) : "of an empty name",
                list_splits(store, list));
}

/* A rest is called PARENT-NAME, and names may hold '-' themselves: every place where its file's name can begin
 * is tried. */
apl_status split_find_rest(const apl_store *store, const char *name, const char *but, struct split_file *file,
                           apl_error *err)
{
    for (const char *dash = strchr(name, '-'); dash; dash = strchr(dash + 1, '-')) {
        if (but && strcmp(but, dash + 1) == 0)
            continue;
        apl_status status = split_file_read(store, dash + 1, file, err);
        if (status == APL_E_NOTFOUND)
            continue;
        if (status != APL_OK)
            return status;
        size_t parent = strlen(file->parent);
        if (parent == (size_t)(dash - name) && memcmp(file->parent, name, parent) == 0)
            return APL_OK;
        split_file_free(file);
    }
    return not_found(store, name, err);
}

static apl_status select_source(const apl_store *store, const char *name, struct selection *s, apl_error *err)
{
    int i = name ? apl_store_find_split(store, name) : 0;
    const apl_split *split = i >= 0 ? apl_store_split(store, (unsigned)i) : NULL; /* unreached: the same */
    if (!split) /* unreached: a store has records, and so a split; names have been looked up */
        return not_found(store, name ? name : "at all", err); /* unreached: see above */
    *s = (struct selection){
        .source = (unsigned)i, .first = split->first, .count = split->count, .records = split->count};
    return APL_OK;
}

/* Takes one of the file's tables over. */
static apl_status select_side(const apl_store *store, struct split_file *file, enum split_side side,
                              struct selection *s, apl_error *err)
{
    apl_status status = select_source(store, file->source, s, err);
    if (status == APL_OK) {
        s->records = file->records[side];
        s->generation = file->generation + 1;
        s->bits = file->tables[side];
        file->tables[side] = (struct bitset){0};
    }
    split_file_free(file);
    return status;
}

apl_status selection_open(const apl_store *store, const char *name, struct selection *s, apl_error *err)
{
    struct split_file file;
    if (!name || apl_store_find_split(store, name) >= 0)
        return select_source(store, name, s, err);
    apl_status status = split_file_read(store, name, &file, err);
    if (status == APL_OK)
        return select_side(store, &file, SPLIT_PART, s, err);
    if (status == APL_E_NOTFOUND)
        status = split_find_rest(store, name, NULL, &file, err);
    return status == APL_OK ? select_side(store, &file, SPLIT_REST, s, err) : status;
}

void selection_close(struct selection *s)
{
    bitset_free(&s->bits);
    *s = (struct selection){0};
}

apl_status split_field(const apl_store *store, const char *name, unsigned *field, apl_error *err)
{
    TRY(store_find_field(store, name, field, err));
    const apl_field *is = apl_store_field(store, *field);
    bool whole = (is->dtype >= APL_U8 && is->dtype <= APL_I64) || is->dtype == APL_BOOL;
    if (is->role != APL_TARGET || is->ndim != 0 || !whole)
        return fail(err, APL_E_INVALID,
                    "%s: field %s is not a scalar integer target: splits cannot be stratified by it",
                    store->name, is->name);
    return APL_OK;
}
