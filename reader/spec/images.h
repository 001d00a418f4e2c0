/* Which fields of a store are images, and of what shape. */
#ifndef IMAGES_H
#define IMAGES_H

#include "augment.h"
#include "store.h"

/* By type, shape and form: an image is u8 of one shape: {C, H, W} with at most APL_MAX_CHANNELS channels, or {H, W}, which is one. No image is what has
 * its channels last: 1, 3 or 4 in the last dimension, and another number in the first; or 2, and more than 4. */
bool is_image(const apl_field *field);

/* A photo is a JPEG file, kept as it came. */
bool is_photo(const apl_field *field);

/* u8 of three dimensions, of which some vary: each image has a size of its own, and 1 to 4 channels. */
bool is_varying_image(const apl_field *field);

/* A photo or a varying image. */
bool is_any_size(const apl_field *field);

/* Of a field that is an image; where the size may be any, height and width are 0, and the channels those of photos. */
struct image_shape image_shape(const apl_field *field);

/* The number under which all images of a record are augmented, so that they agree: that of the store's first
 * field {C, H, W}, or else {H, W}; 0 where none is an image. */
unsigned image_stream(const struct schema *schema);

/* The field called `name`, unless its kind says that it is something else, or, for NULL, the only image among those wanted (NULL:
 * all): of those whose kind is image, or else, if no field's is, of the inputs and kept files of no kind that are images by type and
 * shape; {C, H, W}, or of any size, if there is such, else {H, W}. APL_E_NOTFOUND and APL_E_INVALID say what the fields are instead. */
apl_status image_find(const struct schema *schema, const bool *wanted, const char *name, unsigned *field,
                      apl_error *err);

#endif
