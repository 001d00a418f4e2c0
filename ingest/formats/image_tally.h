/* What is told of the images of a store: of each that a library warns of, when it is stored; of all, how many had which remark. */
#ifndef IMAGE_TALLY_H
#define IMAGE_TALLY_H

#include "image_maker.h"

struct image_tally {
    uint64_t remarks[REMARKS];
};

/* An image that is stored. `path`: where it comes from, safe to print. */
void image_tally_take(struct image_tally *t, const struct format_host *host, const char *path,
                      const struct made_image *image);

/* Gives the host a notice for each kind of remark. */
void image_tally_tell(const struct image_tally *t, const struct format_host *host);

#endif
