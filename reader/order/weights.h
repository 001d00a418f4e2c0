/*
 * Weights as whole numbers, and drawing in proportion to them: exactly so, and the same on every machine.
 */
#ifndef WEIGHTS_H
#define WEIGHTS_H

#include "random.h"
#include "status.h"

#include <stdbool.h>

/* What weights sum up to is below 2^WEIGHT_BITS; so that little is lost, nearly half of that or more. */
#define WEIGHT_BITS 61u

/* Scales n weights (finite, not negative, not all 0; n below 2^32) by a power of two, and rounds them. */
void weights_scale(const double *weights, uint32_t n, uint64_t *scaled);

/* Whole part of m x a / b, and what is left over; m is below 2^32, and a <= b < 2^62. */
uint64_t weights_part(uint64_t m, uint64_t a, uint64_t b, uint64_t *rest);

/* How m is divided by largest remainders: of each item, its quota, rounded down, and whether it is rounded up (1; 2: it is one of the
 * `ties`, items of equal remainders of which `ties_up` are to be). */
struct weight_parts {
    uint32_t *quota;
    uint8_t *up;
    uint32_t ties, ties_up;
};

/* Divides m, below 2^32, among n items, into the arrays of *parts. */
apl_status weights_divide(uint64_t m, const uint64_t *weights, uint64_t total, uint32_t n,
                          struct weight_parts *parts, apl_error *err);

/* Cumulated weights, and where to begin to look among them: bucket j says which is the first to end above j
 * << shift. With half as many buckets as weights or more, a look-up takes three steps at most on average,
 * whatever the weights are (Chen and Asau, 1974). */
struct weight_table {
    uint64_t *ends;  /* room for each weight */
    uint32_t *guide; /* room for weight_table_buckets() */
    uint64_t total;
    unsigned bits, shift; /* total <= 2^bits */
};

uint64_t weight_table_buckets(uint32_t n);

/* Makes the table of the weights of `n` items: of item[i], or (NULL) of i. They are not all 0. */
void weight_table_make(struct weight_table *table, const uint64_t *weights, const uint32_t *item, uint32_t n);

/* The place of an item, with the probability weight / total. */
uint32_t weight_table_draw(const struct weight_table *table, struct random_stream *stream);

#endif
