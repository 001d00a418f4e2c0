/* From what a reader cuts out of its images to the quantities of crops.h: which of them a transform leaves to chance, and their values. */
#ifndef CROP_VALUES_H
#define CROP_VALUES_H

#include "apl.h"
#include "box_law.h"
#include "crops.h"

/* Of the images of the records that are audited. */
struct crop_sizes {
    uint32_t width, height; /* of all; 0: they vary: */
    uint32_t (*of)[2];      /* width and height of each record */
    uint32_t count;         /* of records */
};

/* Random boxes of images of one size. */
struct sized_law {
    uint32_t width, height;
    struct box_law *law;
};

enum crop_what { CROP_DOWN, CROP_ACROSS, CROP_BOX, CROP_FLIPPED, CROP_CUT_DOWN, CROP_CUT_ACROSS };

struct crop_values {
    const apl_transform *transform;
    const struct crop_sizes *sizes;
    struct crop_law law;
    enum crop_what what[CROP_QUANTITIES]; /* CROP_BOX: the first of four */
    struct sized_law *laws;               /* by width and height */
    uint32_t law_count;
    uint64_t seen, wrong; /* crops; those that cannot be, wherever chance has it */
};

/* For a transform that has been completed, of images of known sizes; both must stay. False: memory ran out; to be released all the same. */
bool crop_values_init(struct crop_values *v, const apl_transform *transform, const struct crop_sizes *sizes);
void crop_values_release(struct crop_values *v);

/* The values of one crop: values[0 ... law.count-1]. `key`: another number for each crop; it divides chances. */
void crop_values_take(struct crop_values *v, const apl_crop_box *box, uint64_t key, uint32_t *values);

#endif
