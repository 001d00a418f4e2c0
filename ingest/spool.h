/* Files without a name, beside the store that is being made: they are gone whatever happens. */
#ifndef SPOOL_H
#define SPOOL_H

#include "status.h"

#include <stddef.h>

/* An empty one, open for reading and writing. */
apl_status spool_open(const char *db, int *fd, apl_error *err);

/* Standard input as a file that can be read more than once: copied into one of these, unless it is a regular file at its beginning.
 * What is no archive is not copied in whole, as it is refused anyway. */
struct spool {
    int fd; /* -1: none */
    char path[48];
};

/* *path: what the copy is opened by, as long as the spool is there; "-" where the system offers no such path. `poll` is called now and
 * then; non-zero: APL_E_CANCELLED. */
apl_status spool_standard_input(const char *db, int (*poll)(void *user), void *user, struct spool *spool,
                                const char **path, apl_error *err);
void spool_close(struct spool *spool);

#endif
