/* Where the time goes. */
#ifndef STATS_H
#define STATS_H

#include "reader.h"

/* Monotonic time in nanoseconds. */
uint64_t now_ns(void);

/* A caller has waited for so long. */
void stats_count_wait(struct reader_counters *counters, uint64_t ns);

#endif
