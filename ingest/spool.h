/* Files without a name, beside the store that is being made: they are gone whatever happens. */
#ifndef SPOOL_H
#define SPOOL_H

#include "status.h"

/* An empty one, open for reading and writing. */
apl_status spool_open(const char *db, int *fd, apl_error *err);

#endif
