/* Making splits, and making sure of them. */
#include "split.h"

#include <math.h>

static char *copy(const char *text)
{
    return strdup(text ? text : "");
}

static apl_status check_options(const apl_store *store, const apl_split_options *o, apl_error *err)
{
    char shown[256];
    if (!store || !o || o->size < sizeof *o)
        return fail(err, APL_E_INVALID, "apl_split_make: start from APL_SPLIT_OPTIONS_INIT");
    if (!o->name)
        return fail(err, APL_E_INVALID, "a split needs a name");
    printable(shown, sizeof shown, o->name, strlen(o->name));
    if (!split_name_ok(o->name))
        return fail(err, APL_E_INVALID,
                    "a split cannot be called '%s': names have 1 to %d bytes, no '/' and no '.' in front",
                    shown, SPLIT_MAX_NAME);
    if (!(o->ratio > 0 && o->ratio < 1))
        return fail(err, APL_E_INVALID, "split %s: a ratio of %g: it must be between 0 and 1", shown,
                    o->ratio);
    return APL_OK;
}

/* Is there nothing yet that `name` could mean, but for the file `own`? */
static apl_status check_free(const apl_store *store, const char *name, const char *own, apl_error *err)
{
    struct split_file other;
    char shown[256];
    printable(shown, sizeof shown, name, strlen(name));
    if (apl_store_find_split(store, name) >= 0)
        return fail(err, APL_E_INVALID, "%s: the source has a split %s already", store->name, shown);
    apl_status status = strcmp(name, own) != 0 ? split_file_read(store, name, &other, NULL) : APL_E_NOTFOUND;
    if (status == APL_OK) {
        split_file_free(&other);
        return fail(err, APL_E_INVALID, "%s: there is a split %s already", store->name, shown);
    }
    /* files that cannot be read leave no rest that a name could mean */
    if (split_find_rest(store, name, own, &other, NULL) != APL_OK)
        return APL_OK;
    fail(err, APL_E_INVALID, "%s: %s is what split %s leaves already", store->name, shown, other.name);
    split_file_free(&other);
    return APL_E_INVALID;
}

static apl_status check_names(const apl_store *store, const struct split_file *file, apl_error *err)
{
    char *rest = split_rest_name(file);
    if (!rest)
        return fail_nomem(err);
    apl_status status = check_free(store, file->name, file->name, err);
    if (status == APL_OK && strlen(rest) > APL_MAX_NAME)
        status = fail(err, APL_E_INVALID, "%s: split %s: the name of the rest, PARENT-NAME, is too long",
                      store->name, file->name);
    if (status == APL_OK)
        status = check_free(store, rest, file->name, err);
    free(rest);
    return status;
}

static apl_status make_tables(struct split_file *file, uint64_t count, apl_error *err)
{
    TRY(marks_init(&file->tables[SPLIT_PART], count, err));
    return marks_init(&file->tables[SPLIT_REST], count, err);
}

/* The head of the file, as asked for. */
static apl_status describe(const apl_store *store, const apl_split_options *o, const char *parent_name,
                           const struct selection *parent, struct split_file *file, apl_error *err)
{
    *file = (struct split_file){.name = copy(o->name),
                                .parent = copy(parent_name),
                                .source = copy(store->splits[parent->source].name),
                                .stratify = copy(o->stratify),
                                .rule = o->stratify && *o->stratify ? SPLIT_STRATIFIED : SPLIT_HASH,
                                .ratio = (uint64_t)ldexp(o->ratio, 64),
                                .seed = o->seed,
                                .generation = parent->generation,
                                .first = parent->first};
    memcpy(file->content, store->manifest.info.content_digest, sizeof file->content);
    if (!file->name || !file->parent || !file->source || !file->stratify)
        return fail_nomem(err);
    return make_tables(file, parent->count, err);
}

static const char *default_parent(const apl_store *store)
{
    return apl_store_find_split(store, "train") < 0 && store->manifest.split_count ? store->splits[0].name
                                                                                   : "train";
}

apl_status apl_split_make(apl_store *store, const apl_split_options *o, apl_error *err)
{
    apl_error own;
    err = err ? err : &own;
    TRY(check_options(store, o, err));
    const char *parent_name = o->parent ? o->parent : default_parent(store);
    struct selection parent;
    TRY(selection_open(store, parent_name, &parent, err));
    struct split_file file;
    apl_status status;
    GUARD(describe(store, o, parent_name, &parent, &file, err));
    GUARD(check_names(store, &file, err));
    GUARD(split_divide(store, &parent, o->threads, &file, err));
    GUARD(split_file_write(store, &file, o->replace, err));
out:
    split_file_free(&file);
    selection_close(&parent);
    return status;
}

/* ------------------------------------------------------------------------------------------- verifying */

/* The records that the file divides: both its tables. */
static apl_status both_sides(const apl_store *store, const struct split_file *file, struct selection *parent,
                             apl_error *err)
{
    TRY(selection_open(store, file->source, parent, err));
    TRY(marks_init(&parent->marks, parent->count, err));
    parent->records = file->records[SPLIT_PART] + file->records[SPLIT_REST];
    for (uint64_t i = 0; i < parent->count; i++)
        if (marks_test(&file->tables[SPLIT_PART], i) || marks_test(&file->tables[SPLIT_REST], i))
            marks_set(&parent->marks, i);
    return APL_OK;
}

/* Does the parent, if it is still there, hold what it held? */
static apl_status check_parent(const apl_store *store, const struct split_file *file,
                               const struct selection *sides, apl_error *err)
{
    struct selection parent;
    apl_status status = selection_open(store, file->parent, &parent, err);
    if (status != APL_OK)
        return status == APL_E_NOTFOUND ? APL_OK : status;
    bool same = parent.first == sides->first && parent.records == sides->records;
    for (uint64_t i = 0; same && i < sides->count; i++)
        same = marks_test(&sides->marks, i) == selection_has(&parent, sides->first + i);
    selection_close(&parent);
    return same ? APL_OK
                : fail(err, APL_E_MISMATCH, "%s/%s%s: its parent has been made anew since",
                       store->directory_name, file->name, SPLIT_SUFFIX);
}

static apl_status compare(const apl_store *store, const struct split_file *is, const struct split_file *due,
                          apl_error *err)
{
    for (uint64_t i = 0; i < is->tables[SPLIT_PART].count; i++)
        if (marks_test(&is->tables[SPLIT_PART], i) != marks_test(&due->tables[SPLIT_PART], i))
            return fail_records(err,
                                fail(err, APL_E_CORRUPT, "%s/%s%s: record %llu is on the wrong side",
                                     store->directory_name, is->name, SPLIT_SUFFIX,
                                     (unsigned long long)(is->first + i)),
                                is->first + i, 1);
    return APL_OK;
}

apl_status apl_split_verify(apl_store *store, const char *name, unsigned threads, apl_error *err)
{
    apl_error own;
    err = err ? err : &own;
    if (!store || !name)
        return fail(err, APL_E_INVALID, "apl_split_verify: store or name is NULL");
    struct split_file is;
    TRY(split_file_read(store, name, &is, err));
    struct split_file due = {.stratify = is.stratify,
                             .rule = is.rule,
                             .ratio = is.ratio,
                             .seed = is.seed,
                             .generation = is.generation};
    struct selection parent = {0};
    apl_status status;
    GUARD(make_tables(&due, is.tables[SPLIT_PART].count, err));
    GUARD(both_sides(store, &is, &parent, err));
    GUARD(split_divide(store, &parent, threads, &due, err));
    GUARD(compare(store, &is, &due, err));
    GUARD(check_parent(store, &is, &parent, err));
out:
    due.stratify = NULL;
    split_file_free(&due);
    split_file_free(&is);
    selection_close(&parent);
    return status;
}
