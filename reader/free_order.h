/* What free order draws from: the bins, into which the records of loaded blocks go. In strict order nothing of this does anything.
 * With the reader's lock held, unless said otherwise. */
#ifndef FREE_ORDER_H
#define FREE_ORDER_H

#include "bins.h"

struct free_order {
    struct bins *bins[2]; /* by the parity of the epoch; NULL in strict order */
    struct bins_scratch *scratch;
    uint64_t epoch;    /* into whose bins blocks go */
    uint32_t inserted; /* its blocks whose records have been put into them, or of which none is to come */
};

apl_status free_order_open(apl_reader *r, apl_error *err);
void free_order_free(struct free_order *f);

/* Begins an epoch. */
void free_order_begin(apl_reader *r, uint64_t epoch);

/* How many deliveries of a block the epoch has had before its state was resumed. */
uint32_t free_order_had(const apl_reader *r, uint32_t index);

/* Puts a block's records into the bins of the epoch of this parity; or says that none of it is to come. */
void free_order_insert(apl_reader *r, uint32_t index, uint32_t parity);
void free_order_skip(apl_reader *r);

/* Is there enough to draw n from: so much, or all that is left of the epoch? */
bool free_order_stands(const apl_reader *r, size_t n);

/* Draws up to n deliveries of the epoch, without the lock; by one thread at a time. */
size_t free_order_draw(const apl_reader *r, uint32_t *deliveries, size_t n);

#endif
