/* Names of splits and fields as names of files: see cmd_export_splits.h. */
#include "cmd_export_splits.h"

#include "args.h"
#include "describe.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

int export_check_split(const struct export *x, const apl_split *split)
{
    if (split->name[0] != '.')
        return 0;
    return failed("%s: split '%s' cannot be a file's name: files whose names begin with a dot are hidden",
                  shown_db(x->path), shown(split->name));
}

bool export_list_begin(struct export_list *list)
{
    *list = (struct export_list){.files = json_array()};
    return list->files != NULL;
}

/* Ingest takes the fields in the order of the files, which is that of their names. */
static bool comes_after(const json_t *entry, const json_t *last)
{
    return !json_equal(json_object_get(entry, "split"), json_object_get(last, "split")) ||
           strcmp(json_string_value(json_object_get(entry, "file")),
                  json_string_value(json_object_get(last, "file"))) > 0;
}

void export_list_add(struct export_list *list, const char *file, const char *split, const apl_field *field,
                     bool told)
{
    apl_role role = field->role == APL_POSITION ? APL_NAME : field->role; /* what reads it is not shuffled */
    json_t *entry = json_pack("{s:o, s:o, s:o, s:s}", "file", json_text(file), "split", json_text(split),
                              "field", json_text(field->name), "role", role_text(role));
    if (json_array_append_new(list->files, entry) != 0 || field->dtype == APL_UTF8) /* which ingest refuses */
        return;
    list->untold |= !told || (list->last && !comes_after(entry, list->last));
    list->last = entry;
}

/* Ingest knows these words in names of files, and takes the splits in this order. */
static bool names_tell(const struct export *x)
{
    static const char *const words[] = {"train", "val", "dev", "eval", "test", "extra"};
    size_t count = sizeof words / sizeof *words, word = 0;
    for (unsigned s = 0; s < x->info->splits; s++, word++) {
        while (word < count && strcmp(words[word], apl_store_split(x->store, s)->name) != 0)
            word++;
        if (word == count)
            return false;
    }
    return true;
}

int export_list_write(const struct export_list *list, struct export *x)
{
    if (names_tell(x) && !list->untold)
        return 0;
    json_t *object =
        json_pack("{s:s, s:i, s:O}", "format", "apldata-arrays", "version", 1, "files", list->files);
    char *text = object ? json_dumps(object, JSON_INDENT(1)) : NULL;
    json_decref(object);
    if (!text)
        return failed("out of memory");
    int file = outset_add(&x->out, "splits.json");
    int status = file < 0 ? EXIT_FAILURE : outset_write(&x->out, file, text, strlen(text));
    if (!status)
        status = outset_write(&x->out, file, "\n", 1);
    free(text);
    return status;
}
