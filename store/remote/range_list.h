/*
 * What has been asked for ahead: units, each of which will be read as it was asked for, and the ranges that they are fetched in, each of
 * one unit or of some neighbours. Nothing is fetched here. All calls with the lock of ahead.c held.
 */
#ifndef RANGE_LIST_H
#define RANGE_LIST_H

#include "status.h"

#include <stdbool.h>
#include <time.h>

struct ahead;

#define RANGE_JOIN ((size_t)2 << 20) /* neighbours become one request up to here */
#define RANGE_GAP  4096u             /* bytes between them that nobody wants */

enum stage { RANGE_WAITS, RANGE_COMES, RANGE_HERE, RANGE_FAILED };

struct range {
    struct ahead *of;
    struct range *next, *before;   /* of all, in no order */
    struct range *later, *earlier; /* in the queue, while it waits */
    struct unit *units;            /* those that have not been read */
    uint64_t offset, n;            /* bytes */
    enum stage stage;
    unsigned users; /* threads that fetch it, copy from it, or wait for it */
    bool unwanted;  /* to be freed when nobody uses it */
    time_t since;   /* it is here, by a clock of seconds */
    uint8_t *data;
    apl_error error;
};

struct unit {
    struct unit *chain, *beside; /* in the table, and of the same range */
    struct range *range;
    uint64_t offset;
    size_t n;
};

#define RANGES_TABLE 4096u
struct ranges {
    struct range *all, *first, *last; /* the first and last that wait */
    size_t waiting, held;             /* how many wait; bytes of all */
    struct unit *table[RANGES_TABLE];
};

/* The unit of that file, place and size; NULL: it has not been asked for, or has been read. */
struct unit *ranges_find(const struct ranges *all, const struct ahead *of, uint64_t offset, size_t n);

/* Asks for a unit: at the end of the queue, in the last range that waits if it is a neighbour. False: out of memory. */
bool ranges_add(struct ranges *all, struct ahead *of, uint64_t offset, size_t n);

/* Takes a range that waits out of the queue. */
void ranges_unqueue(struct ranges *all, struct range *range);

/* A unit is read, and can no longer be found; its range stays as long as it has users. */
void ranges_read_unit(struct ranges *all, struct unit *unit);

/* Forgets the range and its units, and frees it as soon as nobody uses it. */
void ranges_drop(struct ranges *all, struct range *range);

/* Gives back what a user had of it. */
void ranges_release(struct ranges *all, struct range *range);

/* After fork(), in the child: what has not come never will, and nobody uses the rest. */
void ranges_forked(struct ranges *all);

#endif
