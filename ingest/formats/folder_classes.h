/*
 * The classes that folders become: called and numbered as the folders are, in their order; or called by the caller's map; or both as
 * apldata-classes.json says, which exports have where the order of the folders does not tell.
 */
#ifndef FOLDER_CLASSES_H
#define FOLDER_CLASSES_H

#include "class_tree.h"
#include "format.h"

/* From {0} to folder_classes_free(). */
struct folder_classes {
    void *json;               /* owns the strings of the file; NULL: there is none */
    const char *const *names; /* of the classes; NULL: they have none */
    const char **own;         /* the array of them, unless it is the folders' */
    int64_t *numbers;         /* of each folder; NULL: its place */
    uint32_t count;           /* of names */
    apl_dtype dtype;
};
void folder_classes_free(struct folder_classes *classes);

/* Is the file called so? By its path in the source. */
bool folder_classes_is_file(const char *path);

/* Reads it. Errors do not name it. */
apl_status folder_classes_read(struct folder_classes *classes, const struct format_member *m, apl_error *err);

/* After all folders are known. Likely errors: APL_E_INVALID of the map, APL_E_SOURCE: the file lacks a folder. */
apl_status folder_classes_settle(struct folder_classes *classes, const struct class_tree *tree,
                                 const struct format_host *host, apl_error *err);

/* Adds the field "label"; and gives it its names. */
apl_status folder_classes_add_field(const struct folder_classes *classes, apl_writer *writer, apl_error *err);
apl_status folder_classes_name(const struct folder_classes *classes, apl_writer *writer, apl_error *err);

/* The value of the label of a folder, whose place among all that is. */
apl_value folder_classes_label(const struct folder_classes *classes, const uint32_t *place);

#endif
