/* How far the orders of smaller windows are from uniform. */
#ifndef WINDOWS_H
#define WINDOWS_H

#include "reader_orders.h"

/* How far orders of some records are from uniform permutations; 1: as by chance. */
struct mixing {
    double neighbours; /* adjacent positions with records of one block, as a multiple of what is expected */
    double classes;    /* variance of the number of records of a class in a batch, likewise; 0: no classes */
};

struct window_point {
    uint64_t window;
    struct mixing stored;   /* of the store as it is */
    struct mixing shuffled; /* if its records had been shuffled at ingest */
};

#define WINDOWS_MOST 40

struct windows {
    struct window_point points[WINDOWS_MOST]; /* from a few blocks, doubling, to all of the split */
    unsigned count;
    uint64_t epochs; /* that each point covers */
};

apl_status windows_measure(const struct reader_orders *orders, const struct audit_sample *sample,
                           struct windows *windows, apl_error *err);

#endif
