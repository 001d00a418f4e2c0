/* The records that are audited: their ids, blocks, classes and values. */
#ifndef ORDER_RECORDS_H
#define ORDER_RECORDS_H

#include "reader_orders.h"

/* Fills in orders->ids and n, by the options, and sample->block, blocks, cls and classes. */
apl_status order_records_list(struct reader_orders *orders, struct audit_sample *sample, apl_error *err);

/* Which store record i is of, 0 for the own one and k + 1 for mix.sources[k]; the store, and its id there. */
size_t order_records_store(const struct reader_orders *orders, uint32_t i, apl_store **store, uint64_t *own);

/* cls[i] of record i: its value of the field of that name, which is of one whole number a record in all stores, by rank among
 * those that occur. */
apl_status order_records_classes(const struct reader_orders *orders, const char *field, uint32_t *cls,
                                 uint32_t *classes, apl_error *err);

/* The same values themselves, also of fields of f32 and f64. */
apl_status order_records_values(const struct reader_orders *orders, const char *field, double *values,
                                apl_error *err);

#endif
