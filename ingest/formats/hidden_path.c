/* Which members of a source are passed over because of their names. */
#include "hidden_path.h"

#include <string.h>

bool path_is_hidden(const char *path)
{
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        size_t length = strcspn(part, "/"), dots = strspn(part, ".");
        bool is_step = dots == length && dots <= 2;
        if ((dots > 0 && !is_step) || strncmp(part, "__MACOSX/", 9) == 0)
            return true;
    }
    return false;
}
