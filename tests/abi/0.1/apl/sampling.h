/* apl/sampling.h - epochs that are samples; part of apl.h, which states the general rules. */
#ifndef APL_SAMPLING_H
#define APL_SAMPLING_H

#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Makes an epoch a sample of `records` deliveries instead of each record once. Each epoch's sample is drawn from seed
 * and epoch alone, so it is the same on every machine, with any number of threads and ranks. There are four kinds;
 * docs/THEORY.md ("Samples") states their laws and proves them:
 *
 *   field, replacement: each delivery independently picks a class with probability proportional to the class's weight,
 *     then any of the class's records with equal probability.
 *   no field, replacement: each delivery independently picks a record with probability proportional to its weight.
 *   field, no replacement: each class comes in exact proportion to its weight, rounded by largest remainders. In a
 *     class of n records that comes m times, each record comes floor(m / n) times, and a uniform subset once more. The
 *     subset, and which of equal remainders are rounded up, are drawn again for each epoch.
 *   no field, no replacement: records are picked one after another, each with probability proportional to its weight
 *     among those not yet picked (successive sampling); with equal weights, a uniform subset. `records` is at most the
 *     number of records whose weight is not 0.
 *
 * Deliveries are shuffled as in any epoch: uniformly if the window covers the split. A smaller window counts
 * deliveries, not records; a block with more deliveries than fit occupies the window alone. Blocks from which nothing
 * is drawn are not read. Each repeat of a record is a copy with its own augmentation.
 *
 * Each weight is rounded to a multiple of less than 2^-57 of their sum. If a record could be delivered more than
 * 65,535 times, or more than 2^32 / records of the split, the reader refuses to open (APL_E_UNSUPPORTED). Start from
 * APL_SAMPLING_INIT; the members are copied.
 */
typedef struct apl_sampling {
    size_t size; /* sizeof(apl_sampling) */
    /* The field whose classes the weights belong to, with one whole number per record; it is read when the reader is
     * opened. NULL: the weights belong to records. */
    const char *field;
    /* A weight for each class 0, 1, ..., or for each record that is read, in id order: finite, not negative, not all
     * 0. A class without records must have weight 0. NULL: equal weights. */
    const double *weights;
    size_t weight_count;
    int replacement;  /* 1: draws are independent */
    uint64_t records; /* deliveries per epoch, below 2^32 - 1; 0: the number of records to be read */
    /* The field whose values are the weights of records, in place of `field` and `weights`: one whole number, f32 or
     * f64 per record, read when the reader is opened. NULL: none. */
    const char *weight_field;
} apl_sampling;
#define APL_SAMPLING_INIT                               \
    {                                                   \
        sizeof(apl_sampling), NULL, NULL, 0, 0, 0, NULL \
    }

#ifdef __cplusplus
}
#endif
#endif
