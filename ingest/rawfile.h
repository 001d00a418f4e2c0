/* The bytes of a descriptor as they lie there, hashed and counted as they are read, by a thread that can be
 * stopped while it waits for them. */
#ifndef RAWFILE_H
#define RAWFILE_H

#include "hasher.h"
#include "status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rawfile {
    int fd;
    const char *name;    /* for messages */
    struct hasher *sha;  /* takes the bytes read; may be NULL */
    const uint8_t *head; /* bytes that were read from it before, and come first: */
    size_t head_left;
    bool waits; /* not a regular file: a read may wait for ever */
    _Atomic uint64_t taken;
    bool (*stopped)(void *user); /* asked while waiting */
    void *user;
};

/* Reads up to `room` bytes, at least one; *got == 0 at the end, APL_E_CANCELLED when stopped. */
apl_status rawfile_read(struct rawfile *file, uint8_t *data, size_t room, size_t *got, apl_error *err);

#endif
