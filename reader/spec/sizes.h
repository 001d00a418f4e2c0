/* What a record takes up, decoded and in a batch. */
#ifndef SIZES_H
#define SIZES_H

#include "spec.h"

/* Bytes of each field in a slot; 0 for those that are not wanted or vary in shape. */
void sizes_of_slot(const struct spec *spec, size_t *bytes);

/* Bytes of each column in a row of a batch, of POOL_MAX_COLUMNS at most; 0 for those that are not wanted or vary in shape. */
void sizes_of_row(const struct spec *spec, size_t *bytes);

/* The transform of a field in the terms of assembly; false if it has none. */
bool sizes_assembly(const struct spec *spec, unsigned field, struct assembly *assembly);

#endif
