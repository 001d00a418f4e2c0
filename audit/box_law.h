/*
 * The law of RandomResizedCrop's boxes, as torchvision has it: the box's share of the image's area is uniform, and so is the logarithm of its
 * width / height; sides are rounded to whole pixels; ten times at most a box that does not fit is drawn again; then it is the largest in
 * the middle of an allowed ratio. Its place is uniform.
 */
#ifndef BOX_LAW_H
#define BOX_LAW_H

#include <stdint.h>

struct box_rules {
    double area[2], ratio[2]; /* least and most; less, and then more */
};

/* In pixels of the image. */
struct drawn_box {
    uint32_t left, top, width, height;
};

/* For images of one size. NULL: out of memory. */
struct box_law;
struct box_law *box_law_new(const struct box_rules *rules, uint32_t image_width, uint32_t image_height);
void box_law_free(struct box_law *law);

#define BOX_NUMBERS 4

/* Four numbers that are independent and uniform on 0 to 1 if the box is drawn by the law: its height, its width given that, and how far down
 * and across it lies given both; share[]: uniform numbers of the caller's, that divide the chance of what was seen
 * (Rosenblatt, 1952). */
void box_law_uniform(const struct box_law *law, const struct drawn_box *box, const double share[BOX_NUMBERS],
                     double uniform[BOX_NUMBERS]);

#endif
