/* Fields that belong to images, such as masks and boxes: they follow these, or the images must stay in place. */
#ifndef FOLLOW_ARGS_H
#define FOLLOW_ARGS_H

#include "reader_args.h"

/* Refuses transforms where several fields that are read are images, and crops and flips that would leave in place
 * what looks like masks, boxes or keypoints; 0, or what failed() returned. With masks, it names the field of the
 * images in the choice. */
int follow_args_check(const struct reader_args *args, struct reader_choice *choice, const char *path,
                      apl_store *store);

#endif
