/* What the caller says of columns of a list, as far as it decides their types; and the values that move as their image does. */
#ifndef LIST_KINDS_H
#define LIST_KINDS_H

#include "image_maker.h"
#include "list_columns.h"

/* Of what may lose elements, the first dimension varies; boxes and keypoints are f32, unless their type is given. Before columns are
 * decided. */
void list_kinds_shape(struct list_columns *l);

/* Masks and maps in files of their own are moved as their image is, and so are boxes of floats. */
bool list_kinds_moves(const struct list_columns *l, const apl_field *field);

/* Moves the boxes of a record that lie in its image k, which has been made, if that was turned or resized. The value of column i begins at values[begins[i]]; where
 * its shape varies, it is shapes[i]. */
void list_kinds_move(const struct list_columns *l, unsigned k, const struct made_image *image,
                     uint8_t *values, const size_t *begins, int64_t (*shapes)[2]);

#endif
