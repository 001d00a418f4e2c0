/* The directory that a store is written into: locked, filled under a temporary name, published in one step.
 */
#ifndef STAGING_H
#define STAGING_H

#include "status.h"

#define STORE_FILE "data.mdb"

struct target;

/* Makes the directory if need be, locks it against other writers and clears away what a killed one has left.
 * APL_E_EXISTS if there is a store and `replace` is 0; APL_E_BUSY if another process is writing. */
apl_status target_open(const char *path, int replace, struct target **target, apl_error *err);

/* Creates the temporary file, empty, for reading and writing: once. It is the target's. */
apl_status target_create(struct target *target, int *fd, apl_error *err);

/* The path of the temporary file; before target_create(), of what it is to be. */
const char *target_temporary(const struct target *target);

/* A nameless file in the directory, for reading and writing, gone when closed. */
apl_status target_scratch(struct target *target, int *fd, apl_error *err);

/* Syncs the temporary file, if it is still there, makes it read-only, gives it its name and syncs the directory; if that last sync is
 * what fails, the new store is in its place nevertheless. */
apl_status target_publish(struct target *target, apl_error *err);

/* Unlocks; without a publish before, removes the temporary file, and the directory if target_open() has made
 * it. NULL is fine. */
void target_close(struct target *target);

#endif
