/* See list_names.h. */
#include "list_names.h"

#include <stdio.h>

/* Is there a field of that name which is made of a column, and called like it? */
static bool is_taken(const struct list_columns *l, const char *name)
{
    for (unsigned i = 0; i < l->count; i++) {
        int image = list_image_of(l, i);
        bool own = list_is_value(l, i) || image > 0 || (image == 0 && l->images[0].mask);
        if (own && strcmp(l->columns[i].name, name) == 0)
            return true;
    }
    return false;
}

static void name_beside(const char *image, const char *what, char name[IMAGE_FIELD_NAME])
{
    snprintf(name, IMAGE_FIELD_NAME, "%.*s_%s", APL_MAX_NAME, image, what);
}

static void leave_out_if_taken(const struct list_columns *l, char *name)
{
    if (is_taken(l, name))
        *name = 0;
}

void list_name_images(const struct list_columns *l, unsigned k, struct image_names *names)
{
    const char *column = l->columns[l->images[k].column].name;
    *names = image_usual_names;
    if (k > 0 || l->images[k].mask) {
        snprintf(names->image, sizeof names->image, "%s", column);
        name_beside(column, "path", names->path);
    } else {
        if (is_taken(l, names->image))
            name_beside(column, "image", names->image);
        if (is_taken(l, names->path))
            name_beside(names->image, "path", names->path);
    }
    name_beside(names->image, "shape", names->shape);
    name_beside(names->image, "orientation", names->orientation);
    if (l->images[k].mask && l->image_count > 1 && !l->images[1].mask) {
        struct image_names first;
        list_name_images(l, 0, &first);
        snprintf(names->of, sizeof names->of, "%s", first.image);
    }
    leave_out_if_taken(l, names->path);
    leave_out_if_taken(l, names->shape);
    leave_out_if_taken(l, names->orientation);
}

bool list_describes_image(const struct list_columns *l, const struct image_names *names, unsigned i)
{
    char shape[IMAGE_FIELD_NAME], orientation[IMAGE_FIELD_NAME];
    name_beside(names->image, "shape", shape);
    name_beside(names->image, "orientation", orientation);
    return strcmp(l->columns[i].name, shape) == 0 || strcmp(l->columns[i].name, orientation) == 0;
}
