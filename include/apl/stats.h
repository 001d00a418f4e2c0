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

    /* Why callers waited, counted from the first batch on, so that what an epoch's start takes is left out.
     * starved: the time in which any caller waited; wait_...: that of all callers, until their batch was planned, then
     * until all its records were there and a thread took it up, then until it was assembled. */
    double starved, wait_planning, wait_loading, wait_assembling;
    /* Thread-seconds, while a caller waited, in which a thread that loads, or one that assembles, had nothing to do. A thread
     * that does both counts in both. */
    double unused_loaders, unused_consumers;
    double
        held; /* of starved: no batch could be begun, because the memory budget was used up by batches not released */
    double reading;      /* of loading: getting blocks from the file or URL */
    double reading_kept; /* of assembling: the same for values of kept fields */
    double images;       /* of assembling: decoding and resizing images */
    double callback;     /* of assembling: in on_batch() */
    /* waiting: callers that wait now; cores: apl_cores(); ranks: that are served; slowest_rank: of these, the one that
     * waited least; served: 1 if the batches come from a server, which does the work */
    unsigned waiting, threads, loaders, consumers, queue_depth, cores, ranks, slowest_rank, served;
    /* Of stores at URLs, since they were opened, for all who use them: requests and the bytes that came, and how many were repeats of
     * some that had failed; what was read from the cache instead, in parts and bytes, and parts that were damaged there. */
    uint64_t requests, bytes_fetched, retries, cache_hits, bytes_cached, cache_damaged;
    double cpu_since_open; /* of cpu: since the reader was opened */
} apl_stats;

/* Fills in *stats. `size` is sizeof(apl_stats). */
APL_API APL_MUST_USE apl_status apl_reader_stats(apl_reader *reader, apl_stats *stats, size_t size);

/* Writes the same as one JSON object, NUL-terminated and truncated if it does not fit. Like snprintf, returns the full
 * length. */
APL_API size_t apl_stats_json(const apl_stats *stats, char *text, size_t size);

/* The same with all that a caller of this version knows: `stats_size` is sizeof(apl_stats). apl_stats_json() writes the
 * members up to `slots`. */
APL_API size_t apl_stats_json_all(const apl_stats *stats, size_t stats_size, char *text, size_t size);

/* What keeps training from going faster. */
typedef enum apl_bottleneck {
    APL_BOTTLENECK_UNKNOWN = 0,    /* too few batches to tell */
    APL_BOTTLENECK_TRAINING = 1,   /* training itself: it does not wait for data */
    APL_BOTTLENECK_READING = 2,    /* threads wait for storage or the network */
    APL_BOTTLENECK_DECODING = 3,   /* threads decode blocks or images */
    APL_BOTTLENECK_ASSEMBLING = 4, /* threads crop, augment, convert and copy */
    APL_BOTTLENECK_CALLBACK = 5,   /* threads are inside on_batch() */
    APL_BOTTLENECK_PLANNING = 6,   /* the order is being drawn */
    APL_BOTTLENECK_QUEUE = 7,      /* threads cannot work far enough ahead: queue_depth, or the window */
    APL_BOTTLENECK_MEMORY = 8,     /* batches that are not released use up memory_budget */
    APL_BOTTLENECK_RANK = 9,       /* one of several ranks takes its batches later than the others */
    APL_BOTTLENECK_SERVER = 10     /* the server that the batches come from */
} apl_bottleneck;

/*
 * Says in words what keeps training from going faster, what would help, and by which figures: a few lines, the first of
 * them the answer. `before` is an earlier snapshot of the same reader, and what happened since then is judged; NULL: since
 * the reader was opened. `stats_size` is sizeof(apl_stats). A pure function: it needs no reader. `bottleneck` may be NULL.
 *
 * Writes a NUL-terminated text, truncated if it does not fit. Like snprintf, returns the full length; 0: an argument is
 * wrong.
 */
APL_API size_t apl_stats_explain(const apl_stats *stats, const apl_stats *before, size_t stats_size,
                                 apl_bottleneck *bottleneck, char *text, size_t size);

/* A reader's statistics, and the values of the labels that its metrics have: all in UTF-8. */
typedef struct apl_measured {
    const apl_stats *stats;
    const char *loader; /* what tells it from others, such as "train" */
    const char *store, *split;
} apl_measured;

typedef enum apl_metrics_format {
    APL_METRICS_PROMETHEUS = 0, /* its text format, version 0.0.4 */
    APL_METRICS_OPEN = 1        /* OpenMetrics 1.0.0 */
} apl_metrics_format;

/*
 * Writes what `count` readers have done as metrics for Prometheus, all of them named apl_loader_...: counters of seconds, records and
 * bytes, and how much they hold. `stats_size` is sizeof(apl_stats). A pure function, as apl_stats_explain() is. What is
 * not UTF-8 in a label is escaped as apl_printable() does.
 *
 * Writes a NUL-terminated text, truncated if it does not fit. Like snprintf, returns the full length; 0: an argument is
 * wrong, out of memory, or there is nothing to tell.
 */
APL_API size_t apl_stats_metrics(const apl_measured *measured, size_t count, size_t stats_size,
                                 apl_metrics_format format, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
