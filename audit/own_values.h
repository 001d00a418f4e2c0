/* Does a reader deliver each record's own values? What it hands out is compared, byte by byte of 128-bit hashes, with what
 * apl_store_get_batch() gives of the same id. */
#ifndef OWN_VALUES_H
#define OWN_VALUES_H

#include "digest.h"
#include "reader_orders.h"

/* The first value that is not its record's. */
struct foreign_value {
    size_t part;       /* of which store: see order_records_store() */
    uint64_t id;       /* there */
    const char *field; /* lives as long as the store */
};

struct own_values {
    const struct reader_orders *orders;
    struct digest *own;      /* of each record of the sample */
    uint64_t looked_at, bad; /* deliveries */
    struct foreign_value first;
    apl_status status; /* of looking for it */
    apl_error error;
};

/* Reads the values of all records that `orders` reads: all fields, or those of its options. `orders` must stay. */
apl_status own_values_open(struct own_values *v, const struct reader_orders *orders, apl_error *err);
void own_values_close(struct own_values *v);

/* For orders->taken, of readers that load fields untransformed; user: the struct own_values. */
void own_values_take(void *user, const apl_batch *batch);

#endif
