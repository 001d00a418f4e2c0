/* Writes what the loaders `lmdb` and `lmdb-raw` read: two LMDBs, whose values are compressed by zstd, and are as they are. */
#ifndef PAPER_LMDB_RECORDS_H
#define PAPER_LMDB_RECORDS_H

#include "loader.h"

/* From CIFAR's own files in asked->raw into the new directory asked->lmdb: zstd/ and raw/. */
void lmdb_records_write(const struct loading *asked);

#endif
