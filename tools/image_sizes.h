/* How large the images of a store are, by the small fields that lie beside them: IMAGE_shape, u32[3]. */
#ifndef IMAGE_SIZES_H
#define IMAGE_SIZES_H

#include "apl.h"
#include "json.h"

#include <stdbool.h>

/* Prints a table of the ranges, and JSON of the same: null if they cannot be read, which is noted. Of stores of many records only if
 * `all`, as every block is read for it. A store without such fields has no table. */
int image_sizes_describe(apl_store *store, bool all);
json_t *image_sizes_json(apl_store *store, bool all);

#endif
