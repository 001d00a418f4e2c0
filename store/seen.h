/*
 * What was in files that others may replace while a store is open, by their names: so that what is read of them later goes with what was
 * read before. Any number of threads may call, without a lock, which a fork could leave locked.
 */
#ifndef SEEN_H
#define SEEN_H

#include "status.h"

#include <stdatomic.h>

struct seen;

struct seen_list {
    _Atomic(struct seen *) first;
};

/* Takes note of a file's content, by a hash of it, or compares it with what was noted before. APL_E_MISMATCH, without a message: it is
 * another. */
apl_status seen_check(struct seen_list *list, const char *name, uint64_t hash, apl_error *err);

/* The file's new content is the caller's own; nothing is noted of a name that has not been. */
void seen_renew(struct seen_list *list, const char *name, uint64_t hash);

/* While nobody else uses the list. */
void seen_free(struct seen_list *list);

#endif
