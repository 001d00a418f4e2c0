/* Which fields are read late: see ../collate/late.h. */
#ifndef LATE_FIELDS_H
#define LATE_FIELDS_H

#include "kept.h"
#include "spec.h"

/* Memory that a value takes while its block is in memory: its size, its end, its place and its checksum; and its digest, if any of the
 * stores is pinned. */
uint64_t late_bytes(const struct spec *spec);

/* Are the values of a field read late, of block `index` of the split? Are some of the field's, of any block? Never those that windows
 * are made of: all windows of a value would read all of it. */
bool late_is(const struct spec *spec, uint32_t index, unsigned field);
bool late_is_any(const struct spec *spec, unsigned field);

#endif
