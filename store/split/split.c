/* Splits by their names: see split.h. */
#include "split.h"

static apl_status select_source(const apl_store *store, const char *name, struct selection *s, apl_error *err)
{
    int i = name ? apl_store_find_split(store, name) : 0;
    const apl_split *split = i >= 0 ? apl_store_split(store, (unsigned)i) : NULL; /* unreached: the same */
    if (!split) /* unreached: a store has records, and so a split; names have been looked up */
        return split_not_found(store, name ? name : "at all", err); /* unreached: see above */
    *s = (struct selection){
        .source = (unsigned)i, .first = split->first, .count = split->count, .records = split->count};
    return APL_OK;
}

/* Takes one of the file's tables over. */
static apl_status select_side(const apl_store *store, struct split_file *file, enum split_side side,
                              struct selection *s, apl_error *err)
{
    apl_status status = split_check_parents(store, file, NULL, err);
    if (status == APL_OK)
        status = split_check_seen(store, file, err);
    if (status == APL_OK)
        status = select_source(store, file->source, s, err);
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
