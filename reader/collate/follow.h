/* Masks and boxes of a batch, which follow the images of another field through resizing, crop and flip: see following.h. */
#ifndef FOLLOW_H
#define FOLLOW_H

#include "worker.h"

/* Keeps in mind how the image of row k came to be, whose followers are collated next: the one that was decoded last, or one that
 * assemble() makes; `placement` is as for that, and may then be NULL. */
void follow_note_photo(const struct worker *w, const struct job *job, const struct run_work *work, size_t k);
void follow_note_crop(const struct worker *w, const struct job *job, const struct run_work *work, size_t k);

/* Writes the column of a mask, after its images. Errors name record and field. */
apl_status follow_mask(struct worker *w, struct job *job, unsigned f, apl_error *err);

/* Of the column of planes: their size is that of the crop. */
void follow_describe_planes(const struct worker *w, struct job *job, unsigned f);

/* Makes the boxes that follow the images of a field, if there are any, what goes with them, and planes, for values.h. */
apl_status follow_boxes(struct worker *w, struct job *job, unsigned image, apl_error *err);

#endif
