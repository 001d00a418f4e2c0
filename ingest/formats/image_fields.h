/* The fields that images become in a store, and their values: the image (an input) or mask (a target), then, behind others of the
 * format, its path, its shape and, of images that were decoded though some should be turned, its orientation. */
#ifndef IMAGE_FIELDS_H
#define IMAGE_FIELDS_H

#include "image_maker.h"

#define IMAGE_FIELDS_BESIDE 3                   /* at most */
#define IMAGE_FIELD_NAME    (APL_MAX_NAME + 16) /* bytes; the writer refuses a name that is too long */

/* What they are called. A field beside images that has no name is not added. */
struct image_names {
    char image[IMAGE_FIELD_NAME], path[IMAGE_FIELD_NAME], shape[IMAGE_FIELD_NAME],
        orientation[IMAGE_FIELD_NAME];
    char of[IMAGE_FIELD_NAME]; /* of a mask: the image that it belongs to, where there are several */
};

/* "image", "path", "image_shape" and "image_orientation". */
extern const struct image_names image_usual_names;

apl_status image_fields_add(apl_writer *writer, const struct image_names *names,
                            const struct image_plan *plan, bool keep_files, apl_error *err);
apl_status image_fields_add_beside(apl_writer *writer, const struct image_names *names,
                                   const struct image_plan *plan, apl_error *err);

/* For formats that add such fields themselves: the kind of an image or mask that has been added; the fields beside one; and a field of text. */
apl_status image_kind_set(apl_writer *writer, const char *field, const struct image_plan *plan,
                          const char *of, apl_error *err);
apl_status image_shape_add(apl_writer *writer, const char *name, apl_error *err);
apl_status image_orientation_add(apl_writer *writer, const char *name, apl_error *err);
apl_status text_field_add(apl_writer *writer, const char *name, apl_role role, apl_error *err);

/* The values of one image, which point into it, the path and this. */
struct image_values {
    apl_value image, beside[IMAGE_FIELDS_BESIDE];
    unsigned count; /* of those beside */
    int64_t shape[3], path;
};

void image_values_of(struct image_values *v, const struct image_names *names, const struct image_plan *plan,
                     const struct made_image *image, const struct buffer *path);

#endif
