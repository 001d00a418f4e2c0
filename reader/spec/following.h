/* Which fields follow the images of others - masks and boxes - as a caller asks for it, checked. */
#ifndef FOLLOWING_H
#define FOLLOWING_H

#include "spec.h"

/* Finds the fields that follow the images of field `image` under its transform, and says what cannot be. Once it is known which
 * fields are wanted. */
apl_status following_resolve(struct spec *spec, unsigned image, const apl_transform *t, apl_error *err);

/* Once all transforms and collations are known: what of them contradicts that. */
apl_status following_check(const struct spec *spec, apl_error *err);

/* Planes of a mask: 1 for masks of two dimensions, as for those of which each record has one. */
unsigned following_planes(const apl_field *mask);

/* Fills in the bytes of a row of the fields that are masks. */
void following_row_bytes(const struct spec *spec, size_t *bytes);

#endif
