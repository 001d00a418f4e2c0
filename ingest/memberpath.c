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

char *path_plain(const char *path)
{
    char *plain = malloc(strlen(path) + 1), *to = plain;
    if (!plain)
        return NULL;
    for (const char *part = path; *part;) {
        size_t length = strcspn(part, "/");
        if (length > 0 && !(length == 1 && part[0] == '.')) {
            if (to > plain)
                *to++ = '/';
            memcpy(to, part, length);
            to += length;
        }
        part += length + (part[length] == '/');
    }
    *to = 0;
    return plain;
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
