/*
 * Which part of an image is wanted, and how large it becomes: RandomResizedCrop, Resize, RandomCrop and CenterCrop, as
 * torchvision's v2 has them. Pure functions of the image's size and of keyed random numbers.
 */
#ifndef CROP_H
#define CROP_H

#include "apl.h"

#include <stdbool.h>

#define CROP_LONGEST 32768 /* pixels of a side of a result, and of what an image is scaled to */

/* What lies beyond an image. */
struct crop_padding {
    apl_pad mode;
    uint8_t fill[3]; /* APL_PAD_ZERO: of each channel */
};

enum crop_sizing {
    CROP_AS_IT_IS,
    CROP_RESIZE,        /* the whole image is scaled; then a crop is taken */
    CROP_RANDOM_RESIZED /* a box of random area and aspect ratio is scaled to the size of the crop */
};

/* Sizes in pixels. A crop wider or higher than the (padded) image is an error if it is random; of one in the middle, what lies
 * beyond is padding too. */
struct crop_rules {
    enum crop_sizing sizing;
    uint32_t height, width; /* of the crop; 1 ... CROP_LONGEST */
    uint32_t short_side;    /* CROP_RESIZE: of the scaled image; 0: resize_height, resize_width */
    uint32_t resize_height, resize_width; /* CROP_RESIZE without short_side */
    double scale[2];                      /* CROP_RANDOM_RESIZED: least and most of the area, above 0 ... 1 */
    double ratio[2];                      /* CROP_RANDOM_RESIZED: least and most width / height */
    bool centre;                          /* a crop in the middle, else a random one */
    uint32_t pad;                         /* on every side, before a random crop */
    uint32_t pads[4];                     /* more: left, top, right, bottom, before any crop */
    struct crop_padding padding;
    bool pad_if_needed; /* more, on both sides, where the crop is larger */
};

/* Random numbers of one record: the same for the same key and record. */
struct crop_draws {
    uint64_t key, id;
    uint32_t copy, block;
};

struct crop_draws crop_draws(uint64_t seed, uint64_t epoch, uint64_t id, uint32_t copy);

/* The box, in pixels of the image, is scaled to width x height pixels; the window, in those pixels, is the result. What the
 * window has beyond them is padding. */
struct crop_plan {
    struct {
        uint32_t left, top, width, height;
    } box;
    uint32_t width, height;
    struct {
        int32_t left, top;
        uint32_t width, height;
    } window;
    struct crop_padding padding;
};

/* Plans for an image of width x height pixels, both at least 1. Likely errors: APL_E_INVALID (the image is smaller than a
 * random crop, or than what is to be reflected of it, or would become larger than CROP_LONGEST). */
apl_status crop_plan(const struct crop_rules *rules, uint32_t width, uint32_t height, struct crop_draws draws,
                     struct crop_plan *plan, apl_error *err);

#endif
