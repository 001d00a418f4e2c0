/* What the tests of samples add up, epoch by epoch. */
#ifndef SAMPLING_SUMS_H
#define SAMPLING_SUMS_H

#include "sampling_audit.h"

/* What the law has, and what was seen of it. */
struct sampling_sums {
    const struct audit_sample *sample;
    const struct sampling_law *law;
    double epochs;
    uint32_t *order, *count, *in; /* of an epoch: each position, record, group */
    uint32_t *size;               /* records of each group */
    double *due;                  /* of each group in an epoch, */
    double possible;              /* and records that can come */
    double missing, unlawful;
    /* Without replacement, of each group: 1: it is rounded up, 2: it is one of the `ties`, of which `ties_up`
     * are. */
    uint8_t *up;
    double ties, ties_up;
    /* Of each record, residuals: their covariance is 1 of one with itself, but for the sums that are fixed.
     * Of this epoch, of the one before, and the sum over all epochs; and the sum over all of their squares.
     */
    double *residual, *before, *sum, spread;
    double df;                    /* of an epoch's residuals: records, but for the sums that are fixed */
    double *groups, group_spread; /* deliveries of each group, or how often it was rounded up; as `spread` */
    double product, product_variance, product_due;
    /* the order */
    unsigned rows, columns;
    double *table;
    uint32_t *blocks;
    double neighbours, neighbours_due, neighbours_variance;
};

/* All 0, and what the law has due. False: memory ran out; to be released all the same. */
bool sampling_sums_make(struct sampling_sums *sums, const struct audit_sample *sample,
                        const struct sampling_law *law);
void sampling_sums_release(struct sampling_sums *sums);

/* Takes the epochs in turn, from 0 on. False: the source failed. Once deliveries were missing, nothing more
 * is added up. */
bool sampling_sums_take(struct sampling_sums *sums, const struct order_source *source, uint64_t index);

#endif
