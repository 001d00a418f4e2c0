/*
 * Simulates clusters, and prints a table of policies for each:
 *
 *     cluster [--seed N] [--small]      a cluster of 1,000 nodes, and one of 8; --small: of fewer records
 *     cluster --check [--seed N]        goes through small ones record by record, and block by block
 */
#include "cluster.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GB     1000000000ull
#define SECOND 1000000000ull

void give_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "cluster: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

void *take_memory(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory)
        give_up("out of memory");
    return memory;
}

/* ------------------------------------------------------------------------------------------------------ clusters */

static const struct cluster large = {
    .name = "1,000 nodes",
    .records = 1000000000,
    .record_bytes = 100000,
    .nodes = 1000,
    .ranks = 8,
    .batch = 32,
    .block = 125,
    .window = 5000,
    .epochs = 10,
    .horizon = 10,
    .cache = 200 * GB,
    .demand = 1000,
    .link = 1250000000,
    .store = 125 * GB,
    .disk = 3 * GB,
    .latency = 20000000,
    .outage = 30 * SECOND,
    .between = 86400 * SECOND,
};

static struct cluster eight_nodes(void)
{
    struct cluster c = large;
    c.name = "8 nodes";
    c.nodes = 8;
    c.records = 8000000;
    c.store = GB;
    return c;
}

/* Fewer records, and disks that are as much smaller. */
static void shrink(struct cluster *c)
{
    uint64_t times = 20;
    c->nodes = c->nodes > 100 ? 50 : c->nodes;
    c->store = GB / 8 * c->nodes;
    c->records = large.records / large.nodes * c->nodes / times;
    c->cache /= times;
}

/* --------------------------------------------------------------------------------------------------------- tables */

struct result {
    uint64_t fetched, least, most; /* blocks, over all; of the node that fetches least and most */
    struct timing timing;
};

static struct result apply(const struct cluster *c, enum policy policy, const struct orders *orders,
                           uint8_t *here)
{
    struct result result = {.least = UINT64_MAX};
    struct reads reads;
    reads_open(c, &reads);
    for (uint32_t n = 0; n < c->nodes; n++) {
        reads_of_node(c, orders, n, &reads);
        uint8_t *of_node = here + (size_t)n * reads.count;
        uint64_t fetched = policy == READER ? reader_cache_apply(c, orders, n, &reads, of_node)
                                            : policy_apply(c, policy, &reads, of_node);
        result.fetched += fetched;
        result.least = fetched < result.least ? fetched : result.least;
        result.most = fetched > result.most ? fetched : result.most;
    }
    reads_close(&reads);
    if (policy != BOUND)
        result.timing = clock_run(c, policy, here);
    return result;
}

static void print_head(const struct cluster *c, const struct orders *orders)
{
    printf("%s of %u ranks, %llu records of %llu bytes in blocks of %u, %u epochs, seed %llu\n", c->name,
           c->ranks, (unsigned long long)c->records, (unsigned long long)c->record_bytes, c->block, c->epochs,
           (unsigned long long)c->seed);
    printf("real: the plan (blocks of each node and epoch), the deal (records of each rank), what readers "
           "take in memory, the readers' cache\n");
    printf("modelled: links, disks, other caches, and training at %llu records/s a node\n",
           (unsigned long long)c->demand);
    printf("a node: %.1f GB of disk for any cache; %.1f GB of memory, %.0f MB of it the plan\n",
           (double)c->cache / GB, (double)orders->memory / GB, (double)orders->plan_bytes / 1e6);
    printf("records of a rank in an epoch: %llu to %llu\n\n", (unsigned long long)orders->least,
           (unsigned long long)orders->most);
    printf("%-22s %12s %10s %14s %10s %9s\n", "policy", "fetched, TB", "of bound", "node, GB", "wall, s",
           "stall, %");
}

static void print_row(const struct cluster *c, enum policy policy, const struct result *r, uint64_t bound)
{
    double block = (double)block_bytes(c);
    char range[40];
    snprintf(range, sizeof range, "%.0f-%.0f", (double)r->least * block / GB, (double)r->most * block / GB);
    printf("%-22s %12.3f %10.4f %14s", policy_names[policy], (double)r->fetched * block / 1e12,
           (double)r->fetched / (double)bound, range);
    if (policy == BOUND)
        printf(" %10s %9s\n", "-", "-");
    else
        printf(" %10.1f %9.3f\n", (double)r->timing.wall / SECOND,
               100.0 * (double)r->timing.stall / (double)r->timing.wall);
    fflush(stdout);
}

static void print_table(const struct cluster *c)
{
    struct orders orders;
    struct result results[POLICIES];
    uint8_t *here = take_memory(cluster_blocks(c), c->epochs);
    orders_take(c, &orders);
    print_head(c, &orders);
    for (unsigned p = POLICIES; p-- > 0;)
        results[p] = apply(c, p, &orders, here);
    for (unsigned p = 0; p < POLICIES; p++)
        print_row(c, p, &results[p], results[BOUND].fetched);
    printf("+ what readers do\n* not the plan's order: each node reads the same part in every epoch\n\n");
    orders_free(c, &orders);
    free(here);
}

/* ---------------------------------------------------------------------------------------------------------- checks */

/* The cache of readers fetches no less than the bound, and no more than no cache; where all fits, each block once. */
static void check_reader_cache(const struct cluster *c, const struct orders *orders, struct reads *reads,
                               uint8_t *here)
{
    struct cluster all = *c;
    all.cache = UINT64_MAX / 2;
    for (uint32_t n = 0; n < c->nodes; n++) {
        reads_of_node(c, orders, n, reads);
        uint64_t least = policy_apply(c, BOUND, reads, here), once = 0,
                 fetched = reader_cache_apply(c, orders, n, reads, here);
        for (uint32_t i = 0; i < reads->count; i++)
            once += reads->again[i] == reads->count;
        if (fetched < least || fetched > reads->count ||
            reader_cache_apply(&all, orders, n, reads, here) != once)
            give_up("the readers' cache: node %u fetches %llu blocks of %u, at least %llu", n,
                    (unsigned long long)fetched, reads->count, (unsigned long long)least);
    }
}

static void check_policies(const struct cluster *c)
{
    static const enum policy checked[] = {LRU, PLANNED, BOUND};
    struct orders orders;
    struct reads reads;
    orders_take(c, &orders);
    reads_open(c, &reads);
    uint8_t *here = take_memory(reads.count, 1);
    for (uint32_t n = 0; n < c->nodes; n++)
        for (unsigned i = 0; i < 3; i++) {
            reads_of_node(c, &orders, n, &reads);
            uint64_t fast = policy_apply(c, checked[i], &reads, here),
                     slow = policy_slowly(c, checked[i], &reads);
            if (fast != slow)
                give_up("%s: node %u fetches %llu blocks, or %llu", policy_names[checked[i]], n,
                        (unsigned long long)fast, (unsigned long long)slow);
        }
    check_reader_cache(c, &orders, &reads, here);
    free(here);
    reads_close(&reads);
    orders_free(c, &orders);
}

/* Small clusters of many shapes. */
static void check(uint64_t seed)
{
    for (uint32_t i = 0; i < 12; i++) {
        struct cluster c = eight_nodes();
        c.seed = seed + i;
        c.nodes = 1 + i;
        c.ranks = 1 + i % 3;
        c.batch = 1 + i * 5 % 16;
        c.block = 4 + i % 5;
        c.window = c.block + i * i;
        c.records = (uint64_t)c.block * c.nodes * 40;
        c.cache = c.record_bytes * c.block * (3 + i * 9);
        c.horizon = i % 4;
        orders_check(&c);
        check_policies(&c);
    }
    printf("as record by record\n");
}

int main(int argc, char **argv)
{
    struct cluster clusters[] = {large, eight_nodes()};
    bool small = false, checks = false;
    uint64_t seed = 1;
    for (int i = 1; i < argc; i++) {
        small = small || strcmp(argv[i], "--small") == 0;
        checks = checks || strcmp(argv[i], "--check") == 0;
        if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 10);
    }
    if (checks)
        check(seed);
    for (unsigned i = 0; i < 2 && !checks; i++) {
        clusters[i].seed = seed;
        if (small)
            shrink(&clusters[i]);
        print_table(&clusters[i]);
    }
    return 0;
}
