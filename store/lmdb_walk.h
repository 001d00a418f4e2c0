/* Walking an LMDB file from its root, every page, node and key checked before it is followed: see lmdb_read.h. */
#ifndef LMDB_WALK_H
#define LMDB_WALK_H

#include "lmdb_read.h"

/* Fills `lmdb`, of which map, fd and size are set, of the file open as `fd`. */
apl_status lmdb_walk(struct lmdb_reader *lmdb, int fd, apl_error *err);

/* Is this, of which the first bytes are at hand, an LMDB file that is shorter than it says? */
bool lmdb_is_cut(const uint8_t *head, size_t bytes, uint64_t file_bytes);

#endif
