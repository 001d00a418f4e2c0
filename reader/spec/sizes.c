/* What a record takes up: see sizes.h. */
#include "sizes.h"

#include "blending.h"
#include "collation.h"
#include "following.h"
#include "images.h"
#include "photo_transform.h"

bool sizes_assembly(const struct spec *spec, unsigned field, struct assembly *a)
{
    const apl_transform *t = &spec->options.transforms[field];
    const apl_field *f = &spec->schema->fields[field];
    if (t->size == 0)
        return false;
    struct image_shape shape = image_shape(f);
    bool photo = photo_transform_makes(f, t); /* what was cropped already is assembled */
    *a = (struct assembly){.channels = t->grey_plane ? 1 : shape.channels,
                           .height = photo ? t->crop_height : shape.height,
                           .width = photo ? t->crop_width : shape.width,
                           .pad = photo ? 0 : t->pad,
                           .pad_mode = t->pad_mode,
                           .out_height = t->crop_height,
                           .out_width = t->crop_width,
                           .cutout = t->cutout,
                           .dtype = t->dtype,
                           .layout = t->layout};
    for (unsigned c = 0; c < a->channels; c++) {
        a->scale[c] = t->scale == APL_SCALE_UNIT        ? 1.0f / 255.0f
                      : t->scale == APL_SCALE_NORMALISE ? 1.0f / t->std[c]
                                                        : 1.0f;
        a->bias[c] = t->scale == APL_SCALE_NORMALISE ? -t->mean[c] / t->std[c] : 0.0f;
    }
    return true;
}

void sizes_of_slot(const struct spec *spec, size_t *bytes)
{
    for (unsigned f = 0; f < spec->schema->count; f++)
        bytes[f] = spec->options.wanted[f] && !spec->options.stages ? spec->schema->fields[f].value_bytes : 0;
}

void sizes_of_row(const struct spec *spec, size_t *bytes)
{
    sizes_of_slot(spec, bytes);
    for (unsigned f = 0; f < spec->schema->count; f++) {
        struct assembly a;
        if (sizes_assembly(spec, f, &a))
            bytes[f] = assemble_bytes(&a);
    }
    following_row_bytes(spec, bytes);
    blending_row_bytes(spec, bytes);
    collation_row_bytes(spec, bytes);
}
