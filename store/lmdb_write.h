/* The writing side of the LMDB file: a new file, values put in whatever order they come, nothing ever
 * changed. */
#ifndef LMDB_WRITE_H
#define LMDB_WRITE_H

#include "lmdb_read.h"

struct lmdb_writer;

/* Makes an LMDB file of the one that is open as `fd`, for reading and writing, and empty; fd remains the caller's. `path`
 * leads there too: it is used where there is no /proc, and APL_E_IO if it leads elsewhere by then. */
apl_status lmdb_writer_create(int fd, const char *path, struct lmdb_writer **lmdb, apl_error *err);

/* Puts a value under a key that is not there yet. Commits now and then; which puts share a commit depends on
 * their sizes alone, so that the same puts give the same file. */
apl_status lmdb_writer_put(struct lmdb_writer *lmdb, struct key key, const void *value, size_t size,
                           apl_error *err);

/* Commits what has been put; the file can then be read by others. */
apl_status lmdb_writer_commit(struct lmdb_writer *lmdb, apl_error *err);

/* Brings everything to the disk. */
apl_status lmdb_writer_sync(struct lmdb_writer *lmdb, apl_error *err);

/* Bytes of the values that have been put. */
uint64_t lmdb_writer_bytes(const struct lmdb_writer *lmdb);

/* NULL is fine. What was not committed is dropped. */
void lmdb_writer_close(struct lmdb_writer *lmdb);

#endif
