/*
 * The classes of folders: apldata-classes.json, where readers of folders, who number them in the order of their names, would number them
 * otherwise than the store does. aplingest reads it. Failures are reported on stderr.
 */
#ifndef CMD_EXPORT_CLASSES_H
#define CMD_EXPORT_CLASSES_H

#include "cmd_export.h"

/* The labels of classes without names. From {0}; export_classes_free(). */
struct export_classes {
    int64_t *numbers; /* those that come, in ascending order once they are settled */
    size_t count, room;
    unsigned digits; /* of the longest */
    bool too_large;  /* for a JSON number */
};
void export_classes_free(struct export_classes *classes);

/* Takes a record's label. */
int export_classes_take(struct export_classes *classes, const struct value *label);

/* After the last. */
void export_classes_settle(struct export_classes *classes);

/* The folder of a label without a name: its number, in as many digits as the longest has. Valid until the next call. */
const char *export_class_number(const struct export_classes *classes, const char *digits);

/* Writes the file, if it is needed, and says so unless it is to be quiet. `label`: the field's number. */
int export_classes_write(const struct export_classes *classes, struct export *x, unsigned label);

#endif
