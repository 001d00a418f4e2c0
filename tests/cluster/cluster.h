/*
 * A cluster that trains, simulated: nodes of several ranks, each with a link to an object store and a disk for a cache. Who reads which
 * block when is told by the plan of the reader itself; time is virtual. See README.md.
 */
#ifndef CLUSTER_H
#define CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cluster {
    const char *name;
    uint64_t seed, records, record_bytes;
    uint32_t nodes, ranks, batch; /* ranks of a node; records of a rank's batch */
    uint32_t block, window;       /* records of a block, and of a node's share of the window */
    uint32_t epochs, horizon;     /* horizon: how many epochs ahead the plan is asked */
    uint64_t cache;               /* bytes of a node's disk */
    uint64_t demand;              /* records a second that a node trains on */
    uint64_t link, store,
        disk; /* bytes a second: a node's link, all that the object store gives, a node's disk */
    uint64_t latency, outage; /* ns */
    uint64_t between;         /* ns from one outage of a link to the next, on average; 0: none */
};

/* Of all that follows from it: blocks are full, and each node has equally many an epoch. */
uint64_t cluster_blocks(const struct cluster *c);
uint64_t cluster_share(const struct cluster *c); /* blocks that a node reads in an epoch */
uint64_t cluster_room(const struct cluster *c);  /* blocks that a node's disk holds */
uint64_t block_bytes(const struct cluster *c);

/* Ends the program. */
void give_up(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void *take_memory(size_t count, size_t size); /* zeroed */

/* ------------------------------------------------------------------------------------------ orders.c: the plan */

struct orders {
    uint32_t **epoch;     /* of each, its blocks in the plan's order; number i is of node i mod nodes */
    uint32_t **place;     /* of each, where each block is in that order */
    uint64_t least, most; /* records that a rank gets in an epoch */
    uint64_t plan_bytes, memory; /* of a node: the plan; and all that a reader of its ranks allocates */
};
void orders_take(const struct cluster *c, struct orders *orders);
void orders_free(const struct cluster *c, struct orders *orders);

/* Blocks of a node that have entered its window before record `drawn` of its epoch is drawn. */
uint64_t entered_by(const struct cluster *c, uint64_t drawn);

/* Goes through an epoch record by record: is all as it is taken to be? */
void orders_check(const struct cluster *c);

/* ----------------------------------------------------------------------------------------- policy.c: the caches */

enum policy { NONE, LRU, STAGED, PARTITION, READER, PLANNED, BOUND, POLICIES };
extern const char *const policy_names[POLICIES];

/* What a node reads in all epochs, as numbers of blocks; and of each, when the node reads it again: an index, or `count`. */
struct reads {
    uint32_t *block, *again;
    uint32_t count;
};
void reads_open(const struct cluster *c, struct reads *reads);
void reads_of_node(const struct cluster *c, const struct orders *orders, uint32_t node, struct reads *reads);
void reads_close(struct reads *reads);

/* Marks those that the node has on its disk. Returns how many it fetches. Not READER. */
uint64_t policy_apply(const struct cluster *c, enum policy policy, const struct reads *reads, uint8_t *here);

/* The same for READER, by the cache of readers itself: reader_cache.c. */
uint64_t reader_cache_apply(const struct cluster *c, const struct orders *orders, uint32_t node,
                            const struct reads *reads, uint8_t *here);

/* The same for LRU and those that know the future and are modelled, by going through all that is there. */
uint64_t policy_slowly(const struct cluster *c, enum policy policy, const struct reads *reads);

/* ------------------------------------------------------------------------------------------------ clock.c: time */

struct timing {
    uint64_t wall, stall, staging; /* ns; staging: before the first step, and part of the stall */
};

/* Trains: here[node * reads + i] says whether a node has its i-th read on its disk. */
struct timing clock_run(const struct cluster *c, enum policy policy, const uint8_t *here);

#endif
