/* Which column names the splits of rows: see list_split_column.h. */
#include "list_split_column.h"

#include "file_name.h"

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

/* Are all of its cells words for splits, of two at least? */
static bool is_of_splits(const struct list_columns *l, const struct column *c)
{
    const struct split_cells *s = &c->splits;
    bool several = (s->tells & (s->tells - 1)) != 0;
    return several && s->words == s->filled && c->kinds[CELL_TEXT] + c->kinds[CELL_NONE] == l->rows;
}

/* Whether a column by another name is meant to name splits is for the caller to say. */
static void tell_of_others(const struct list_columns *l)
{
    for (unsigned i = 0; i < l->count; i++) {
        const struct column *c = &l->columns[i];
        if (c->splits.called || c->given || (int)i == l->label || list_image_of(l, i) >= 0)
            continue;
        if (strcasecmp(c->name, "split") == 0)
            tell_of_field(l, c, "only one called split, in lower case, does");
        else if (is_of_splits(l, c))
            tell_of_field(l, c, "all of its cells are words for splits, but only a column called split does");
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

static apl_status refuse_name(const struct list_columns *l, const char *odd, const char *why, apl_error *err)
{
    uint64_t row = 0;
    size_t file = 0;
    for (; file < l->host->file_count && row == 0; file++)
        TRY(find_split_row(l, file, odd, &row, err));
    return fail(err, APL_E_SOURCE,
                "%s: row %" PRIu64 ", column split: '%s' %s, or --type split=utf8 makes the column a field",
                l->host->files[file - 1].path, row, odd, why);
}

/* Such as Train among train: hardly a split of its own, and its records would be missing in the other. */
static apl_status check_alike(const struct list_columns *l, const struct column *c, apl_error *err)
{
    char why[APL_MAX_NAME + 80];
    size_t count;
    const char *const *names = name_set_names(c->names, &count);
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++)
            if (are_alike(names[i], names[k])) {
                bool first = !is_plain_split(names[i]); /* is it the odd one? */
                snprintf(why, sizeof why,
                         "differs from the split '%s' only in case or blanks: spell them alike",
                         names[first ? k : i]);
                return refuse_name(l, names[first ? i : k], why, err);
            }
    return APL_OK;
}

/* Nobody who asks for the split test would find 'test '. */
static apl_status check_blanks(const struct list_columns *l, const struct column *c, apl_error *err)
{
    size_t count;
    const char *const *names = name_set_names(c->names, &count);
    for (size_t i = 0; i < count; i++)
        if (*names[i] == ' ' || names[i][strlen(names[i]) - 1] == ' ')
            return refuse_name(l, names[i], "has blanks around it: leave them out", err);
    return APL_OK;
}

/* Files and folders of both names would be of one split. */
static void tell_of_synonyms(const struct list_columns *l, const struct column *c)
{
    char text[256];
    size_t count;
    uint32_t rank;
    const char *const *names = name_set_names(c->names, &count), *split;
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++)
            if ((split = split_of_word(names[i], strlen(names[i]), &rank)) &&
                split == split_of_word(names[k], strlen(names[k]), &rank)) {
                snprintf(
                    text, sizeof text,
                    "column split: '%s' and '%s' are two splits, though files so called would both be of "
                    "the split '%s'",
                    names[i], names[k], split);
                l->host->notice(l->host->user, "", text);
                return;
            }
}

/* ------------------------------------------------------------------------------------------------- finding */

#define WAYS_ON \
    ": --skip-bad N (skip_bad=N in Python) leaves out such rows, --type split=utf8 makes the column a field"

/* To whichever split the row belongs, it would be the wrong one. */
static apl_status check_split_cells(const struct list_columns *l, const struct column *c, apl_error *err)
{
    if (l->host->options->skip_bad > 0)
        return APL_OK;
    if (c->empty_row)
        return fail(err, APL_E_SOURCE,
                    "%s: row %" PRIu64 ", column split: is empty, and names no split" WAYS_ON, c->empty_file,
                    c->empty_row);
    if (c->splits.words && c->splits.odd_row)
        return fail(err, APL_E_SOURCE,
                    "%s: row %" PRIu64 ", column split: '%s' names no split, but other cells do" WAYS_ON,
                    c->splits.odd_file, c->splits.odd_row, c->splits.odd_text);
    return APL_OK;
}

/* Sorts the names, and leaves out those of bad rows. */
static apl_status sort_split_names(struct column *c, apl_error *err)
{
    size_t count;
    struct name_set *all = c->names;
    TRY(name_set_sort(all, err));
    const char *const *names = name_set_names(all, &count);
    if (!c->splits.words || !c->splits.odd_row)
        return APL_OK;
    if (!(c->names = name_set_new()))
        return fail_nomem(err);
    apl_status status = APL_OK;
    for (size_t i = 0; i < count && status == APL_OK; i++)
        if (split_cells_is_name(names[i], strlen(names[i])))
            status = name_set_add(c->names, names[i], strlen(names[i]), err);
    name_set_free(all);
    TRY(status);
    return name_set_sort(c->names, err);
}

/* Its cells are names of splits: so rows that are of none are bad ones. */
static apl_status take_split_names(const struct list_columns *l, struct column *c, apl_error *err)
{
    size_t count = 0;
    TRY(check_split_cells(l, c, err));
    if (c->names)
        TRY(sort_split_names(c, err));
    if (c->names)
        name_set_names(c->names, &count);
    if (count > LIST_SPLITS || !c->names)
        return fail(err, APL_E_UNSUPPORTED,
                    "%s: column split names more than %u splits: --type split=utf8 makes it a field",
                    l->host->source, LIST_SPLITS);
    TRY(check_alike(l, c, err));
    TRY(check_blanks(l, c, err));
    tell_of_synonyms(l, c);
    return APL_OK;
}

apl_status list_find_split_column(struct list_columns *l, apl_error *err)
{
    l->split = -1;
    for (unsigned i = 0; i < l->count && l->split < 0; i++)
        if (strcmp(l->columns[i].name, "split") == 0)
            l->split = (int)i;
    if (l->split < 0) {
        tell_of_others(l);
        return APL_OK;
    }
    struct column *c = &l->columns[l->split];
    const char *why = c->splits.words ? NULL : why_no_splits(l, c);
    bool other = c->given || l->split == l->label || list_image_of(l, (unsigned)l->split) >= 0;
    if (other || why) {
        if (!other)
            tell_of_field(l, c, why);
        l->split = -1;
        tell_of_others(l);
        return APL_OK;
    }
    return take_split_names(l, c, err);
}
