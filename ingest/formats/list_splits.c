/* Which splits a list has: see list_splits.h. */
#include "list_splits.h"

#include "file_name.h"
#include "split_note.h"

#include <stdlib.h>
#include <string.h>

const char *list_split_of_file(const struct list_columns *l, size_t file, uint32_t *rank)
{
    const struct path_split is = split_of_path(l->host->files[file].below);
    *rank = is.rank;
    return is.split;
}

static apl_status add_split(struct list_splits *s, const struct list_columns *l, const char *name,
                            uint32_t rank, apl_error *err)
{
    for (unsigned i = 0; i < s->count; i++)
        if (strcmp(s->split[i].name, name) == 0)
            return APL_OK;
    if (s->count == LIST_SPLITS)
        return fail(err, APL_E_UNSUPPORTED, "%s: has more than %u splits", l->host->source, LIST_SPLITS);
    struct list_split *new = &s->split[s->count++];
    size_t length = strlen(name);
    if (length > APL_MAX_NAME)
        return fail(err, APL_E_SOURCE, "%s: a split has a name of more than %d bytes", l->host->source,
                    APL_MAX_NAME);
    memcpy(new->name, name, length + 1);
    new->rank = rank;
    return APL_OK;
}

static int by_rank(const void *a, const void *b)
{
    const struct list_split *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank) : strcmp(x->name, y->name);
}

/* By the column of that name, or by the paths of the files. Known ones come first: train, then the others. */
apl_status list_splits_find(struct list_splits *s, const struct list_columns *l, apl_error *err)
{
    size_t count = 0;
    struct file_name n;
    struct split_note note = {0};
    if (l->split >= 0) {
        const char *const *names = name_set_names(l->columns[l->split].names, &count);
        for (size_t i = 0; i < count; i++) {
            bool known = file_name_read(&n, names[i]) && n.split && n.count == 0;
            TRY(add_split(s, l, names[i], known ? n.split_rank : UINT32_MAX, err));
        }
    }
    for (size_t i = 0; l->split < 0 && i < l->host->file_count; i++) {
        const struct path_split is = split_of_path(l->host->files[i].below);
        TRY(add_split(s, l, is.split, is.rank, err));
        split_note_take(&note, l->host->files[i].path, &is);
    }
    split_note_tell(&note, l->host);
    qsort(s->split, s->count, sizeof *s->split, by_rank);
    return APL_OK;
}

static struct list_split *find_list_split(struct list_splits *s, const char *name)
{
    for (unsigned i = 0; i < s->count; i++)
        if (strcmp(s->split[i].name, name) == 0)
            return &s->split[i];
    return NULL;
}

/* That of the current row. Bad rows may have none, and are of the first. */
static apl_status split_of_row(const struct list_splits *s, const struct list_columns *l, struct list_file *f,
                               struct cell *cell, apl_error *err)
{
    bool bad = rows_fault(f->rows);
    if (!bad)
        TRY(list_cell(l, f, (unsigned)l->split, cell, err));
    if (bad || split_cells_lacks(&l->columns[l->split].splits, cell))
        cell->text = s->split[0].name;
    return APL_OK;
}

static apl_status count_file(struct list_splits *s, const struct list_columns *l, size_t file, apl_error *err)
{
    struct list_file f;
    struct cell cell;
    apl_status status = list_begin(l, file, &f, err);
    while (status == APL_OK && (status = list_next(l, &f, err)) == APL_OK) {
        status = split_of_row(s, l, &f, &cell, err);
        if (status != APL_OK)
            break;
        struct list_split *split = find_list_split(s, cell.text);
        if (split)
            split->rows++;
    }
    return list_end(l, &f, status, err);
}

apl_status list_splits_count(struct list_splits *s, const struct list_columns *l, apl_error *err)
{
    for (size_t i = 0; i < l->host->file_count; i++) {
        uint32_t rank;
        if (l->split >= 0)
            TRY(count_file(s, l, i, err));
        else
            find_list_split(s, list_split_of_file(l, i, &rank))->rows += l->file_rows[i];
    }
    return APL_OK;
}

apl_status list_split_word(const struct list_columns *l, struct list_file *f, size_t file, const char **split,
                           apl_error *err)
{
    uint32_t rank;
    struct cell cell;
    *split = l->split < 0 ? list_split_of_file(l, file, &rank) : NULL;
    if (*split)
        return APL_OK;
    TRY(list_cell(l, f, (unsigned)l->split, &cell, err));
    *split = split_of_word(cell.text, cell.length, &rank);
    return APL_OK;
}

apl_status list_split_has(const struct list_splits *s, const struct list_columns *l, struct list_file *f,
                          const char *split, bool *is, apl_error *err)
{
    struct cell cell;
    *is = true;
    if (l->split < 0)
        return APL_OK;
    TRY(split_of_row(s, l, f, &cell, err));
    *is = strcmp(cell.text, split) == 0;
    return APL_OK;
}
