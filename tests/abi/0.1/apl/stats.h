/* apl/stats.h - what a reader has delivered, and where the time went; part of apl.h, which states the general rules. */
#ifndef APL_STATS_H
#define APL_STATS_H

#include "reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An account of the deliveries first ... last-1 of an epoch. Receipts of all ranks, and of consecutive parts, add up:
 * delivered + skipped over all of them is last - first, unless something is missing or repeated, or the reader packs:
 * then first and last count tokens, and delivered and skipped records.
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
    /* bytes_read: of blocks, and of values of kept fields, each time a batch needs them */
    uint64_t bytes_read, bytes_decoded, bytes_assembled;
    /* Counted as for apl_reader_options.memory_budget, but decoded values of varying shape with the size that they
     * have, for as long as they are in memory; memory shared with other readers is included. */
    uint64_t memory, memory_budget;
    double cpu; /* CPU time of the process, user and system */
    /* queued: finished batches that wait (see queue_depth); lent: batches that the caller holds; slots: room for this
     * many decoded records is reserved; standing_slots: those of them in use */
    unsigned queued, lent, standing_slots, slots;

    /* Why callers waited, from the first batch on, so that start-up is left out. starved: the time during which any
     * caller waited; wait_...: the waits of all callers, until their batch was planned, then until all its records
     * were loaded and a thread began on it, then until it was assembled. */
    double starved, wait_planning, wait_loading, wait_assembling;
    /* Thread-seconds that loading and assembling threads were idle while a caller waited. A thread that does both
     * counts in both. */
    double unused_loaders, unused_consumers;
    /* of starved: no batch could be begun, because batches that had not been released used up the memory budget */
    double held;
    double reading;      /* of loading: getting blocks from the file or URL */
    double reading_kept; /* of assembling: the same for values of kept fields */
    double images;       /* of assembling: decoding and resizing images */
    double callback;     /* of assembling: in on_batch() */
    /* waiting: callers that wait now; cores: apl_cores(); ranks: the number served; slowest_rank: of these, the one
     * that waited least; served: 1 if a server makes the batches */
    unsigned waiting, threads, loaders, consumers, queue_depth, cores, ranks, slowest_rank, served;
    /* For stores at URLs, since they were opened, by all their users: requests, bytes received, and requests that
     * repeated a failed one; parts and bytes read from the cache instead, and parts that were damaged there. */
    uint64_t requests, bytes_fetched, retries, cache_hits, bytes_cached, cache_damaged;
    double cpu_since_open; /* of cpu: the part since the reader was opened */
} apl_stats;

/* Fills in *stats. `size` is sizeof(apl_stats). */
APL_API APL_MUST_USE apl_status apl_reader_stats(apl_reader *reader, apl_stats *stats, size_t size);

/* Writes the same as one JSON object, NUL-terminated and truncated if it does not fit. Like snprintf, returns the full
 * length. Fractions have a point whatever the program's locale, here and wherever the library writes numbers. */
APL_API size_t apl_stats_json(const apl_stats *stats, char *text, size_t size);

/* The same, but with every member that the caller's version of the header has: `stats_size` is sizeof(apl_stats).
 * apl_stats_json() writes the members up to `slots` only. */
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
 * Explains in a few lines of text what keeps training from going faster, what would help, and the figures behind it;
 * the first line is the answer. `before` is an earlier snapshot of the same reader, to explain only what happened
 * since then; NULL: since the reader was opened. `stats_size` is sizeof(apl_stats). A pure function: it needs no
 * reader. `bottleneck` may be NULL.
 *
 * Writes a NUL-terminated text, truncated if it does not fit. Like snprintf, returns the full length; 0: an argument is
 * wrong.
 */
APL_API size_t apl_stats_explain(const apl_stats *stats, const apl_stats *before, size_t stats_size,
                                 apl_bottleneck *bottleneck, char *text, size_t size);

/* A reader's statistics, and the labels of its metrics, in UTF-8. */
typedef struct apl_measured {
    const apl_stats *stats;
    const char *loader; /* a name for it, such as "train" */
    const char *store, *split;
} apl_measured;

typedef enum apl_metrics_format {
    APL_METRICS_PROMETHEUS = 0, /* its text format, version 0.0.4 */
    APL_METRICS_OPEN = 1        /* OpenMetrics 1.0.0 */
} apl_metrics_format;

/*
 * Writes the statistics of `count` readers as metrics for Prometheus, all named apl_loader_...: counters of seconds,
 * records and bytes, and gauges of what they hold. `stats_size` is sizeof(apl_stats). A pure function, like
 * apl_stats_explain(). Bytes of a label that are not UTF-8 are escaped as by apl_printable().
 *
 * Writes a NUL-terminated text, truncated if it does not fit. Like snprintf, returns the full length; 0: an argument is
 * wrong, memory ran out, or `count` is 0.
 */
APL_API size_t apl_stats_metrics(const apl_measured *measured, size_t count, size_t stats_size,
                                 apl_metrics_format format, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
