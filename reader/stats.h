/* Where the time goes. */
#ifndef STATS_H
#define STATS_H

#include "apl.h"

#define WAIT_BUCKETS 96u

struct reader_counters {
    uint64_t batches, records, blocks, bytes_read, bytes_decoded, bytes_assembled;
    uint64_t load_ns, collate_ns, plan_ns, blocked_ns, wait_ns, first_batch_ns, opened_at;
    uint64_t longest_wait_ns;
    uint64_t fixed_bytes;         /* of slab and plan */
    uint32_t waits[WAIT_BUCKETS]; /* of callers: see stats.c */
};

/* Monotonic time in nanoseconds. */
uint64_t now_ns(void);

/* A reader is opened; so much memory it keeps throughout. */
void stats_open(struct reader_counters *counters);
void stats_keep_memory(struct reader_counters *counters, uint64_t bytes);

/* A caller has waited for so long. */
void stats_count_wait(struct reader_counters *counters, uint64_t ns);

/* A batch of so many records and bytes is handed out. */
void stats_count_batch(struct reader_counters *counters, uint64_t records, uint64_t bytes);

/* A block of so many bytes in the file has become so many in memory. */
void stats_count_block(struct reader_counters *counters, uint64_t bytes_read, uint64_t bytes_decoded);

/* A batch took so many bytes more of the file. */
void stats_add_read(struct reader_counters *counters, uint64_t bytes);

/* A thread has spent so long on loading, collating, planning, or waiting for something to do. */
void stats_add_load(struct reader_counters *counters, uint64_t ns);
void stats_add_collate(struct reader_counters *counters, uint64_t ns);
void stats_add_plan(struct reader_counters *counters, uint64_t ns);
void stats_add_blocked(struct reader_counters *counters, uint64_t ns);

#endif
