/* What messages say of sources. */
#ifndef SHOWN_H
#define SHOWN_H

#include <string.h>

/* The way on from a symbolic link. */
#define FOLLOW_LINKS ": --follow-links (follow_links=True in Python) follows it"

/* A copy of standard input (standard.h) is opened by such a path: that of a descriptor, written as nobody else does. */
#define SPOOL_PATH "/proc/./self/fd/"

/* "standard input" for "-" and for such a copy, else the path itself. */
static inline const char *spool_shown(const char *path)
{
    return strcmp(path, "-") == 0 || strncmp(path, SPOOL_PATH, strlen(SPOOL_PATH)) == 0 ? "standard input"
                                                                                        : path;
}

#endif
