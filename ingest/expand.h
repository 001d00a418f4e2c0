/*
 * The files that sources name: set-{000000..000099}.tar and {train,val}-*.tar as a shell would have expanded them, where nothing is
 * called so; and of a directory of shards, its archives or those of its folders.
 */
#ifndef EXPAND_H
#define EXPAND_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>

struct expanded {
    char **paths;
    size_t *below; /* of each, for the caller: 0 */
    size_t count, room;
};

/* Adds a copy of a path as it is. APL_E_INVALID: there are a million. */
apl_status expand_add(struct expanded *out, const char *path, apl_error *err);

/* Adds what one source names. A pattern that matches nothing stands for itself. To be freed in any case. */
apl_status expand_source(const char *source, struct expanded *out, apl_error *err);

/* The same of a directory: its archives, if any, sorted by name; or else those in its folders, each in the same way, unless in any of these
 * lie files that other() claims. */
apl_status expand_archives(const char *directory, bool (*other)(const char *name), struct expanded *out,
                           apl_error *err);

void expanded_free(struct expanded *out);

#endif
