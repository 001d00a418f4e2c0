/* How long the values of a field are, of all records that are read: known when a reader is opened. */
#ifndef LENGTHS_H
#define LENGTHS_H

#include "reader.h"

/* Reads the length of every record's value of a field of which the first dimension varies, in the order of subset_block.first, into
 * lengths[r->subset.records]. Where corrupt blocks are to be left out, records of those are 0 long. */
apl_status lengths_read(const apl_reader *r, unsigned field, uint32_t *lengths, apl_error *err);

#endif
