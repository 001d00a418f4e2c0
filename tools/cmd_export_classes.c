/* Numbers of classes beside their folders: see cmd_export_classes.h. */
#include "cmd_export_classes.h"

#include "args.h"
#include "json.h"
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "apldata-classes.json"
#define READ_BACK "; aplingest reads " FILE_NAME

/* ------------------------------------------------------------------------------------------------ without names */

void export_classes_free(struct export_classes *c)
{
    free(c->numbers);
    *c = (struct export_classes){0};
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void export_classes_settle(struct export_classes *c)
{
    size_t kept = 0;
    if (c->count > 0)
        qsort(c->numbers, c->count, sizeof *c->numbers, by_size);
    for (size_t i = 0; i < c->count; i++)
        if (kept == 0 || c->numbers[kept - 1] != c->numbers[i])
            c->numbers[kept++] = c->numbers[i];
    c->count = kept;
}

/* Numbers come again and again: only where half of the room is taken by different ones, there must be more. */
static bool make_class_room(struct export_classes *c)
{
    if (c->count < c->room)
        return true;
    export_classes_settle(c);
    if (c->count < c->room / 2)
        return true;
    size_t room = c->room ? 2 * c->room : 1024;
    int64_t *numbers = realloc(c->numbers, room * sizeof *numbers);
    if (!numbers)
        return false;
    c->numbers = numbers;
    c->room = room;
    return true;
}

int export_classes_take(struct export_classes *c, const struct value *label)
{
    unsigned digits = (unsigned)strlen(element_text(label, 0));
    bool is_unsigned = dtype_is_unsigned(label->dtype);
    c->digits = digits > c->digits ? digits : c->digits;
    c->too_large |= is_unsigned && value_unsigned(label, 0) > INT64_MAX;
    if (!make_class_room(c))
        return failed("out of memory");
    c->numbers[c->count++] = is_unsigned ? (int64_t)value_unsigned(label, 0) : value_signed(label, 0);
    return 0;
}

const char *export_class_number(const struct export_classes *c, const char *digits)
{
    static char text[64];
    int pad = (int)c->digits - (int)strlen(digits);
    snprintf(text, sizeof text, "%.*s%s", pad > 0 && *digits != '-' ? pad : 0, "00000000000000000000",
             digits);
    return text;
}

static bool have_gaps(const struct export_classes *c)
{
    return c->count > 0 && (c->numbers[0] != 0 || c->numbers[c->count - 1] != (int64_t)c->count - 1);
}

/* ---------------------------------------------------------------------------------------------------- with names */

/* Do the names of folders, in their order, tell the numbers of the classes? *empty: the last that has no records, or NULL. */
static bool is_told_by_names(const struct export *x, unsigned label, const char **empty)
{
    const apl_field *f = apl_store_field(x->store, label);
    bool sorted = true;
    *empty = NULL;
    for (uint64_t c = 0; c < f->class_count; c++) {
        uint64_t records = 0;
        sorted &= c == 0 || strcmp(f->classes[c - 1], f->classes[c]) < 0;
        for (unsigned s = 0; s < x->info->splits; s++)
            records += apl_store_class_count(x->store, s, label, c);
        *empty = records ? *empty : f->classes[c];
    }
    return sorted && !*empty;
}

static int add_folder(json_t *folders, const char *name, int64_t number)
{
    return json_array_append_new(folders,
                                 json_pack("{s:o, s:I}", "folder", json_text(name), "number", number));
}

static json_t *describe_classes(const struct export_classes *c, const apl_field *f)
{
    json_t *folders = json_array();
    int bad = folders == NULL;
    for (uint64_t i = 0; i < f->class_count && !bad; i++)
        bad = add_folder(folders, f->classes[i], (int64_t)i);
    for (size_t i = 0; i < c->count && f->class_count == 0 && !bad; i++) {
        char digits[32];
        snprintf(digits, sizeof digits, "%" PRId64, c->numbers[i]);
        bad = add_folder(folders, export_class_number(c, digits), c->numbers[i]);
    }
    if (!bad)
        return json_pack("{s:s, s:i, s:s, s:b, s:o}", "format", "apldata-folder", "version", 1, "dtype",
                         apl_dtype_name(f->dtype), "named", f->class_count > 0, "folders", folders);
    json_decref(folders);
    return NULL;
}

/* Has an export to the same directory left a list? *same: with the same text, but for the newline. */
static bool has_list(const struct export *x, const char *text, bool *same)
{
    size_t size = strlen(text) + 1;
    char *path = malloc(strlen(x->folder) + sizeof "/" FILE_NAME), *old = malloc(size + 1);
    FILE *file = NULL;
    *same = false;
    if (path && old) {
        sprintf(path, "%s/" FILE_NAME, x->folder);
        file = fopen(path, "re");
        *same = file && fread(old, 1, size + 1, file) == size && memcmp(old, text, size - 1) == 0;
    }
    if (file)
        fclose(file);
    free(path);
    free(old);
    return file != NULL;
}

static int add_list(struct export *x, const char *text)
{
    bool same;
    if (has_list(x, text, &same))
        return same ? 0
                    : failed("%s/" FILE_NAME
                             ": is of an export with other classes: export to another directory",
                             shown(x->folder));
    int file = outset_add(&x->out, FILE_NAME);
    if (file < 0)
        return EXIT_FAILURE;
    int status = outset_write(&x->out, file, text, strlen(text));
    return status ? status : outset_write(&x->out, file, "\n", 1);
}

static int write_classes(const struct export_classes *c, struct export *x, const apl_field *f)
{
    json_t *json = describe_classes(c, f);
    char *text = json ? json_dumps(json, JSON_INDENT(1)) : NULL;
    json_decref(json);
    if (!text)
        return failed("out of memory");
    int status = add_list(x, text);
    free(text);
    return status;
}

int export_classes_write(const struct export_classes *c, struct export *x, unsigned label)
{
    const apl_field *f = apl_store_field(x->store, label);
    const char *class, *back = c->too_large ? "" : READ_BACK;
    bool gaps = have_gaps(c);
    if (is_told_by_names(x, label, &class) && !gaps)
        return 0;
    if (!x->quiet && gaps)
        note("%s: its classes have no names, and numbers with gaps: readers of folders number them from 0 "
             "on%s",
             shown_db(x->path), back);
    else if (!x->quiet && class)
        note("%s: class %s has no records, and so no folder: readers of folders number the others "
             "differently" READ_BACK,
             shown_db(x->path), shown(class));
    else if (!x->quiet)
        note("%s: its classes are not sorted by name: readers of folders number them differently" READ_BACK,
             shown_db(x->path));
    return c->too_large ? 0 : write_classes(c, x, f);
}
