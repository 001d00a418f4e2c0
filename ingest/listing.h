/* The names in one directory, sorted. */
#ifndef LISTING_H
#define LISTING_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>

struct listing {
    char **files; /* and the like: all but directories; none hidden; in byte order */
    char **folders;
    size_t count, folder_count;
};

/* Links are as files, or, with `follow`, what they lead to. */
apl_status listing_read(const char *path, bool follow, struct listing *list, apl_error *err);
void listing_free(struct listing *list);

#endif
