/* Subsets that no store is needed for, and what counts of events tell of an order. */
#ifndef ORDER_CASE_H
#define ORDER_CASE_H

#include "random.h"
#include "subset.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* `records` of them, in blocks of `block`, the last of which may be short; ids begin at 0. */
static inline struct subset made_subset(uint32_t records, uint32_t block)
{
    struct subset s = {.records = records, .stride = block, .blocks = (records + block - 1) / block};
    s.block = calloc(s.blocks, sizeof *s.block);
    cr_assert_not_null(s.block);
    for (uint32_t i = 0; i < s.blocks; i++) {
        uint32_t count = records - i * block < block ? records - i * block : block;
        s.block[i] = (struct subset_block){
            .number = i, .first_id = i * block, .records = count, .count = count, .before = i * block};
    }
    return s;
}

#define MOST_ORDERED 6u

static inline unsigned factorial(unsigned n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}

/* The number of an order of 0 ... n-1 among all n! of them. */
static inline unsigned order_number(const uint32_t *order, unsigned n)
{
    unsigned number = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned smaller = 0;
        for (unsigned k = i + 1; k < n; k++)
            smaller += order[k] < order[i];
        number = number * (n - i) + smaller;
    }
    return number;
}

/* Pearson's statistic of counts that should all be the same. */
static inline double chi_square(const uint32_t *counts, size_t cells, double expected)
{
    double sum = 0;
    for (size_t i = 0; i < cells; i++)
        sum += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
    return sum;
}

/*
 * What a chi-square of that many degrees of freedom exceeds with a probability of one in a million, and what it
 * stays below with the same probability: quantiles computed to twelve digits from the continued fraction of the
 * incomplete gamma function (Abramowitz and Stegun, 6.5.31 and 26.4.19), and rounded.
 */
#define CHI_5          35.89
#define CHI_23         70.55
#define CHI_119        207.20
#define CHI_719        913.86
#define CHI_255        377.08
#define CHI_3969       4407.00
#define CHI_3969_LEAST 3559.79
#define CHI_6750       7316.76
#define CHI_2430       2775.89

/* The same for a standard normal deviate, on both sides together. */
#define NORMAL 4.8916

#endif
