/* What is worth a line about a list's columns: see list_notes.h. */
#include "list_notes.h"

#include "cell.h"
#include "plain_number.h"
#include "wds_number.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Such as 1e400, or a whole number beyond i64. */
static bool is_number_too_large(const char *text)
{
    char *end;
    bool whole = text[strspn(text, "+-0123456789")] == 0;
    double most = whole ? 0x1p63 : INFINITY;
    return strchr("+-.0123456789", *text) && fabs(plain_read(text, &end)) >= most && !*end &&
           isdigit((unsigned char)end[-1]);
}

/* Why is it text, and what would a type of numbers make of it? */
static void tell_of_word(const struct column *c, char *out, size_t size)
{
    bool negative;
    uint64_t magnitude;
    double real;
    const char *is = "is not a number", *type = "f64", *does = "refuses";
    if (cell_decimal(c->first_text, strlen(c->first_text), &real)) {
        bool large = is_number_too_large(c->first_text);
        bool u64 = large &&
                   wds_whole((const uint8_t *)c->first_text, strlen(c->first_text), &negative, &magnitude) &&
                   !negative;
        is = large ? "is beyond i64" : "has leading zeros or blanks";
        type = u64 ? "u64" : "f64";
        does = u64 ? "keeps" : large ? "rounds" : "makes a number of";
    }
    snprintf(out, size,
             "row %" PRIu64 ", column %s: '%s' %s, so all of the column is text; --type %s=%s %s it",
             c->first_row[CELL_TEXT], c->name, c->first_text, is, c->name, type, does);
}

/* One word among numbers turns a column into text: worth a line; and so does a number that is too large, whatever it is among. */
static void tell_of_text(const struct list_columns *l, const struct column *c)
{
    uint64_t numbers = c->kinds[CELL_WHOLE] + c->kinds[CELL_REAL];
    char text[1024];
    if (c->given || numbers == 0 || c->kinds[CELL_TEXT] == 0 ||
        (numbers <= c->kinds[CELL_TEXT] && !is_number_too_large(c->first_text)))
        return;
    tell_of_word(c, text, sizeof text);
    l->host->notice(l->host->user, l->host->file_count > 1 ? c->first_file : "", text);
}

/* Values of several kinds, none of them words, have only text in common: worth a line, too. */
static void tell_of_kinds(const struct list_columns *l, const struct column *c)
{
    static const char *const called[CELL_KINDS] = {[CELL_NONE] = "empty cells",
                                                   [CELL_BOOL] = "true or false",
                                                   [CELL_WHOLE] = "whole numbers",
                                                   [CELL_REAL] = "real numbers",
                                                   [CELL_LIST] = "lists"};
    char kinds[128] = "", text[2 * APL_MAX_NAME + 512], rounding[APL_MAX_NAME + 96] = "";
    size_t used = 0;
    if (c->given || c->dtype != APL_UTF8 || c->kinds[CELL_TEXT] || c->kinds[CELL_NONE] == l->rows)
        return;
    for (unsigned k = 0; k < CELL_KINDS; k++)
        if (c->kinds[k])
            used += (size_t)snprintf(kinds + used, sizeof kinds - used, "%s%s", used ? ", " : "", called[k]);
    bool lists = c->any_list && !c->inner_varies && !c->kinds[CELL_WHOLE] && !c->kinds[CELL_REAL];
    if (c->inexact && !c->kinds[CELL_BOOL] && (lists || !c->any_list))
        snprintf(rounding, sizeof rounding, ", some of %s too large for f64: --type %s=f64%s rounds those",
                 lists ? "their numbers" : "them", c->name, lists ? "[-1]" : "");
    snprintf(text, sizeof text, "column %s has no common type, so all of it is text: there are %s%s%s",
             c->name, kinds, c->inner_varies ? ", whose inner lists differ" : "", rounding);
    l->host->notice(l->host->user, "", text);
}

/* A single column of several names was parted by something else. */
static void tell_of_separators(const struct list_columns *l)
{
    char text[APL_MAX_NAME + 128];
    if (l->count != 1 || !strpbrk(l->columns[0].name, ";|,\t"))
        return;
    snprintf(text, sizeof text,
             "the only column is called '%s': cells are separated by commas in .csv, by tabs in .tsv",
             l->columns[0].name);
    l->host->notice(l->host->user, "", text);
}

/* Columns called 0, 1, 2 ... have no names in a data frame either. */
static bool is_numbered(const struct list_columns *l)
{
    char number[16];
    unsigned from = l->indexed ? 1 : 0;
    for (unsigned i = from; i < l->count; i++) {
        snprintf(number, sizeof number, "%u", i - from);
        if (strcmp(l->columns[i].name, number) != 0)
            return false;
    }
    return true;
}

static bool is_number(const char *name)
{
    double real;
    return cell_decimal(name, strlen(name), &real);
}

/* What the name would be as a cell. */
static enum cell_kind kind_of_name(const struct column *c)
{
    struct cell cell = {.text = c->name, .length = strlen(c->name)};
    struct cell_room room = {0};
    bool known = cell_from_text(&cell, &room);
    cell_room_free(&room);
    return known ? cell.kind : CELL_TEXT;
}

/* Such as 007, a date or a time, which are text. */
static bool is_of_digits(const char *text)
{
    return text[strspn(text, "0123456789 +-/:.,")] == 0 && strpbrk(text, "0123456789");
}

/* Is the name a value, as the cells of its column are? A column of numbers may be called inf. */
static bool is_value(const struct column *c)
{
    enum cell_kind name = kind_of_name(c);
    if (c->kinds[CELL_TEXT])
        return is_of_digits(c->name) && is_of_digits(c->first_text);
    if (strncasecmp(c->name, "inf", 3) == 0)
        return false;
    if (name == CELL_WHOLE || name == CELL_REAL || is_number(c->name))
        return c->kinds[CELL_WHOLE] + c->kinds[CELL_REAL] > 0;
    return (name == CELL_BOOL || name == CELL_LIST) && c->kinds[name] > 0;
}

/* Could the name of the column be one of its cells? */
static bool is_like_cells(const struct list_columns *l, const struct column *c)
{
    return c->kinds[CELL_TEXT] || c->kinds[CELL_NONE] == l->rows || is_value(c);
}

/* The first of the columns whose names are numbers, or else other values; NULL: the first row is a header. */
static const struct column *value_in_header(const struct list_columns *l)
{
    const struct column *number = NULL, *other = NULL;
    for (unsigned i = 0; i < l->count; i++) {
        const struct column *c = &l->columns[i];
        if (!is_like_cells(l, c))
            return NULL;
        const struct column **first = is_number(c->name) ? &number : &other;
        if (!*first && is_value(c))
            *first = c;
    }
    return number ? number : other;
}

/* Without a header, the first record would be lost. Years are numbers too, and names. */
static void tell_of_header(const struct list_columns *l)
{
    enum rows_kind kind = ROWS_JSON;
    char text[APL_MAX_NAME + 160];
    list_kind(l->host->files[0].name, &kind);
    const struct column *value = kind == ROWS_JSON || is_numbered(l) ? NULL : value_in_header(l);
    if (!value)
        return;
    snprintf(text, sizeof text,
             "the first row is taken for the names of the columns; if it is a record, as %s'%s' "
             "suggests, put a row of names before it",
             is_number(value->name) ? "the number " : "", value->name);
    l->host->notice(l->host->user, "", text);
}

static const char *file_of_several(const struct list_columns *l, const char *file)
{
    return l->host->file_count > 1 ? file : "";
}

/* A carriage return may have been part of a text. */
static void tell_of_returns(const struct list_columns *l)
{
    char text[200], more[48] = "";
    if (l->odd.returns == 0)
        return;
    if (l->odd.returns > 1)
        snprintf(more, sizeof more, " (and %" PRIu64 " more)", l->odd.returns - 1);
    snprintf(text, sizeof text,
             "row %" PRIu64
             " ends with a carriage return alone, unlike others%s; in CSV, one that is part of a "
             "text stands in quotes",
             l->odd.first_return, more);
    l->host->notice(l->host->user, file_of_several(l, l->odd.return_file), text);
}

static void tell_of_blanks(const struct list_columns *l)
{
    enum rows_kind kind = ROWS_JSON;
    char text[APL_MAX_NAME + 96];
    list_kind(l->host->files[0].name, &kind);
    if (l->odd.trimmed_file)
        l->host->notice(l->host->user, file_of_several(l, l->odd.trimmed_file),
                        "blanks around cells are left out, as the first row has one behind each comma");
    for (unsigned i = 0; i < l->count && kind != ROWS_JSON; i++) {
        const char *name = l->columns[i].name;
        if (*name != ' ' && name[strlen(name) - 1] != ' ')
            continue;
        snprintf(text, sizeof text, "the name of the column '%s' has a blank at its %s", name,
                 *name == ' ' ? "beginning" : "end");
        l->host->notice(l->host->user, "", text);
        return;
    }
}

void list_tell_of_names(const struct list_columns *l)
{
    tell_of_returns(l);
    tell_of_blanks(l);
    tell_of_separators(l);
    tell_of_header(l);
}

void list_tell_of_types(const struct list_columns *l)
{
    for (unsigned i = 0; i < l->count; i++)
        if ((int)i != l->label) {
            tell_of_text(l, &l->columns[i]);
            tell_of_kinds(l, &l->columns[i]);
        }
}
