/*
 * Masks: images whose pixels are the numbers of classes, which are kept. Each is as large as the image of its record, and is turned and
 * resized as that is, by the nearest pixel.
 */
#ifndef MASK_MAKER_H
#define MASK_MAKER_H

#include "image_maker.h"

/* Takes the file of a mask into account. What is none is passed over: making it will tell. APL_E_NOMEM. */
apl_status mask_survey_take(struct survey *survey, const struct image_rules *rules,
                            struct image_decoder *decoder, const struct buffer *file, apl_error *err);

/* Samples of one channel: of 16 bits if those of any mask have so many; of one size if all have it. */
struct image_plan mask_plan(const struct survey *survey, const struct image_rules *rules);

/* The image that a mask belongs to, which has been made, and its path. */
struct masked_image {
    const struct made_image *made;
    const struct buffer *path;
};

/* Makes samples of the mask's file. `image`: NULL: there is none. */
apl_status mask_make(struct image_maker *m, const struct image_plan *plan, const struct masked_image *image,
                     struct made_image *mask, apl_error *err);

#endif
