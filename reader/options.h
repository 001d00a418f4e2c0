/* What a caller asks of a reader, checked and completed. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "reader.h"

/* Fills r->options, r->sources and r->subset from what was asked for. */
apl_status options_resolve(apl_reader *r, const apl_reader_options *asked, apl_error *err);

/* Bytes of each field in a slot; 0 for those that are not wanted or vary in shape. */
void options_slot_bytes(const apl_reader *r, size_t *bytes);

/* Bytes of each column in a row of a batch, of POOL_MAX_COLUMNS at most; 0 for those that are not wanted or vary in shape. */
void options_row_bytes(const apl_reader *r, size_t *bytes);

/* The transform of a field in the terms of assembly; false if it has none. */
bool options_assembly(const apl_reader *r, unsigned field, struct assembly *assembly);

/* Slots that a window of so many records needs. */
uint64_t options_slots(const apl_reader *r, uint64_t window);

#endif
