/* Samplers for tests, and what their counts may come to. */
#ifndef SAMPLE_CASE_H
#define SAMPLE_CASE_H

#include "order_case.h"
#include "sampler.h"

#include <math.h>

#define EPOCHS 30000u

static inline struct sampler *new_sample(const struct sample_rule *rule, const struct subset *subset)
{
    struct sampler *s = NULL;
    apl_error err = {0};
    cr_assert_eq(sampler_new(rule, subset, &s, &err), APL_OK, "%s", err.message);
    return s;
}

/* What a chi-square of that many degrees of freedom exceeds once in a million (Wilson and Hilferty, 1931). */
static inline double chi_most(unsigned freedom)
{
    double k = 2.0 / (9.0 * freedom), root = 1 - k + 4.753 * sqrt(k);
    return freedom * root * root * root;
}

#endif
