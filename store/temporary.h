/*
 * Temporary files in a directory whose lock the caller holds. They have names that nobody else gives: ".tmp-" before
 * the name that the file is to have, and ".1", ".2", ... behind it where something else is called that already. Files
 * with such names are of writers that were killed; what is not a regular file is somebody else's, whatever it is called.
 */
#ifndef TEMPORARY_H
#define TEMPORARY_H

#include "status.h"

#include <stdbool.h>

#define TEMPORARY_BYTES 256 /* of a temporary name, with its end */

/* Creates the temporary file of `name`, empty, for writing by the user alone, in the place of one that was left;
 * `temporary` receives what it is called. A descriptor, or -1 with errno set. */
int temporary_create(int directory, const char *name, char temporary[TEMPORARY_BYTES]);

/* Syncs what has been written, and lets nobody write to it: those may read it whom the user's mask allowed to when
 * it was created. 0, or -1 with errno set. */
int temporary_finish(int fd);

/* Removes all that killed writers have left. */
void temporary_clear(int directory);

/* Is `name` free, or that of a regular file, which may be replaced? What cannot be examined may be: whoever replaces
 * it will see. */
bool may_replace(int directory, const char *name);

#endif
