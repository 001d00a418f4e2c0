/* Files that a list names, by their paths from the folder of the list. */
#ifndef BESIDE_H
#define BESIDE_H

#include "bytes.h"
#include "status.h"

/* The folder, and the one that was opened last in it: one after the other they mostly lie in one. */
struct beside {
    int folder, last; /* -1: none */
    char *path;       /* of the last */
    size_t length;
};

#define BESIDE_INIT     \
    {                   \
        -1, -1, NULL, 0 \
    }

/* Opens the folder of the list. */
apl_status beside_open(struct beside *b, const char *list, apl_error *err);
void beside_close(struct beside *b);

/* All bytes of a regular file, at most APL_MAX_VALUE. Without `outside`, a path that is absolute, or has a part "..", is refused, and
 * so is a link on the way. Errors do not name the file. */
apl_status beside_read(struct beside *b, const char *path, bool outside, struct buffer *bytes,
                       apl_error *err);

#endif
