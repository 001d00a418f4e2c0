/* A file of a source, where it lies: as it was when it was found, and opened only if it is still the same. */
#ifndef FOUND_FILE_H
#define FOUND_FILE_H

#include "peek.h"
#include "status.h"

#include <stdbool.h>
#include <sys/stat.h>

#define PLACE_HEAD 512u /* bytes looked at to tell what it is */

struct place {
    char *open_path; /* to open it by */
    char *name;      /* the last part of the path, without .gz and the like where it is packed */
    char *path;      /* safe to print */
    size_t
        source; /* which of those that were added it is, or lies in, from 1 on; 0: it was found beside one */
    size_t below;   /* where in open_path it begins what may tell a split: see split_of_path() */
    struct stat st; /* when it was found */
    uint8_t head[PLACE_HEAD];
    bool follow;   /* it may be a link: it was given by name, or links are followed */
    int fd;        /* of read_at; -1: none yet */
    bool was_read; /* to its end: of what it had then is */
    uint8_t digest[32];
    bool known; /* of a part: the digest, before any part could read anything else than others do */
    char *members[PEEK_NAMES]; /* of an archive: its first */
    size_t member_count;
};

/* below: in bytes of the path. NULL: out of memory. */
struct place *place_new(const char *path, size_t below, bool follow);
void place_free(struct place *place);

/* The last part of a path. */
const char *path_last(const char *path);

/* Opens without waiting for the other end of a pipe. What is no regular file, or not the same as before, is an error. */
apl_status place_open(struct place *place, int *fd, apl_error *err);

/* Finds it, and tells from its first bytes whether it is packed; with `named`, only if its name ends in .gz or the like. */
apl_status place_find(struct place *place, bool named, bool *packed, apl_error *err);

/* Are the first bytes of a file those of a tar? */
bool is_tar(const uint8_t *head, size_t size);

#endif
