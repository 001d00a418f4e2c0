/*
 * A reader, for the files that share it: its parts. reader/README.md says who does what.
 *
 * One lock guards all that is scheduled; it is taken per batch and per block, never per record.
 */
#ifndef READER_H
#define READER_H

#include "activity.h"
#include "arriving.h"
#include "assemble.h"
#include "batch.h"
#include "block_cache.h"
#include "calls.h"
#include "failure.h"
#include "future.h"
#include "hash.h"
#include "outlet.h"
#include "parallel.h"
#include "planner.h"
#include "provider.h"
#include "runs.h"
#include "spec.h"
#include "stats.h"
#include "workers.h"

/* Digests, for states: see state.c. */
struct identity {
    uint8_t content[32];  /* of what is read */
    struct hash128 order; /* of what shapes the order: low, of all of it; high, a byte for each part of it */
    uint64_t first;       /* of readers in sequence: low, as states of version 1 have it */
    uint64_t kinds;       /* of the fields that are read: see kinds_sum() */
};

/* One lock guards all parts below `work`. Each part is written by the file of its name alone (the spec by spec/,
 * counters by stats.c, identity by state.c); others call it, or read. */
struct apl_reader {
    struct spec spec;
    struct handle *handle;           /* held by the owner, each thread, each caller inside */
    unsigned forks;                  /* that came before it: more, and it is the parent's */
    const struct provider *provider; /* another process makes its batches; NULL: they are made here */
    struct client *client;           /* what that process is to it */
    struct monitor *monitor;         /* NULL: it is not watched */
    int notify; /* of a server, which reads it without waiting; -1: it is read by callers who wait */
    struct identity identity;

    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t work, done;
    struct failure failure;
    struct calls calls;
    struct activity activity;
    struct workers workers;
    struct help help;
    struct planner planner;
    struct future future;
    struct arriving arriving;
    struct block_cache cache;
    struct outlet *outlets; /* of each rank that is served */
    unsigned outlet_count;
    uint32_t
        *seats; /* of each rank of the world, the number of its outlet, from 1; 0: it is served elsewhere */
    bool asked; /* a server has found no batch, and is to be notified of the next */
    struct reader_counters counters;
};

#endif
