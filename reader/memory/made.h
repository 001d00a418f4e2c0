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
    bool any;                     /* else the records' own are taken */
    struct made_start *starts;    /* rows + 1 of them */
    int64_t sides[2];             /* of planes: height and width of all; else 0 */
    struct scratch values, which; /* which: uint32_t, of boxes: the place of each in its record */
};

/* An array of n. */
static inline void made_free(struct made_values *made, unsigned n)
{
    for (unsigned i = 0; made && i < n; i++) {
        scratch_free(&made[i].values);
        scratch_free(&made[i].which);
        free(made[i].starts);
    }
    free(made);
}

#endif
