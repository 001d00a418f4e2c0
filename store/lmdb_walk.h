/* Walking an LMDB file from its root, every page, node and key checked before it is followed: see lmdb_read.h. */
#ifndef LMDB_WALK_H
#define LMDB_WALK_H

#include "lmdb_read.h"

/* Fills `lmdb`, of which map, fd and size are set, of the file open as `fd`. */
apl_status lmdb_walk(struct lmdb_reader *lmdb, int fd, apl_error *err);

#endif
