/* Standard input that is not read as it comes: its first bytes tell what it is, and whether it must be copied to be read twice. */
#ifndef STANDARD_H
#define STANDARD_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct standard {
    char path[48]; /* by which it can be opened more than once; "": the system offers no such path */
    uint8_t *head; /* what has been read from standard input itself; NULL: nothing has */
    size_t size;   /* of that: no less than 256 KiB unless that is all */
    bool whole;    /* the path has all of it, not only the head */
    bool archive;  /* the head is an archive's, or may be */
    int fd;        /* of a file without a name, with the head; -1: none */
    int (*poll)(void *user); /* as given */
    void *user;
};

/* Looks at it. `db`: beside which there is a file of the head. A regular file at its beginning is whole where it lies. `poll` is
 * called now and then; non-zero: APL_E_CANCELLED. It must be closed, whatever comes back. */
apl_status standard_open(const char *db, int (*poll)(void *user), void *user, struct standard *s,
                         apl_error *err);

/* Copies the rest, so that it is whole. */
apl_status standard_copy(struct standard *s, apl_error *err);

/* From any state, all zero with `fd` -1 as well. */
void standard_close(struct standard *s);

#endif
