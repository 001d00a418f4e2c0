/* Values of varying shape that a thread has made of those of records, and that a batch takes instead. */
#ifndef MADE_H
#define MADE_H

#include "scratch.h"

#include <stdbool.h>

/* Where a row's begin: elements along the first dimension that come before, and bytes. */
struct made_start {
    uint64_t elements, bytes;
};

/* Of one field, row by row: */
struct made_values {
    bool any;                  /* else the records' own are taken */
    struct made_start *starts; /* rows + 1 of them */
    struct scratch values;
};

/* An array of n. */
static inline void made_free(struct made_values *made, unsigned n)
{
    for (unsigned i = 0; made && i < n; i++) {
        scratch_free(&made[i].values);
        free(made[i].starts);
    }
    free(made);
}

#endif
