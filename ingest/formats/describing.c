/* See describing.h. */
#include "describing.h"

#include "file_name.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static bool begins_with_any(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strncasecmp(name, *words, strlen(*words)) == 0)
            return true;
    return false;
}

static bool ends_with_any(const char *name, const char *const *endings)
{
    for (; *endings; endings++)
        if (name_ends(name, *endings))
            return true;
    return false;
}

bool name_only_describes(const char *name)
{
    static const char *const begins[] = {"readme",    "license",   "licence",     "copying", "notice",
                                         "changelog", "citation",  "_success",    "md5sum",  "sha1sum",
                                         "sha256sum", "thumbs.db", "desktop.ini", NULL};
    static const char *const ends[] = {".md",     ".rst",       ".html", ".pdf", ".md5", ".sha1",
                                       ".sha256", ".sha256sum", ".crc",  ".sig", ".asc", NULL};
    return begins_with_any(name, begins) || ends_with_any(name, ends);
}
