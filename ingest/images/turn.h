/* Images made upright. */
#ifndef TURN_H
#define TURN_H

#include "raster.h"

/* Turns and mirrors the image as its EXIF orientation, 1 ... 8, says. `spare` is memory for it, and gets the image's. Likely error:
 * APL_E_NOMEM. */
apl_status raster_turn(struct raster *s, unsigned orientation, struct scratch *spare, apl_error *err);

#endif
