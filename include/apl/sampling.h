/* apl/sampling.h - epochs that are samples; part of apl.h, where the rules stand. */
#ifndef APL_SAMPLING_H
#define APL_SAMPLING_H

#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What an epoch delivers instead of each record once: a sample of `records` deliveries, drawn anew for each
 * epoch from seed and epoch alone, and so the same on every machine, with any number of threads and ranks. How
 * often each record comes:
 *
 *   field, replacement: each of the deliveries by itself is of class c with a probability in proportion to the
 *     weight of c, and then of any of the class's records with equal ones.
 *   no field, replacement: each of the deliveries by itself is of record r with a probability in proportion to
 *     the weight of r.
 *   field, no replacement: a class comes in proportion to its weight: so often, rounded down, and those with
 *     the largest remainders once more, so that all add up to `records` (among equal remainders chance decides,
 *     anew each epoch). Of a class of n records that comes m times, each comes m / n times, rounded down, and a
 *     uniform subset of them, anew each epoch, once more.
 *   no field, no replacement: one record after another, each with a probability in proportion to its weight
 *     among those that have not been drawn yet (successive sampling); all alike, a uniform subset. `records` is
 *     at most the number of those that have a weight.
 *
 * The order of the deliveries comes about as that of a whole epoch does: uniform, with a window that covers the
 * split. A window that does not counts deliveries; a block of which more are drawn than fit into it stands in
 * it alone. Blocks of which nothing is drawn are not read. Each of the times that a record comes is a copy, and
 * so augmented by itself.
 *
 * Weights are taken as whole numbers: multiples of less than 2^-57 of their sum (2^-59 where they are fewer
 * than 2^29), to which they are rounded. With replacement, a sample in which a record comes more than
 * 10 sqrt(m) + 40 times oftener than the largest expectation m, which has a chance below 10^-17, is drawn again.
 * What may come oftener than 65,535 times, or than 2^32 / records of the split, is refused
 * (APL_E_UNSUPPORTED). Start from APL_SAMPLING_INIT; the members are copied.
 */
typedef struct apl_sampling {
    size_t size; /* sizeof(apl_sampling) */
    /* The weights are those of the classes of this field, of one whole number a record, which is read when the
     * reader is opened; NULL: of single records. */
    const char *field;
    /* Of class 0, 1, ..., or of each record that is read in the order of ids: finite, not negative, not all 0.
     * A class without records must have 0. NULL: all that there are, alike. */
    const double *weights;
    size_t weight_count;
    int replacement;  /* 1: draws are independent */
    uint64_t records; /* deliveries in an epoch, below 2^32 - 1; 0: as many as there are records to be read */
} apl_sampling;
#define APL_SAMPLING_INIT                         \
    {                                             \
        sizeof(apl_sampling), NULL, NULL, 0, 0, 0 \
    }

#ifdef __cplusplus
}
#endif
#endif
