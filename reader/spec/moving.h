/* Does a transform move the pixels of its images? */
#ifndef MOVING_H
#define MOVING_H

#include "spec.h"

/* What of a completed transform does, in the word of its options: "flip", "crop" ...; NULL: nothing, a pixel stays where it is stored,
 * as under changes of colour. */
const char *moving_option(const apl_field *image, const apl_transform *t);

#endif
