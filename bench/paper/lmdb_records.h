/* Writes what the loader `lmdb` reads. */
#ifndef PAPER_LMDB_RECORDS_H
#define PAPER_LMDB_RECORDS_H

#include "loader.h"

/* From CIFAR's own files in asked->raw into the new directory asked->lmdb. */
void lmdb_records_write(const struct loading *asked);

#endif
