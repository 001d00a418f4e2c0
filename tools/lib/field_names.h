/* The fields that --fields chooses: names between commas; given more than once, those of all. */
#ifndef FIELD_NAMES_H
#define FIELD_NAMES_H

#include "apl.h"

struct field_names {
    const char *name[APL_MAX_FIELDS];
    unsigned count;
};

/* Takes the value of the option, an argument of the command, which is cut at its commas. 0, or what misuse() returned. */
int field_names_take(struct field_names *names, const char *value);

/* Are they all fields of the store? 0, or what failed() returned. */
int field_names_check(const struct field_names *names, const apl_store *store, const char *path);

#endif
