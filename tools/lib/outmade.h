/*
 * What an export has made in a folder, as its own descriptions tell: the schema in each archive of WebDataset, schema.json of TFRecord
 * and raw files, and splits.json. So --force knows what it may replace. Every call that fails has said why on stderr.
 */
#ifndef OUTMADE_H
#define OUTMADE_H

#include <stdbool.h>
#include <stddef.h>

/* Names of files. From {0} to outmade_free(). */
struct outmade {
    char **names;
    size_t count, room;
    bool sorted;
    unsigned exports; /* that have made them */
};
void outmade_free(struct outmade *made);

/* Adds what exports have made in the folder. */
int outmade_find(struct outmade *made, const char *folder);

/* Adds a copy of a name. */
int outmade_add(struct outmade *made, const char *name);

bool outmade_has(struct outmade *made, const char *name);

/* Refuses a folder that has other files or folders than those; hidden ones may be there. */
int outmade_check_alone(struct outmade *made, const char *folder);

#endif
