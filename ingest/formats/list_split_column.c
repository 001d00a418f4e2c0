/* Which column names the splits of rows: see list_split_column.h. */
#include "list_split_column.h"

#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

static void tell_of_field(const struct list_columns *l, const struct column *c, const char *why)
{
    char text[APL_MAX_NAME + 256];
    snprintf(text, sizeof text, "column %s becomes a field, and names no splits: %s", c->name, why);
    l->host->notice(l->host->user, "", text);
}

/* Why its cells are no names of splits; NULL: they are. */
static const char *why_no_splits(const struct list_columns *l, const struct column *c)
{
    size_t count = 0;
    if (c->kinds[CELL_TEXT] == 0 || c->kinds[CELL_TEXT] + c->kinds[CELL_NONE] < l->rows || c->nested_row)
        return "its cells are not all words, such as train and test";
    if (c->unnamed_row)
        return "a name has at most 255 bytes of printable UTF-8";
    if (c->names)
        name_set_names(c->names, &count);
    return count > LIST_SPLITS || !c->names ? "a table has at most 64 splits"
           : count == 0                     ? "all of its cells are empty"
                                            : NULL;
}

/* To whichever split the row belongs, it would be the wrong one. */
static apl_status check_empty_cells(const struct list_columns *l, const struct column *c, apl_error *err)
{
    if (c->empty_row == 0 || l->host->options->skip_bad > 0)
        return APL_OK;
    return fail(err, APL_E_SOURCE,
                "%s: row %" PRIu64 ", column %s: is empty, and names no split: --skip-bad N (skip_bad=N in "
                "Python) leaves out such rows, --type %s=utf8 makes the column a field",
                c->empty_file, c->empty_row, c->name, c->name);
}

/* Whether a column of another case is meant to name splits is for the caller to say. */
static void tell_of_case(const struct list_columns *l)
{
    for (unsigned i = 0; i < l->count; i++) {
        const struct column *c = &l->columns[i];
        if (strcasecmp(c->name, "split") == 0 && !c->given && (int)i != l->label && list_image_of(l, i) < 0)
            tell_of_field(l, c, "only one called split, in lower case, does");
    }
}

/* ------------------------------------------------------------------------------------------ names that are alike */

/* The name in lower case, without blanks at its ends. */
static void plain_name(const char *name, char plain[APL_MAX_NAME + 1])
{
    size_t length = strlen(name);
    while (*name == ' ')
        name++, length--;
    while (length > 0 && name[length - 1] == ' ')
        length--;
    for (size_t i = 0; i < length; i++)
        plain[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
    plain[length] = 0;
}

static bool are_alike(const char *a, const char *b)
{
    char x[APL_MAX_NAME + 1], y[APL_MAX_NAME + 1];
    plain_name(a, x);
    plain_name(b, y);
    return strcmp(x, y) == 0;
}

static bool is_plain_split(const char *name)
{
    char plain[APL_MAX_NAME + 1];
    plain_name(name, plain);
    return strcmp(name, plain) == 0;
}

/* The first row of a file that has the name; *row stays 0 if none has. */
static apl_status find_split_row(const struct list_columns *l, size_t file, const char *name, uint64_t *row,
                                 apl_error *err)
{
    struct list_file f;
    struct cell cell;
    apl_status status = list_begin(l, file, &f, err);
    while (status == APL_OK && *row == 0 && (status = list_next(l, &f, err)) == APL_OK) {
        if (rows_fault(f.rows))
            continue;
        status = list_cell(l, &f, (unsigned)l->split, &cell, err);
        if (status == APL_OK && strcmp(cell.text, name) == 0)
            *row = rows_number(f.rows);
    }
    return list_end(l, &f, status, err);
}

static apl_status refuse_name(const struct list_columns *l, const char *odd, const char *other,
                              apl_error *err)
{
    uint64_t row = 0;
    size_t file = 0;
    for (; file < l->host->file_count && row == 0; file++)
        TRY(find_split_row(l, file, odd, &row, err));
    return fail(err, APL_E_SOURCE,
                "%s: row %" PRIu64 ", column split: '%s' differs from the split '%s' only in case or blanks: "
                "spell them alike, or --type split=utf8 makes the column a field",
                l->host->files[file - 1].path, row, odd, other);
}

/* Such as Train among train: hardly a split of its own, and its records would be missing in the other. */
static apl_status check_alike(const struct list_columns *l, const struct column *c, apl_error *err)
{
    size_t count;
    const char *const *names = name_set_names(c->names, &count);
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++)
            if (are_alike(names[i], names[k])) {
                bool first = !is_plain_split(names[i]); /* is it the odd one? */
                return refuse_name(l, names[first ? i : k], names[first ? k : i], err);
            }
    return APL_OK;
}

apl_status list_find_split_column(struct list_columns *l, apl_error *err)
{
    l->split = -1;
    for (unsigned i = 0; i < l->count && l->split < 0; i++)
        if (strcmp(l->columns[i].name, "split") == 0)
            l->split = (int)i;
    if (l->split < 0) {
        tell_of_case(l);
        return APL_OK;
    }
    struct column *c = &l->columns[l->split];
    const char *why = why_no_splits(l, c);
    bool other = c->given || l->split == l->label || list_image_of(l, (unsigned)l->split) >= 0;
    if (other || why) {
        if (!other)
            tell_of_field(l, c, why);
        l->split = -1;
        return APL_OK;
    }
    TRY(check_empty_cells(l, c, err));
    TRY(name_set_sort(c->names, err));
    return check_alike(l, c, err);
}
