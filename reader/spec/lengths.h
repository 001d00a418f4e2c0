/* How long the values of a field are, of all records that are read: known when a reader is opened. */
#ifndef LENGTHS_H
#define LENGTHS_H

#include "spec.h"

/* What is to be done with the column of block `index`, of which dims and ends are there for all records; NULL: the block is corrupt,
 * and such are to be left out. Called by several threads, for each block once. */
typedef apl_status lengths_visit(void *user, uint32_t index, const struct raw_column *column, apl_error *err);

/* Bytes of an element along the first dimension of a field, of which no other varies. */
static inline size_t lengths_unit(const apl_field *field)
{
    size_t unit = apl_dtype_size(field->dtype);
    for (unsigned d = 1; d < field->ndim; d++)
        unit *= (size_t)field->shape[d];
    return unit;
}

/* Visits the columns of all blocks that are read, of a field of which the first dimension varies; with their values, if these are
 * wanted. */
apl_status lengths_visit_blocks(const struct spec *spec, unsigned field, bool values, lengths_visit *visit,
                                void *user, apl_error *err);

/* The length of a record's value, by its number in the block. */
static inline uint32_t lengths_of(const struct raw_column *column, uint32_t record)
{
    return (uint32_t)load_le(column->dims.data + (size_t)record * 4, 4);
}

/* Reads the length of every record's value of a field of which the first dimension varies, in the order of subset_block.first, into
 * lengths[spec->subset.records]; of corrupt blocks that are to be left out, LENGTHS_UNKNOWN. */
#define LENGTHS_UNKNOWN UINT32_MAX
apl_status lengths_read(const struct spec *spec, unsigned field, uint32_t *lengths, apl_error *err);

/* Makes unknown lengths 0, of values that are left out. */
void lengths_forget_unknown(uint32_t *lengths, uint64_t n);

/* Is each value of `field` as long as that of `first`, whose lengths these are, where both are known? APL_E_INVALID names the first
 * that is not. */
apl_status lengths_check_alike(const struct spec *spec, unsigned first, const uint32_t *lengths,
                               unsigned field, apl_error *err);

#endif
