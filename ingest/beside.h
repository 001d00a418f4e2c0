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

/* What paths may do: be absolute, have parts "..", and lead over links; or only the last. */
struct beside_rules {
    bool outside, follow;
};

/* All bytes of a regular file, at most APL_MAX_VALUE. Errors do not name the file. */
apl_status beside_read(struct beside *b, const char *path, struct beside_rules rules, struct buffer *bytes,
                       apl_error *err);

#endif
