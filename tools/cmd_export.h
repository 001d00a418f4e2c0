/* What the formats of `apldata export` share. */
#ifndef CMD_EXPORT_H
#define CMD_EXPORT_H

#include "field_names.h"
#include "outfile.h"
#include "progress.h"
#include "value.h"

struct export
{
    const char *path, *folder;
    unsigned threads;
    struct field_names fields; /* as asked for; none: those that the format takes of itself */
    const char *label;         /* the field whose classes are folders; NULL: to be found */
    bool quiet;                /* no notes */
    bool by_id;                /* names are ids, even where the store has paths */
    uint64_t shard_bytes;      /* a shard ends before it grows beyond that, */
    uint64_t shard_records;    /* or has that many; 0: no limit */
    apl_store *store;
    const apl_info *info;
    struct outset out;
    struct progress progress;
    uint64_t done, total; /* records, in all passes over the store */
};

/* The formats. Each adds its files to the set and writes them; messages of failures are on stderr. */
int export_cifar(struct export *x);
int export_folder(struct export *x);
int export_idx(struct export *x);
int export_npy(struct export *x);
int export_raw(struct export *x);
int export_tfrecord(struct export *x);
int export_webdataset(struct export *x);

/* Passes the records first ... first+count-1 to `take`, some at a time, with only the `n` fields whose numbers are
 * given. Stops when `take` returns non-zero, and on a signal. */
int export_each(struct export *x, uint64_t first, uint64_t count, const unsigned *fields, unsigned n,
                int (*take)(void *user, const apl_batch *batch), void *user);

/* The numbers of the fields to export, in schema order: those asked for, or all, with or without
 * `positions`; *count of them. 0, or an exit status if the store lacks one. */
int export_fields(const struct export *x, bool positions, unsigned fields[APL_MAX_FIELDS], unsigned *count);

#endif
