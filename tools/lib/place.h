/*
 * Where output goes. Only regular files are replaced: devices, FIFOs and /dev/stdout are written to, and symbolic links
 * are followed. Files of a store, and named splits, are never replaced. Every call that fails has said why on stderr.
 */
#ifndef PLACE_H
#define PLACE_H

#include <stdbool.h>

struct place {
    char *path;  /* of the regular file, which may not exist yet, with no link at its end */
    bool exists; /* the file exists, or a link to where it will be */
    int fd;      /* -1; or open, to be written to and never replaced */
};

/* Finds the place that `path` names; 0, or an exit status. Blocks on a FIFO until somebody reads it. */
int place_find(const char *path, struct place *place);

/* Is it still a regular file, or nothing? 0, or an exit status. */
int place_check(const char *path);

#endif
