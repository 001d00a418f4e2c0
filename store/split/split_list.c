/* Telling of splits: which files there are, and which records they hold. */
#include "split.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

/* --------------------------------------------------------------------------------------------- listing */

struct listed {
    apl_split_file file;
    char *name, *rest, *parent, *source, *stratify, *group, *replaced, list[SET_KEPT_BYTES];
    apl_error error;
};

struct apl_split_list {
    struct listed *files;
    size_t count;
};

static char *take_text(char **text)
{
    char *taken = *text;
    *text = NULL;
    return taken;
}

/* Reads a file that can be used; the status is of the call, that of the file is in l->file. */
static apl_status read_listed(const apl_store *store, struct listed *l, struct split_file *f, apl_error *err)
{
    l->file.status = split_file_read(store, l->name, f, &l->error);
    if (l->file.status == APL_OK)
        l->file.status = split_check_parents(store, f, &l->replaced, &l->error);
    l->file.replaced = l->replaced;
    return l->file.status == APL_E_NOMEM ? fail_nomem(err) : APL_OK;
}

/* Tells what the file is; or, if it cannot be used, why. */
static apl_status fill_listed(const apl_store *store, struct listed *l, apl_error *err)
{
    struct split_file f = {0};
    apl_status status = read_listed(store, l, &f, err);
    if (l->file.status != APL_OK)
        split_file_free(&f);
    TRY(status);
    if (l->file.status == APL_E_MISMATCH && split_list_of(store, l->name, l->list))
        l->file.list = l->list;
    if (l->file.status != APL_OK)
        return APL_OK;
    l->rest = split_rest_name(&f);
    l->parent = take_text(&f.parent);
    l->source = take_text(&f.source);
    l->stratify = take_text(&f.stratify);
    l->group = take_text(&f.group);
    l->file.rest = l->rest;
    l->file.parent = l->parent;
    l->file.source = l->source;
    l->file.stratify = split_by_class(&f) ? l->stratify : NULL;
    l->file.by = (apl_split_by)f.by;
    l->file.group = f.by == SPLIT_BY_GROUP ? l->group : NULL;
    l->file.ratio = split_in_parts(&f) ? 1.0 / f.parts : ldexp((double)f.ratio, -64);
    l->file.part = f.number;
    l->file.parts = f.parts;
    l->file.concentration = (double)f.concentration / (double)SPLIT_UNIT;
    l->file.seed = f.seed;
    l->file.records = f.records[SPLIT_PART];
    l->file.rest_records = f.records[SPLIT_REST];
    split_file_free(&f);
    return l->rest ? APL_OK : fail_nomem(err);
}

static apl_status add_listed(apl_split_list *list, const char *name, apl_error *err)
{
    struct listed *files = realloc(list->files, (list->count + 1) * sizeof *files);
    if (!files)
        return fail_nomem(err);
    list->files = files;
    files[list->count] = (struct listed){.name = strdup(name)};
    return files[list->count++].name ? APL_OK : fail_nomem(err);
}

/* Is it the name of a split's file, with that end? */
static bool take_name(const char *file, const char *end, char name[SPLIT_MAX_NAME + 1])
{
    size_t n = strlen(file), suffix = strlen(end);
    if (n <= suffix || n - suffix > SPLIT_MAX_NAME || strcmp(file + n - suffix, end) != 0)
        return false;
    memcpy(name, file, n - suffix);
    name[n - suffix] = 0;
    return split_name_ok(name);
}

/* Does the file, NAME.split or NAME.split-DIGEST, belong to a list that is gone? NAME.split counts if a file beside it
 * is used instead: otherwise it is listed as the file of another store. */
static bool is_left(const apl_store *store, const char *file, char name[SPLIT_MAX_NAME + 1])
{
    char plain[SPLIT_FILE_BYTES], apart[SPLIT_FILE_BYTES];
    size_t n = strlen(file);
    if (take_name(file, SPLIT_SUFFIX, name)) {
        split_file_name(name, store->manifest.info.content_digest, apart);
        return faccessat(store->directory, apart, F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
               split_is_left(store, file, name);
    }
    if (n <= SPLIT_DIGEST_END || n >= sizeof plain || file[n - SPLIT_DIGEST_END] != '-')
        return false;
    memcpy(plain, file, n - SPLIT_DIGEST_END);
    plain[n - SPLIT_DIGEST_END] = 0;
    return take_name(plain, SPLIT_SUFFIX, name) && split_is_left(store, file, name);
}

static apl_status add_left(const apl_store *store, apl_split_list *list, const char *file, apl_error *err)
{
    char name[SPLIT_MAX_NAME + 1], shown[4 * SPLIT_FILE_BYTES];
    if (!store->set || store->splits_apart || !is_left(store, file, name))
        return APL_OK;
    TRY(add_listed(list, name, err));
    struct listed *l = &list->files[list->count - 1];
    l->file.status = fail(&l->error, APL_E_MISMATCH, "%s/%s: it belongs to a list that the set no longer has",
                          store->directory_name, printable(shown, sizeof shown, file, strlen(file)));
    return APL_OK;
}

/* Adds each file that can be a split of the store. */
static apl_status add_used(const apl_store *store, apl_split_list *list, const char *file, apl_error *err)
{
    char name[SPLIT_MAX_NAME + 1], apart[SPLIT_FILE_BYTES];
    split_file_name("", store->manifest.info.content_digest, apart);
    return take_name(file, SPLIT_SUFFIX, name) || (store->set && take_name(file, apart, name))
               ? add_listed(list, name, err)
               : APL_OK;
}

typedef apl_status add_fn(const apl_store *store, apl_split_list *list, const char *file, apl_error *err);

static apl_status scan(const apl_store *store, add_fn *add, apl_split_list *list, apl_error *err)
{
    if (store->directory < 0)
        return APL_OK; /* a store elsewhere, whose directory cannot be listed */
    int fd = openat(store->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    apl_status status = APL_OK;
    if (!dir) {
        status = fail_errno(err, errno, "%s: cannot list the directory", store->directory_name);
        if (fd >= 0)
            close(fd);
        return status;
    }
    for (struct dirent *e; status == APL_OK && (e = readdir(dir));)
        status = add(store, list, e->d_name, err);
    closedir(dir);
    return status;
}

static int by_split_name(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->error.message, y->error.message);
}

/* A split may have two files: another list's, and its own. */
static void drop_doubled(apl_split_list *list)
{
    size_t n = 0;
    for (size_t i = 0; i < list->count; i++)
        if (n && strcmp(list->files[i].name, list->files[n - 1].name) == 0)
            free(list->files[i].name);
        else
            list->files[n++] = list->files[i];
    list->count = n;
}

/* Lists the files in use, one of each name, or those that are left of lists that are gone. */
static apl_status list_files(const apl_store *store, bool used, apl_split_list *list, apl_error *err)
{
    TRY(scan(store, used ? add_used : add_left, list, err));
    if (list->count)
        qsort(list->files, list->count, sizeof *list->files, by_split_name);
    if (used)
        drop_doubled(list);
    for (size_t i = 0; i < list->count; i++) {
        struct listed *l = &list->files[i];
        if (used)
            TRY(fill_listed(store, l, err));
        l->file.name = l->name;
        l->file.message = l->file.status == APL_OK ? "" : l->error.message;
    }
    return APL_OK;
}

static apl_status open_split_list(const apl_store *store, bool used, apl_split_list **list, apl_error *err)
{
    apl_split_list *l = calloc(1, sizeof *l);
    apl_status status = l ? list_files(store, used, l, err) : fail_nomem(err);
    if (status == APL_OK)
        *list = l;
    else
        apl_split_list_close(l);
    return status;
}

apl_status apl_split_list_open(apl_store *store, apl_split_list **list, apl_error *err)
{
    if (!store || !list)
        return fail(err, APL_E_INVALID, "apl_split_list_open: store or list is NULL");
    return open_split_list(store, true, list, err);
}

apl_status apl_split_list_left(apl_store *store, apl_split_list **list, apl_error *err)
{
    if (!store || !list)
        return fail(err, APL_E_INVALID, "apl_split_list_left: store or list is NULL");
    return open_split_list(store, false, list, err);
}

void apl_split_list_close(apl_split_list *list)
{
    for (size_t i = 0; list && i < list->count; i++) {
        struct listed *l = &list->files[i];
        free(l->name);
        free(l->rest);
        free(l->parent);
        free(l->source);
        free(l->stratify);
        free(l->group);
        free(l->replaced);
    }
    if (list)
        free(list->files);
    free(list);
}

const apl_split_file *apl_split_list_file(const apl_split_list *list, size_t i)
{
    return list && i < list->count ? &list->files[i].file : NULL;
}

/* --------------------------------------------------------------------------------------------- records */

apl_status apl_split_ids(apl_store *store, const char *name, uint64_t *ids, uint64_t *count, apl_error *err)
{
    apl_error own;
    err = err ? err : &own;
    if (!store || !count)
        return fail(err, APL_E_INVALID, "apl_split_ids: store or count is NULL");
    struct selection s;
    TRY(selection_open(store, name, &s, err));
    uint64_t room = *count, n = 0;
    apl_status status = APL_OK;
    *count = s.records;
    if (ids && room < s.records)
        status = fail(err, APL_E_INVALID, "the split has %s, not %llu",
                      number_of(s.records, "record", "records"), (unsigned long long)room);
    else
        for (uint64_t i = 0; ids && i < s.count; i++)
            if (selection_has(&s, s.first + i))
                ids[n++] = s.first + i;
    selection_close(&s);
    return status;
}

/* Adds up the classes of the records of one block that are selected. */
static apl_status count_block(const apl_store *store, struct block_coder *bc, const struct selection *s,
                              uint64_t number, unsigned field, uint64_t *counts, apl_error *err)
{
    const struct schema *schema = &store->manifest.schema;
    const apl_field *f = &schema->fields[field];
    struct raw_column column = {0};
    struct block_view view;
    uint64_t first;
    uint32_t count;
    TRY(store_block(store, number, bc, &view, err));
    manifest_block_ids(&store->manifest, number, &first, &count);
    apl_status status = block_decode_column(bc, schema, &view, field, false, &column, err);
    for (uint32_t i = 0; status == APL_OK && i < count; i++) {
        uint64_t cls = load_le(column.values.data + i * f->value_bytes, (unsigned)f->value_bytes);
        if (!selection_has(s, first + i))
            continue;
        if (cls < f->class_count)
            counts[cls]++;
        else
            status = fail(err, APL_E_CORRUPT, "record %llu has no class of field %s",
                          (unsigned long long)(first + i), f->name);
    }
    raw_column_free(&column);
    return status == APL_OK ? APL_OK : store_block_error(store, number, status, err);
}

apl_status apl_split_class_counts(apl_store *store, const char *name, unsigned field, uint64_t *counts,
                                  apl_error *err)
{
    apl_error own;
    err = err ? err : &own;
    if (!store || !counts)
        return fail(err, APL_E_INVALID, "apl_split_class_counts: store or counts is NULL");
    const apl_field *f = apl_store_field(store, field);
    if (!f || f->class_count == 0)
        return fail(err, APL_E_INVALID, "%s: field %u has no classes", store->name, field);
    struct selection s;
    TRY(selection_open(store, name, &s, err));
    struct block_coder bc = {0};
    apl_status status = block_coder_init(&bc, err);
    memset(counts, 0, (size_t)f->class_count * sizeof *counts);
    if (s.count && status == APL_OK) {
        uint64_t from = manifest_block_of(&store->manifest, s.first),
                 to = manifest_block_of(&store->manifest, s.first + s.count - 1);
        for (uint64_t b = from; b <= to && status == APL_OK; b++)
            status = count_block(store, &bc, &s, b, field, counts, err);
    }
    block_coder_free(&bc);
    selection_close(&s);
    return status;
}
