/* How far the orders of smaller windows are from uniform. */
#ifndef WINDOWS_H
#define WINDOWS_H

#include "reader_orders.h"

/* How unlike uniform permutations the orders of some records are; 1: as chance has it. */
struct mixing {
    double
        neighbours; /* adjacent positions whose records were neighbours at the source (of one block): as a multiple of what is due */
    double
        classes; /* variance of the number of records of a class in a batch, likewise; 0: there are no classes */
};

struct window_point {
    uint64_t window;
    struct mixing stored;   /* of the store as it is */
    struct mixing shuffled; /* had its records been shuffled when they were ingested */
};

#define WINDOWS_MOST 40

struct windows {
    struct window_point points[WINDOWS_MOST]; /* from a few blocks, doubling, to all of the split */
    unsigned count;
    uint64_t epochs; /* that each has looked at */
};

apl_status windows_measure(const struct reader_orders *orders, const struct audit_sample *sample,
                           struct windows *windows, apl_error *err);

#endif
