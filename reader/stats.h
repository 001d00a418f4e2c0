/* Where the time goes. */
#ifndef STATS_H
#define STATS_H

#include "apl.h"
#include "clock.h"

#include <stdbool.h>

#define WAIT_BUCKETS 96u

struct reader_counters {
    uint64_t batches, records, blocks, bytes_read, bytes_decoded, bytes_assembled;
    uint64_t load_ns, collate_ns, plan_ns, blocked_ns, wait_ns, first_batch_ns, opened_at;
    double cpu_at_open;
    uint64_t longest_wait_ns;
    uint64_t fixed_bytes;         /* of slab and plan */
    uint32_t waits[WAIT_BUCKETS]; /* of callers: see stats.c */
    struct spent in_loads, in_batches;
    /* Of waits since the first batch. What follows holds since `marked_at`, and is added up when it changes. */
    uint64_t starved_ns, unused_loaders_ns, unused_consumers_ns, held_ns;
    uint64_t wait_planning_ns, wait_loading_ns, wait_assembling_ns;
    uint64_t marked_at;
    unsigned waiting, idle_loaders, idle_consumers; /* callers; threads that load, and that assemble */
    bool held;                                      /* no batch could be begun: see apl_stats */
};

/* A reader is opened; so much memory it keeps throughout. */
void stats_open(struct reader_counters *counters);
void stats_keep_memory(struct reader_counters *counters, uint64_t bytes);

/* A caller has waited for so long. */
void stats_count_wait(struct reader_counters *counters, uint64_t ns);

/* A caller begins to wait, or has ended it. */
void stats_begin_wait(struct reader_counters *counters, uint64_t now);
void stats_end_wait(struct reader_counters *counters, uint64_t now);

/* It has waited since then (0: it has not), for the batch with these milestones. */
void stats_divide_wait(struct reader_counters *counters, uint64_t since, const struct milestones *batch);

/* A thread that loads, or assembles, or both, has nothing to do, or has again. */
void stats_begin_idle(struct reader_counters *counters, uint64_t now, bool loads, bool collates);
void stats_end_idle(struct reader_counters *counters, uint64_t now, bool loads, bool collates);

/* Is there no memory to begin a batch with? */
void stats_set_held(struct reader_counters *counters, bool held);

/* A batch of that many records and bytes is handed out. */
void stats_count_batch(struct reader_counters *counters, uint64_t records, uint64_t bytes);

/* A block of `bytes_read` in the file has become `bytes_decoded` in memory. */
void stats_count_block(struct reader_counters *counters, uint64_t bytes_read, uint64_t bytes_decoded);

/* A batch took that many more bytes of the file. */
void stats_add_read(struct reader_counters *counters, uint64_t bytes);

/* A thread has spent so long on loading, collating, planning, or waiting for something to do. */
void stats_add_load(struct reader_counters *counters, uint64_t ns, const struct spent *parts);
void stats_add_collate(struct reader_counters *counters, uint64_t ns, const struct spent *parts);
void stats_add_plan(struct reader_counters *counters, uint64_t ns);
void stats_add_blocked(struct reader_counters *counters, uint64_t ns);

#endif
