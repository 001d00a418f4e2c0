/* apl/collation.h - how values of varying shape become arrays; part of apl.h, which states the general rules. */
#ifndef APL_COLLATION_H
#define APL_COLLATION_H

#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * How the values of one field become an array. The members that a way of collating does not name must be 0. Start from
 * APL_COLLATION_INIT.
 */
typedef struct apl_collation {
    size_t size;
    const char *field; /* a field of varying shape, not of text */
    apl_collate how;
    /* PAD: the length to pad to; 0: that of the longest value of the batch. */
    uint64_t length;
    /* PAD: what is padded with; the field's dtype must hold it exactly. */
    double fill;
    /* PAD with a length: 1: longer values are truncated; 0: they are an error, which names the record. */
    int truncate;
} apl_collation;
#define APL_COLLATION_INIT                                     \
    {                                                          \
        sizeof(apl_collation), NULL, APL_COLLATE_NONE, 0, 0, 0 \
    }

/* An array that collating a field adds to a batch. */
typedef enum apl_part {
    /* PAD: how long each value is (truncated ones: what is left): i64, {rows}. */
    APL_PART_LENGTHS = 0,
    /* PAD: which elements along the padded dimension are of the value: bool, {rows, length}. */
    APL_PART_MASK = 1
} apl_part;

/*
 * The array `part` of the batch, for field `field` (its number in the schema); NULL if the field is not collated in a way
 * that adds it. It belongs to the batch, as columns do, and is aligned as they are.
 */
APL_API const apl_column *apl_batch_part(const apl_batch *batch, unsigned field, apl_part part);

#ifdef __cplusplus
}
#endif
#endif
