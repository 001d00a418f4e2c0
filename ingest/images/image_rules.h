/* What becomes of images, where it is not what they are. */
#ifndef IMAGE_RULES_H
#define IMAGE_RULES_H

#include <stdbool.h>
#include <stdint.h>

/* What they become: what most of them are; JPEG files, as which the others are re-encoded; or samples. */
enum image_form { IMAGES_AUTO, IMAGES_JPEG, IMAGES_PIXELS };

/* Sizes in pixels; 0: no rule. First the shorter side, or both; then the longer one, which is only ever made smaller. The sides
 * that are not given follow, so that the image keeps its proportions. */
struct image_sizes {
    uint32_t shorter, width, height, longest;
};

struct image_rules {
    enum image_form form;
    int quality;   /* above 0: all become JPEG files of that quality */
    bool baseline; /* progressive JPEG files that are kept become baseline ones, with the same coefficients */
    bool orient;   /* those whose EXIF says how they are to be turned are turned */
    struct image_sizes sizes;
};

#endif
