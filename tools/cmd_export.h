/* What the formats of `apldata export` share. */
#ifndef CMD_EXPORT_H
#define CMD_EXPORT_H

#include "outfile.h"
#include "progress.h"
#include "value.h"

struct export
{
    const char *path, *folder;
    unsigned threads;
    apl_store *store;
    const apl_info *info;
    struct outset out;
    struct progress progress;
    uint64_t done, total; /* records, in all passes over the store */
};

/* The formats. Each adds its files to the set and writes them; messages of failures are on stderr. */
int export_cifar(struct export *x);
int export_npy(struct export *x);
int export_raw(struct export *x);

/* Passes the records first ... first+count-1 to `take`, some at a time, with only the `n` fields whose numbers are
 * given. Stops when `take` returns non-zero, and on a signal. */
int export_each(struct export *x, uint64_t first, uint64_t count, const unsigned *fields, unsigned n,
                int (*take)(void *user, const apl_batch *batch), void *user);

#endif
