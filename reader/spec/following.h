/* Which fields follow the images of others: masks, maps, boxes and what is per boxes, by their kinds. */
#ifndef FOLLOWING_H
#define FOLLOWING_H

#include "spec.h"

/* Finds out, for all images whose pixels move, what follows them, and refuses what cannot and what nobody has said anything of, by
 * the rule of store/base/kind_rule.h. Once it is known which fields are wanted, and which have transforms. Boxes that follow, and what
 * is per them, are read as if their first dimension varied: what can be left out has no fixed number. */
apl_status following_resolve(struct spec *spec, apl_error *err);

/* Once all collations are known, too: what of them contradicts that. */
apl_status following_check(const struct spec *spec, apl_error *err);

/* Planes of a mask: 1 for masks of two dimensions, as for those of which each record has one. */
unsigned following_planes(const apl_field *mask);

/* Bytes of one of the planes that a field of FOLLOW_PLANES becomes. */
size_t following_plane_bytes(const struct spec *spec, unsigned field);

/* Fills in the bytes of a row of the fields that are masks. */
void following_row_bytes(const struct spec *spec, size_t *bytes);

#endif
