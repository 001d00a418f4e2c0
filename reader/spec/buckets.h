/* Buckets: batches of records of like lengths. The deliveries of so many batches of all ranks in a row, a pool, are sorted by length, cut
 * into batches, and these are shuffled. */
#ifndef BUCKETS_H
#define BUCKETS_H

#include "spec.h"

/* Reads the lengths of the field whose lengths count. */
apl_status buckets_open(struct spec *spec, apl_error *err);
void buckets_free(struct bucket *bucket);

/* Bytes that buckets take. */
uint64_t buckets_bytes(const struct spec *spec);

#endif
