/* Which columns of a list are of images and of masks: those that the caller names, or the one whose cells all name images. */
#ifndef LIST_IMAGES_H
#define LIST_IMAGES_H

#include "list_columns.h"

/* Between list_columns_read() and list_columns_decide(). */
apl_status list_images_find(struct list_columns *l, apl_error *err);

/* Once all is decided: columns that name images and become text are worth a line. */
void list_images_tell(const struct list_columns *l);

#endif
