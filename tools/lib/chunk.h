/* Reading a store some records at a time. */
#ifndef CHUNK_H
#define CHUNK_H

#include "apl.h"

#define CHUNK_RECORDS 8192

/* How many records to decode at a time, 1 to CHUNK_RECORDS: enough to keep the threads busy without using much memory, and a whole
 * number of blocks if possible. */
size_t chunk_records(const apl_info *info);

/* Gets records with only the `count` fields whose numbers are given; 0, or an exit status after saying why not. Nothing is read
 * after a signal. */
int chunk_get(apl_store *store, const uint64_t *ids, size_t n, const unsigned *fields, unsigned count,
              unsigned threads, apl_batch **batch);

/* The same, but says in `err` why it fails. */
apl_status chunk_read(apl_store *store, const uint64_t *ids, size_t n, const unsigned *fields, unsigned count,
                      unsigned threads, apl_batch **batch, apl_error *err);

#endif
