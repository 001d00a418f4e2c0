/* Names, each once, sorted by bytes in the end. */
#ifndef NAME_SET_H
#define NAME_SET_H

#include "bytes.h"
#include "status.h"

struct name_set;

struct name_set *name_set_new(void); /* NULL: out of memory */
void name_set_free(struct name_set *set);

/* Adds a name, if it is not there. APL_E_UNSUPPORTED: there would be more than a million. */
apl_status name_set_add(struct name_set *set, const char *name, size_t length, apl_error *err);

/* Sorts them; nothing may be added after that. */
apl_status name_set_sort(struct name_set *set, apl_error *err);

/* Valid after sorting, and as long as the set. */
const char *const *name_set_names(const struct name_set *set, size_t *count);

/* The place of a name among the sorted ones, or -1. */
int64_t name_set_find(const struct name_set *set, const char *name);

#endif
