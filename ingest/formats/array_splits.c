/* Reads splits.json: see array_splits.h. */
#define _GNU_SOURCE /* memmem */
#include "array_splits.h"

#include "declared.h"
#include "jsontext.h"

#include <errno.h>
#include <stdio.h>

#define LIST_NAME "splits.json"
#define MARK      "\"apldata-arrays\""
#define VERSION   1

void array_splits_free(struct array_splits *s)
{
    json_decref(s->json);
    s->json = NULL;
}

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static bool same_array_folder(const char *a, const char *b)
{
    size_t size = folder_length(a);
    return size == folder_length(b) && memcmp(a, b, size) == 0;
}

/* A file that is not one of ours may have any name. */
static apl_status read_list_of_arrays(struct array_splits *s, const struct buffer *text, apl_error *why)
{
    json_error_t wrong;
    if (!memmem(text->data, text->size, MARK, sizeof MARK - 1))
        return APL_OK;
    s->json = json_loadb((const char *)text->data, text->size, JSON_REJECT_DUPLICATES, &wrong);
    if (!s->json)
        return fail(why, APL_E_SOURCE, "is not JSON: line %d, column %d", wrong.line, wrong.column);
    if (json_integer_value(json_object_get(s->json, "version")) != VERSION)
        return fail(why, APL_E_UNSUPPORTED, "is not of version %d", VERSION);
    return APL_OK;
}

static apl_status look_beside(struct array_splits *s, const struct format_host *host, size_t file,
                              apl_error *err)
{
    const char *path = host->files[file].path;
    struct buffer text = {0};
    apl_error why;
    apl_status status = host->read_beside(host->user, file, LIST_NAME, &text, &why);
    bool absent = status != APL_OK && why.sys_errno == ENOENT;
    if (status == APL_OK)
        status = read_list_of_arrays(s, &text, &why);
    buffer_free(&text);
    return status == APL_OK || absent
               ? APL_OK
               : fail(err, status, "%.*s" LIST_NAME ": %s", (int)folder_length(path), path, why.message);
}

apl_status array_splits_find(struct array_splits *s, const struct format_host *host, apl_error *err)
{
    const struct format_file *files = host->files;
    for (size_t i = 0; i < host->file_count; i++) {
        bool same = i > 0 && same_array_folder(files[i].path, files[i - 1].path);
        if (!same && !s->json)
            TRY(look_beside(s, host, i, err));
        if (s->json && !same_array_folder(files[i].path, files[0].path))
            return fail(err, APL_E_INVALID,
                        "%s: an export, which its " LIST_NAME " describes, is read alone: %s is in another "
                        "folder",
                        files[i].path, files[0].path);
    }
    return APL_OK;
}

/* The place of a split is that among the splits of the list. */
static uint32_t rank_of(const json_t *files, size_t at, const char *split)
{
    uint32_t rank = 0;
    const char *before = NULL;
    for (size_t i = 0; i < at; i++) {
        const char *name = json_string_value(json_object_get(json_array_get(files, i), "split"));
        if (name && strcmp(name, split) == 0)
            break;
        rank += name && (!before || strcmp(name, before) != 0);
        before = name;
    }
    return rank;
}

/* What an entry of the list says of its file. The role may be left to the field's name. */
static bool take_listed(const json_t *files, size_t i, struct array *array)
{
    const json_t *is = json_array_get(files, i), *role = json_object_get(is, "role");
    const char *split = json_string_value(json_object_get(is, "split"));
    const char *field = json_string_value(json_object_get(is, "field"));
    if (!split || !*split || strlen(split) > APL_MAX_NAME || !field || !*field ||
        strlen(field) > APL_MAX_NAME || (role && !declared_role(json_string_value(role), &array->role)))
        return false;
    array->split = split;
    array->split_rank = rank_of(files, i, split);
    array->order = i;
    snprintf(array->field, sizeof array->field, "%s", field);
    return true;
}

apl_status array_splits_name(const struct array_splits *s, const struct format_file *file,
                             struct array *array, bool *named, apl_error *err)
{
    const json_t *files = s->json ? json_object_get(s->json, "files") : NULL;
    *named = s->json != NULL;
    for (size_t i = 0; i < json_array_size(files); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(files, i), "file"));
        if (name && strcmp(name, file->name) == 0)
            return take_listed(files, i, array)
                       ? APL_OK
                       : fail(err, APL_E_SOURCE,
                              "%s: the " LIST_NAME " beside it names no split, no field or no role of it",
                              file->path);
    }
    return *named ? fail(err, APL_E_SOURCE, "%s: is not in the " LIST_NAME " beside it", file->path) : APL_OK;
}

apl_status array_splits_check(const struct array_splits *s, const struct format_host *host, apl_error *err)
{
    const json_t *files = s->json ? json_object_get(s->json, "files") : NULL;
    char shown[512];
    for (size_t i = 0; i < json_array_size(files) && host->whole && !host->partial; i++) {
        const char *name = json_string_value(json_object_get(json_array_get(files, i), "file"));
        bool there = !name;
        for (size_t f = 0; f < host->file_count && !there; f++)
            there = strcmp(name, host->files[f].name) == 0;
        if (!there)
            return fail(err, APL_E_INCOMPLETE,
                        "%s: the " LIST_NAME " beside it has %s too, which is missing (--partial, or "
                        "partial=True in Python, does without)",
                        host->files[0].path, printable(shown, sizeof shown, name, strlen(name)));
    }
    return APL_OK;
}
