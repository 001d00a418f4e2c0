/* Labels that the nearest neighbours of a record do not have. */
#ifndef SUSPECTS_H
#define SUSPECTS_H

#include "neighbours.h"

struct suspect {
    uint32_t at, cls;  /* the record, and the class that most of its neighbours have, another than its own */
    unsigned votes;    /* how many of them have it, */
    unsigned own;      /* and how many that of the record */
    uint32_t distance; /* the mean of those with that class */
};

struct agreement {
    size_t judged; /* records that have a class and a neighbour */
    double agree;  /* the share of them whose class is also the most frequent one among their neighbours */
    double chance; /* what that would be if neighbours had nothing to do with classes */
    size_t suspects,
        listed; /* records for which another class has seven of ten votes, and no more than one is their own; at most `room`
                                are listed, the most one-sided and nearest first */
};

/* Classes are numbers; UINT32_MAX: none. */
struct agreement suspects_find(const uint32_t *classes, uint32_t n, const struct neighbour *found,
                               struct suspect *list, size_t room);

#endif
