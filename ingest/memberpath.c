/* Taking apart the paths of members. */
#include "memberpath.h"

#include <stdlib.h>
#include <string.h>

char *path_basename(const char *path)
{
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    char *name = malloc(end - start + 1);
    if (!name)
        return NULL;
    memcpy(name, path + start, end - start);
    name[end - start] = 0;
    return name;
}

bool path_leads_out(const char *path)
{
    if (path[0] == '/')
        return true;
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == 0))
            return true;
    }
    return false;
}
