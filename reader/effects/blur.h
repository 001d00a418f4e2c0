/* Gaussian blur of planes, by the kernels that scale JPEG images: torchvision's GaussianBlur. */
#ifndef BLUR_H
#define BLUR_H

#include "effects.h"

#define BLUR_LONGEST 255 /* pixels of a side of the kernel */

/* Blurs with a kernel of width x height pixels, both odd and less than twice the image's, which is reflected at its edges.
 * The only error is APL_E_NOMEM. */
apl_status blur_apply(struct scratch *scratch, const struct image *p, unsigned width, unsigned height,
                      double sigma, apl_error *err);

#endif
