/*
 * Do crops depend on what a record is, or on the epoch? Tables of how often each value came in groups of records: classes, halves of the
 * split, remainders of ids, single records, epochs. In none may the values be distributed otherwise than in all together.
 */
#ifndef CROP_FACTORS_H
#define CROP_FACTORS_H

#include "crops.h"

#define CROP_MODULI 15u /* ids by 2 ... 16 */

/* How often each value came in each group. */
struct crop_table {
    uint32_t groups;
    double *crops;                 /* of each group */
    double *seen[CROP_QUANTITIES]; /* groups x values */
};

struct crop_factors {
    const struct crop_law *law;
    const struct audit_sample *sample;
    const uint64_t *ids; /* see struct crop_source */
    struct crop_table classes, halves, epochs, remainders[CROP_MODULI];
    float *sum[CROP_QUANTITIES]; /* of each record: of its standard scores */
    uint32_t *count;             /* of each record: its crops */
};

/* False: memory ran out; to be released all the same. */
bool crop_factors_make(struct crop_factors *f, const struct audit_sample *sample, const struct crop_law *law,
                       const uint64_t *ids);
void crop_factors_release(struct crop_factors *f);

/* Adds the crops of the epoch with that index. */
void crop_factors_add(struct crop_factors *f, uint64_t index, const struct crop_epoch *epoch);

#define CROP_FACTORS 5

/* Appends up to CROP_FACTORS findings; each test may spend `level`. */
void crop_factors_tell(const struct crop_factors *f, double level, struct audit_report *report);

#endif
