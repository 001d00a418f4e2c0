/* The names in one directory, sorted. */
#ifndef LISTING_H
#define LISTING_H

#include "status.h"

#include <stddef.h>

struct listing {
    char **files; /* and links and the like: all but directories; none hidden; in byte order */
    size_t count, folders;
    char *folder; /* one of those directories; NULL: none */
};

apl_status listing_read(const char *path, struct listing *list, apl_error *err);
void listing_free(struct listing *list);

#endif
