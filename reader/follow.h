/* Masks and boxes of a batch, which follow the images of another field through resizing, crop and flip: see following.h. */
#ifndef FOLLOW_H
#define FOLLOW_H

#include "reader.h"

/* Keeps in mind how row k of an image field came to be, whose followers are collated next: the image that was decoded last, or one
 * that assemble() makes; `placement` is as for that. Nothing where no field follows any. */
void follow_note_photo(struct worker *w, size_t k);
void follow_note_crop(struct worker *w, const struct assembly *assembly, const struct placement *placement,
                      size_t k);

/* Writes the column of a mask, after its images. Errors name record and field. */
apl_status follow_mask(struct worker *w, struct job *job, unsigned f, apl_error *err);

/* Makes the boxes that follow the images of a field, if there are any, and what goes with them, for values.h. */
apl_status follow_boxes(struct worker *w, struct job *job, unsigned image, apl_error *err);

#endif
