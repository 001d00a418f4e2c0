/* See image_fields.h. */
#include "image_fields.h"

static const int64_t any[3] = {-1, -1, -1};

const struct image_names image_usual_names = {"image", "path", "image_shape", "image_orientation"};

apl_status image_fields_add(apl_writer *writer, const struct image_names *names,
                            const struct image_plan *plan, bool keep_files, apl_error *err)
{
    const int64_t fixed[3] = {plan->shape[0], plan->shape[1], plan->shape[2]};
    if (!plan->keep)
        return apl_writer_add_field(writer, names->image, plan->bits == 16 ? APL_U16 : APL_U8,
                                    plan->mask ? APL_TARGET : APL_INPUT, 3, plan->fixed ? fixed : any, err);
    TRY(apl_writer_add_field(writer, names->image, APL_U8, APL_INPUT, 1, any, err));
    TRY(apl_writer_set_media(writer, names->image, "image/jpeg", err));
    return keep_files ? APL_OK : apl_writer_set_indexed(writer, names->image, err);
}

static bool has_orientation(const struct image_names *names, const struct image_plan *plan)
{
    return plan->orientations && *names->orientation;
}

apl_status image_fields_add_beside(apl_writer *writer, const struct image_names *names,
                                   const struct image_plan *plan, apl_error *err)
{
    static const int64_t three[1] = {3};
    if (*names->path)
        TRY(apl_writer_add_field(writer, names->path, APL_UTF8, APL_NAME, 1, any, err));
    if (*names->shape)
        TRY(apl_writer_add_field(writer, names->shape, APL_U32, APL_NAME, 1, three, err));
    if (!has_orientation(names, plan))
        return APL_OK;
    return apl_writer_add_field(writer, names->orientation, APL_U8, APL_NAME, 0, NULL, err);
}

void image_values_of(struct image_values *v, const struct image_names *names, const struct image_plan *plan,
                     const struct made_image *image, const struct buffer *path)
{
    v->path = (int64_t)path->size;
    v->count = 0;
    for (int i = 0; i < 3; i++)
        v->shape[i] = image->shape[i];
    if (plan->keep)
        v->shape[0] = (int64_t)image->bytes.size;
    v->image = (apl_value){image_value(plan, image), plan->keep || !plan->fixed ? v->shape : NULL};
    if (*names->path)
        v->beside[v->count++] = (apl_value){path->data, &v->path};
    if (*names->shape)
        v->beside[v->count++] = (apl_value){image->shape, NULL};
    if (has_orientation(names, plan))
        v->beside[v->count++] = (apl_value){&image->orientation, NULL};
}
