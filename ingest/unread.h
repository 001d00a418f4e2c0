/* What directories that were given as sources hold, and nobody reads: data would vanish without a word. */
#ifndef UNREAD_H
#define UNREAD_H

#include "host.h"

/* Refuses a source that is given with others, and of which nothing is read. Asked once the format has been chosen and its files are known. */
apl_status unread_check(const struct ingest *in, apl_error *err);

/* The first table in a directory or below it, safe to print; "": there is none. */
apl_status unread_find_table(const struct ingest *in, const char *path, char *table, size_t size,
                             apl_error *err);

/* Asked once the format has been chosen and its files are known, and once more when these have been read, as then it is known whether tables
 * name images: a notice for each directory that holds others. Those that only describe data need none, nor do hidden files, and packed ones
 * that are read unpacked. Likely errors: APL_E_NOMEM. */
apl_status unread_tell(struct ingest *in, bool read, apl_error *err);

#endif
