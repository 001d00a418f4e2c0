/* How the images of a batch are mixed with each other, as a caller asks for it, checked. */
#ifndef BLENDING_H
#define BLENDING_H

#include "spec.h"

/* Fills in spec->options.blending; `asked` may be NULL. Once it is known which fields are wanted, have transforms and follow others. */
apl_status blending_resolve(struct spec *spec, const apl_blend *asked, apl_error *err);

/* Fills in the bytes of a row of labels. */
void blending_row_bytes(const struct spec *spec, size_t *bytes);

#endif
