#include "kind_left.h"

#include <string.h>

apl_kind kind_left(const apl_kind *kind, bool (*has)(const void *user, const char *name), const void *user)
{
    apl_kind left = *kind;
    if (*left.per && !has(user, left.per))
        left.per[0] = 0;
    if (*left.of && !has(user, left.of)) {
        apl_kind pinned = {.id = APL_KIND_PINNED, .origin = left.origin};
        memcpy(pinned.per, left.per, sizeof pinned.per);
        left = pinned;
    }
    return left;
}
