/* apl/stats.h - what a reader has delivered, and where the time went; part of apl.h, which states the general rules. */
#ifndef APL_STATS_H
#define APL_STATS_H

#include "reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An account of the deliveries first ... last-1 of an epoch. Receipts of all ranks, and of consecutive parts, add up:
 * delivered + skipped over all of them is last - first, unless something is missing or repeated.
 */
typedef struct apl_receipt {
    uint64_t epoch;
    uint64_t first, last;
    uint64_t delivered; /* handed out by this reader */
    uint64_t skipped;   /* left out of this reader's batches by apl_faults.skip_corrupt */
    uint64_t dropped;   /* left over after `last` because of drop_last; the same for all ranks */
    uint64_t missing;   /* part of this reader's share, but neither delivered nor skipped: always 0 */
    uint64_t repeated;  /* handed out too often: always 0 */
    /* The sum modulo 2^128 (low half, high half) of a keyed hash of (id, copy) of each delivery. */
    uint64_t sum[2];
} apl_receipt;

/* Gets the receipt of the current epoch so far. `size` is sizeof(apl_receipt). */
APL_API APL_MUST_USE apl_status apl_reader_receipt(apl_reader *reader, apl_receipt *receipt, size_t size,
                                                   apl_error *err);

/* The same for one of the ranks that a reader serves. */
APL_API APL_MUST_USE apl_status apl_reader_receipt_of(apl_reader *reader, unsigned rank, apl_receipt *receipt,
                                                      size_t size, apl_error *err);

/* Where the time went since the reader was opened. Times are in seconds, summed over threads unless stated
 * otherwise. */
typedef struct apl_stats {
    double elapsed;            /* since open */
    uint64_t batches, records; /* handed out */
    uint64_t blocks;           /* loaded by this reader, not counting those it found decoded by another */
    double wait;               /* of callers in apl_reader_next(), including calls that got no batch */
    double wait_mean, wait_p50, wait_p99, wait_p999, wait_max; /* of one call */
    double stall;       /* wait / elapsed: with a single caller, the fraction of its time spent waiting */
    double first_batch; /* from open until the first batch is handed out */
    double loading, assembling, planning, blocked; /* blocked: idle threads */
    /* bytes_read: of blocks, and of values of kept fields each time that a batch needs them */
    uint64_t bytes_read, bytes_decoded, bytes_assembled;
    /* Counted as for apl_reader_options.memory_budget: memory shared with other readers is included. */
    uint64_t memory, memory_budget;
    double cpu; /* CPU time of the process, user and system */
    /* queued: finished batches that wait (see queue_depth); lent: batches that the caller holds;
     * slots: places for decoded records that the reader has reserved; standing_slots: those of them in use */
    unsigned queued, lent, standing_slots, slots;
} apl_stats;

/* Fills in *stats. `size` is sizeof(apl_stats). */
APL_API APL_MUST_USE apl_status apl_reader_stats(apl_reader *reader, apl_stats *stats, size_t size);

/* Writes the same as one JSON object, NUL-terminated and truncated if it does not fit. Like snprintf, returns the full
 * length. */
APL_API size_t apl_stats_json(const apl_stats *stats, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
