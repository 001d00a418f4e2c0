/* Numbers, described. */
#ifndef SUMMARY_H
#define SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

#define SUMMARY_BINS 30
#define SUMMARY_FAR  8 /* of those far out, this many are named */

struct summary {
    size_t
        count; /* of numbers; those that are not finite do not count, and are left out of all that follows */
    double least, most, mean, deviation, quarter[3];
    size_t least_at, most_at; /* of the first that has it */
    size_t distinct;          /* different values, */
    double common;            /* the most frequent of them, the least of several, */
    size_t common_count;      /* and how often it comes */
    unsigned bins;            /* of a histogram of from ... to, in equal steps; the last bin holds `to` */
    double step;
    double from, to; /* most values; what is outside is far out */
    bool whole;      /* all are whole, and so is `step`: the first bin is of from ... from + step - 1 */
    size_t bin[SUMMARY_BINS];
    size_t far; /* beyond the outer quarters by more than three times what is between them (Tukey) */
    size_t far_at[SUMMARY_FAR]; /* where the most distant of them are */
};

/* Describes values[0 ... n-1]; false: out of memory. */
bool summarise(const double *values, size_t n, struct summary *summary);

#endif
