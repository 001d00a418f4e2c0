/* apl/stats.h - what a reader has delivered, and where the time went; part of apl.h, where the rules stand. */
#ifndef APL_STATS_H
#define APL_STATS_H

#include "reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What became of the deliveries first ... last-1 of an epoch. Receipts of all ranks, and of parts that follow
 * each other, add up: delivered + skipped over all of them is last - first, or else something is missing or
 * repeated.
 */
typedef struct apl_receipt {
    uint64_t epoch;
    uint64_t first, last;
    uint64_t delivered; /* handed out by this reader */
    uint64_t skipped;   /* left out of its batches because their block is corrupt */
    uint64_t dropped;   /* after last, left over because of drop_last; all ranks see the same */
    uint64_t missing;   /* of this reader's share, neither delivered nor skipped: always 0 */
    uint64_t repeated;  /* handed out more often than they should be: always 0 */
    /* Sum modulo 2^128 (low half, high half) of keyed hashes of (id, copy) of what was delivered. */
    uint64_t sum[2];
} apl_receipt;

/* The receipt of the current epoch up to now. `size` is sizeof(apl_receipt). */
APL_API APL_MUST_USE apl_status apl_reader_receipt(apl_reader *reader, apl_receipt *receipt, size_t size,
                                                   apl_error *err);

/* Where the time went, since the reader was opened. Times are in seconds, summed over threads unless said
 * otherwise. */
typedef struct apl_stats {
    double elapsed;            /* since open */
    uint64_t batches, records; /* handed out */
    uint64_t blocks;           /* loaded by this reader: not those that it found decoded by another */
    double wait;               /* of callers in apl_reader_next(), also in vain */
    double wait_mean, wait_p50, wait_p99, wait_p999, wait_max; /* of one call */
    double stall;       /* wait / elapsed: of one caller, the fraction of the time that it waited */
    double first_batch; /* from open until the first batch was handed out */
    double loading, assembling, planning, blocked; /* blocked: threads that had nothing to do */
    uint64_t bytes_read, bytes_decoded, bytes_assembled;
    /* As apl_reader_options.memory_budget counts: what is shared with other readers is included. */
    uint64_t memory, memory_budget;
    double cpu; /* of the process, user and system */
    /* queued: finished batches that wait (see queue_depth); lent: batches that the caller holds */
    unsigned queued, lent, standing_slots, slots;
} apl_stats;

/* Fills *stats. `size` is sizeof(apl_stats). */
APL_API APL_MUST_USE apl_status apl_reader_stats(apl_reader *reader, apl_stats *stats, size_t size);

/* The same as one JSON object, NUL-terminated, cut if it does not fit; returns the length that it has, as
 * snprintf does. */
APL_API size_t apl_stats_json(const apl_stats *stats, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
