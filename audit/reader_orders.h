/* The orders that a real reader gives, and what else an audit needs to know of a split. */
#ifndef READER_ORDERS_H
#define READER_ORDERS_H

#include "apl.h"
#include "audit.h"

/* A split, or what the options say instead (a list of ids, a mix of stores), and readers of it that are opened as they are
 * needed: one for each rank. */
struct reader_orders {
    apl_store *store;
    apl_reader_options options; /* rank is set for each; world 0: one */
    bool load; /* take the values too, as training would; else ids alone, which come in the same order */
    bool raw;  /* of these the values as they are stored, without the transforms */
    unsigned delay_us;    /* longest random delay of the caller and the reader's threads at some batches */
    uint64_t digest;      /* of all values taken so far, where they are; 0: of none */
    uint64_t *ids;        /* that are read, ascending: record i of the sample is ids[i] */
    uint32_t n, length;   /* records; positions of an epoch, which are others where it is a sample */
    apl_reader **readers; /* of the seed `seed`, that stand at `epoch` */
    uint64_t seed, epoch;
    apl_error error;
    void (*taken)(void *user, const apl_batch *batch); /* called with each batch; NULL: nobody */
    void *taken_user;
};

/* Fills in the ids, and sample->n, block, blocks, cls, classes, whose arrays reader_orders_close() frees. `options` must stay. */
apl_status reader_orders_open(apl_store *store, const apl_reader_options *options,
                              struct reader_orders *orders, struct audit_sample *sample, apl_error *err);
void reader_orders_close(struct reader_orders *orders, struct audit_sample *sample);

/* An order_source's function, of `length` places; user: the struct reader_orders. All ranks' batches, put together by
 * their positions. */
bool reader_orders_take(void *user, uint64_t seed, uint64_t epoch, uint32_t *order);

/* The record of the sample that has this id; UINT32_MAX: none. */
uint32_t reader_orders_find(const struct reader_orders *orders, uint64_t id);

/* Does the window cover the split, so that the order is meant to be uniform? */
apl_status reader_orders_covers(const struct reader_orders *orders, bool *covers, apl_error *err);

#endif
