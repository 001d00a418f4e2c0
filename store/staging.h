/* The directory that a store is written into: locked, filled under a temporary name, published in one step. */
#ifndef STAGING_H
#define STAGING_H

#include "status.h"

#define STORE_FILE "data.mdb"

struct staging;

/* Makes the directory if need be, locks it against other writers and clears away what a killed one has left.
 * APL_E_INVALID if it is a set, or has parts of one; APL_E_EXISTS if there is a store and `replace` is 0; APL_E_BUSY if another writer is at work. */
apl_status staging_open(const char *path, int replace, struct staging **staging, apl_error *err);

/* Creates the temporary file, empty, for reading and writing: once. staging_close() closes it. */
apl_status staging_create(struct staging *staging, int *fd, apl_error *err);

/* The path of the temporary file; before staging_create(), of what it is to be. */
const char *staging_temporary(const struct staging *staging);

/* A nameless file in the directory, for reading and writing, gone when closed. */
apl_status staging_scratch(struct staging *staging, int *fd, apl_error *err);

/* Syncs the temporary file, if it is still there, makes it read-only, gives it its name and syncs the directory; if that last sync is
 * what fails, the new store is in its place nevertheless. APL_E_INVALID if the directory has become that of a set since. Unlocks if all
 * has gone well. An error does not name the directory, unlike those of other calls: who publishes says what. */
apl_status staging_publish(struct staging *staging, apl_error *err);

/* Unlocks, if it still is locked; without a publish before, removes the temporary file, and the directory if staging_open() has made
 * it. NULL is fine. */
void staging_close(struct staging *staging);

#endif
