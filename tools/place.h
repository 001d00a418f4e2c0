/*
 * Where an output goes. Only a regular file is ever replaced: a device, a FIFO or /dev/stdout is written into, and
 * a symbolic link is followed to what it leads to. Every call that fails has said why on stderr.
 */
#ifndef PLACE_H
#define PLACE_H

#include <stdbool.h>

struct place {
    char *path;  /* of the regular file, which may not exist yet, with no link at its end */
    bool exists; /* there is one, or a link where one is to be */
    int fd;      /* -1; or what is to be written into, and is never replaced */
};

/* Finds the place that `path` names; 0, or an exit status. A FIFO waits here for who reads it. */
int place_find(const char *path, struct place *place);

/* Is there still no more than a regular file? 0, or an exit status. */
int place_check(const char *path);

#endif
