/* What the images of a list, and what is beside them, are called: the first as in folders, unless the list has columns of these names,
 * which keep them; others, and masks, like their columns. */
#ifndef LIST_NAMES_H
#define LIST_NAMES_H

#include "image_fields.h"
#include "list_columns.h"

/* Where another column is called image, images are COLUMN_image, after their own. Where one is called path, their paths are image_path,
 * unless there is one of that name too. Shapes and orientations of its own are the list's, and none are added. */
void list_name_images(const struct list_columns *l, unsigned image, struct image_names *names);

/* Is the column called as the shapes or orientations of these images are? */
bool list_describes_image(const struct list_columns *l, const struct image_names *names, unsigned i);

#endif
