/* Planning batches of like lengths: what is drawn, a pool at a time. See spec/buckets.h. */
#ifndef BUCKET_PLAN_H
#define BUCKET_PLAN_H

#include "reader.h"

/* Memory for a pool of the planner. */
apl_status bucket_plan_open(apl_reader *r, apl_error *err);

void bucket_plan_free(struct bucket_plan *p);

/* Starts at the beginning of an epoch. */
void bucket_plan_begin(struct bucket_plan *p);

/* The planned epoch goes on at `position`, where a pool begins. */
void bucket_plan_jump(apl_reader *r, uint64_t position);

/* The next n deliveries, as bins_take() gives those of a reader without buckets. Without the lock. */
size_t bucket_plan_draw(apl_reader *r, uint32_t *deliveries, size_t n, bool *failed);

#endif
