/* Small JPEG files cut out of indexed images: the segments under a region, with headers and markers that make them a file. */
#ifndef CUT_H
#define CUT_H

#include "indexed.h"
#include "jpeg.h"

/* A file that holds part of an image. The bytes behind the file's end may be read too: libjpeg is faster far from the end. */
struct cut {
    struct buffer file;
    uint32_t left, top; /* of the part in the image, pixels; width and height are those of the file */
};

/* Cuts out all segments that a region touches, which lies within the image. Likely errors: APL_E_NOMEM. */
apl_status cut_make(struct cut *cut, const struct indexed *x, const struct jpeg_region *region,
                    apl_error *err);
void cut_free(struct cut *cut);

#endif
