/* Buckets: batches of records of like lengths. The deliveries of so many batches of all ranks in a row, a pool, are sorted by length, cut
 * into batches, and these are shuffled. */
#ifndef BUCKETS_H
#define BUCKETS_H

#include "reader.h"

/* Reads the lengths of the field whose lengths count. */
apl_status buckets_open(apl_reader *r, apl_error *err);
void buckets_free(struct bucket *bucket);

/* Memory for a pool of the planner. */
apl_status buckets_plan_open(apl_reader *r, apl_error *err);
void buckets_plan_free(struct bucket_plan *p);

/* Starts at the beginning of an epoch. */
void buckets_begin(struct bucket_plan *p);

/* The next n deliveries of the planner's plan, as plan_next() gives those of one without buckets. Without the lock. */
size_t buckets_draw(apl_reader *r, uint32_t *deliveries, size_t n, bool *failed);

/* Bytes that buckets take. */
uint64_t buckets_bytes(const apl_reader *r);

#endif
