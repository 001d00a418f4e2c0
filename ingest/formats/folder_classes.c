/* Names and numbers of classes: see folder_classes.h. */
#include "folder_classes.h"

#include "class_map.h"
#include "jsontext.h"
#include "member.h"
#include "said_kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "apldata-classes.json"
#define FILE_MAX  ((uint64_t)256 << 20)
#define VERSION   1

void folder_classes_free(struct folder_classes *c)
{
    json_decref(c->json);
    free(c->own);
    free(c->numbers);
    *c = (struct folder_classes){0};
}

bool folder_classes_is_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strcmp(slash ? slash + 1 : path, FILE_NAME) == 0;
}

/* ------------------------------------------------------------------------------------------------------- the file */

static bool take_class_type(const char *name, apl_dtype *dtype)
{
    for (unsigned d = APL_U8; name && d <= APL_I64; d++) {
        *dtype = (apl_dtype)d;
        if (strcmp(apl_dtype_name(*dtype), name) == 0)
            return true;
    }
    return false;
}

static bool fits_type(int64_t number, apl_dtype dtype)
{
    bool has_sign = dtype == APL_I8 || dtype == APL_I16 || dtype == APL_I32 || dtype == APL_I64;
    unsigned bits = 8 * (unsigned)apl_dtype_size(dtype) - has_sign;
    bool small = bits >= 63 || number < (INT64_C(1) << bits);
    return small && (number >= 0 || (has_sign && (bits >= 63 || number >= -(INT64_C(1) << bits))));
}

static apl_status check_class_file(const struct folder_classes *c, apl_error *err)
{
    const json_t *folders = json_object_get(c->json, "folders");
    const char *format = json_string_value(json_object_get(c->json, "format"));
    if (!format || strcmp(format, "apldata-folder") != 0 || !json_is_array(folders))
        return fail(err, APL_E_SOURCE, "is not the list of classes of an export");
    if (json_integer_value(json_object_get(c->json, "version")) != VERSION)
        return fail(err, APL_E_UNSUPPORTED, "is not of version %d", VERSION);
    for (size_t i = 0; i < json_array_size(folders); i++) {
        const json_t *is = json_array_get(folders, i), *number = json_object_get(is, "number");
        int64_t n = json_integer_value(number);
        bool named = json_is_true(json_object_get(c->json, "named"));
        if (!json_string_value(json_object_get(is, "folder")) || !json_is_integer(number) ||
            !fits_type(n, c->dtype) || (named && n != (int64_t)i))
            return fail(err, APL_E_SOURCE, "class %zu has no folder, or no number that it can have", i);
    }
    return APL_OK;
}

apl_status folder_classes_read(struct folder_classes *c, const struct format_member *m, apl_error *err)
{
    struct buffer text = {0};
    json_error_t why;
    if (c->json)
        return fail(err, APL_E_SOURCE, "is there twice");
    if (m->size > FILE_MAX)
        return fail(err, APL_E_SOURCE, "has more than 256 MiB");
    apl_status status = member_append(m, m->size, &text, err);
    if (status == APL_OK)
        c->json = json_loadb((const char *)text.data, text.size, JSON_REJECT_DUPLICATES, &why);
    buffer_free(&text);
    TRY(status);
    if (!c->json)
        return fail(err, APL_E_SOURCE, "is not JSON: line %d, column %d", why.line, why.column);
    if (!take_class_type(json_string_value(json_object_get(c->json, "dtype")), &c->dtype))
        return fail(err, APL_E_SOURCE, "has no dtype that classes can have");
    return check_class_file(c, err);
}

/* ------------------------------------------------------------------------------------------------------- settling */

static apl_status name_missing(const struct format_host *host, const char *folder, apl_error *err)
{
    char shown[256];
    return fail(err, APL_E_SOURCE,
                "%s: the class %s is not in " FILE_NAME
                ": without that file, classes are numbered in the order "
                "of their names",
                host->source, printable(shown, sizeof shown, folder, strlen(folder)));
}

/* The number that each folder has: of those in the file, which are in no order. */
static apl_status find_numbers(struct folder_classes *c, const char *const *folders, uint32_t count,
                               const struct format_host *host, apl_error *err)
{
    const json_t *list = json_object_get(c->json, "folders");
    json_t *by_folder = json_object();
    apl_status status = APL_OK;
    c->numbers = calloc(count + 1u, sizeof *c->numbers);
    for (size_t i = 0; by_folder && i < json_array_size(list); i++) {
        const json_t *is = json_array_get(list, i);
        json_object_set(by_folder, json_string_value(json_object_get(is, "folder")),
                        json_object_get(is, "number"));
    }
    if (!by_folder || !c->numbers)
        status = fail_nomem(err);
    for (uint32_t i = 0; i < count && status == APL_OK; i++) {
        const json_t *number = json_object_get(by_folder, folders[i]);
        c->numbers[i] = json_integer_value(number);
        if (!number)
            status = name_missing(host, folders[i], err);
    }
    json_decref(by_folder);
    return status;
}

/* All that the file has, with images or without. */
static apl_status take_file_names(struct folder_classes *c, apl_error *err)
{
    const json_t *list = json_object_get(c->json, "folders");
    c->names = NULL;
    c->count = 0;
    if (!json_is_true(json_object_get(c->json, "named")))
        return APL_OK;
    c->own = calloc(json_array_size(list) + 1, sizeof *c->own);
    if (!c->own)
        return fail_nomem(err);
    for (; c->count < json_array_size(list); c->count++)
        c->own[c->count] = json_string_value(json_object_get(json_array_get(list, c->count), "folder"));
    c->names = c->own;
    return APL_OK;
}

apl_status folder_classes_settle(struct folder_classes *c, const struct class_tree *tree,
                                 const struct format_host *host, apl_error *err)
{
    const apl_ingest_options *o = host->options;
    const char *const *folders;
    char file[256];
    const char *name = o->map_name ? o->map_name : "the map of classes";
    c->count = class_tree_classes(tree, &folders);
    c->names = folders;
    if (c->json && o->map_count > 0)
        return fail(err, APL_E_INVALID, "%s: has " FILE_NAME ", which names the classes: a map is of no use",
                    host->source);
    if (c->json) {
        TRY(find_numbers(c, folders, c->count, host, err));
        return take_file_names(c, err);
    }
    c->dtype = c->count <= 256 ? APL_U8 : c->count <= 65536 ? APL_U16 : APL_U32;
    if (o->map_count == 0)
        return APL_OK;
    const struct class_map map = {o->map, o->map_count, printable(file, sizeof file, name, strlen(name))};
    TRY(class_map_names(&map, folders, c->count, &c->own, err));
    c->names = c->own;
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------------- writing */

apl_status folder_classes_add_field(const struct folder_classes *c, apl_writer *writer, apl_error *err)
{
    TRY(apl_writer_add_field(writer, "label", c->dtype, APL_TARGET, 0, NULL, err));
    return said_kinds_set(writer, "label", APL_KIND_LABEL, APL_FORM_NONE, NULL, APL_FROM_SOURCE, err);
}

apl_status folder_classes_name(const struct folder_classes *c, apl_writer *writer, apl_error *err)
{
    return c->names ? apl_writer_set_classes(writer, "label", c->names, c->count, err) : APL_OK;
}

/* Their first bytes are those of the smaller types. */
apl_value folder_classes_label(const struct folder_classes *c, const uint32_t *place)
{
    return (apl_value){c->numbers ? (const void *)&c->numbers[*place] : place, NULL};
}
