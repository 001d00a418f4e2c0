/* How large the images of a store are, by the small fields that lie beside them: IMAGE_shape, u32[3]. */
#ifndef IMAGE_SIZES_H
#define IMAGE_SIZES_H

#include "apl.h"
#include "json.h"

#include <stdbool.h>

/* Every block is read for the sizes: is that soon done? Not of a store of many records, and not over a network. */
bool image_sizes_are_near(const apl_store *store, const char *path);

/* Prints a table of the ranges, and JSON of the same: null if they cannot be read, which is noted. A store without such fields has no
 * table. */
int image_sizes_describe(apl_store *store);
json_t *image_sizes_json(apl_store *store);

#endif
