/* Opening the file of one store, and holding it, beneath apl_store_open() and sets. */
#ifndef STORE_FILE_H
#define STORE_FILE_H

#include "store.h"

/* A path as it was given, safe to print; NULL: out of memory. */
char *shown_path(const char *path);

/* A URL as it may be shown: what follows a question mark may be a secret, and so may what comes before an @. */
char *shown_url(const char *url);

/* A store with nothing open yet, and one reference. Takes the name over; NULL is out of memory. */
apl_status store_new(char *name, apl_store **store, apl_error *err);

/* Opens the directory `path`, from `at` on, as openat() does. */
apl_status store_open_directory(apl_store *store, int at, const char *path, apl_error *err);

/* Opens data.mdb in the directory that is open; APL_E_NOTFOUND if it is missing. */
apl_status store_open_pages(apl_store *store, apl_io io, apl_error *err);

/* Opens the store in the directory `name` below `directory`, for its blocks alone: it has no lists to describe itself, and no split
 * files. Messages call it `above`/`name`; both are safe to print. */
apl_status store_open_at(int directory, const char *name, const char *above, apl_io io, apl_store **store,
                         apl_error *err);

/* Opens a store, or a set, at a URL that is not one of a file; APL_E_NOTFOUND if nothing is there. The options have been checked. */
apl_status store_open_url(apl_store *store, const char *path, const apl_store_options *options,
                          apl_error *err);

/* Opens data.mdb below the store's URL; APL_E_NOTFOUND if it is missing. */
apl_status store_open_pages_below(apl_store *store, apl_error *err);

/* The same as store_open_at() below a URL. */
apl_status store_open_below(const struct url *above, const char *name, const struct remote_options *remote,
                            apl_store **store, apl_error *err);

/* Gives a reference back; true if it was the last. */
bool store_drop(apl_store *store);

/* Frees all of it but its set. */
void store_free(apl_store *store);

/* Gives back a reference to a store that is no set; store_release() does so for either. NULL is fine. */
void store_release_file(apl_store *store);

#endif
