/* Rows that come out of a damaged data set. */
#ifndef CIFAR_ROWS_H
#define CIFAR_ROWS_H

#include "cifar.h"
#include "fuzz.h"

struct rows {
    const struct cifar_dataset *dataset;
    uint64_t announced, seen;
};

/* Takes a row of a data set. Its labels must be what they may be. */
static inline void take_row(struct rows *r, const struct cifar_row *row)
{
    unsigned sum = 0;
    MUST(r->seen++ < r->announced);
    for (unsigned l = 0; l < r->dataset->label_count; l++)
        MUST(row->label[l] < r->dataset->labels[l].classes);
    for (unsigned i = 0; i < CIFAR_IMAGE; i++)
        sum += row->image[i];
    MUST(sum <= CIFAR_IMAGE * 255);
}

#endif
