/* The splits of an export whose files are named after them. */
#ifndef CMD_EXPORT_SPLITS_H
#define CMD_EXPORT_SPLITS_H

#include "cmd_export.h"
#include "json.h"

/* 0, or an exit status: ingesting passes over files whose names begin with a dot. */
int export_check_split(const struct export *x, const apl_split *split);

/* What each file of arrays is. Where their names do not tell ingest splits and fields, splits.json does. */
struct export_list {
    json_t *files;
    const json_t *last; /* the last added; not of text */
    bool untold;        /* the names of files do not tell the fields, their roles or their order */
};

/* To be freed with json_decref(list->files); false: out of memory. */
bool export_list_begin(struct export_list *list);
/* `told`: the name of the file tells the field's name and role. */
void export_list_add(struct export_list *list, const char *file, const char *split, const apl_field *field,
                     bool told);

/* Writes splits.json, if it is needed. */
int export_list_write(const struct export_list *list, struct export *x);

#endif
