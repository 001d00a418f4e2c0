/* See image_fields.h. */
#include "image_fields.h"

static const int64_t any[3] = {-1, -1, -1};

apl_status image_fields_add(apl_writer *writer, const struct image_plan *plan, bool keep_files,
                            apl_error *err)
{
    const int64_t fixed[3] = {plan->shape[0], plan->shape[1], plan->shape[2]};
    if (!plan->keep)
        return apl_writer_add_field(writer, "image", plan->bits == 16 ? APL_U16 : APL_U8, APL_INPUT, 3,
                                    plan->fixed ? fixed : any, err);
    TRY(apl_writer_add_field(writer, "image", APL_U8, APL_INPUT, 1, any, err));
    TRY(apl_writer_set_media(writer, "image", "image/jpeg", err));
    return keep_files ? APL_OK : apl_writer_set_indexed(writer, "image", err);
}

apl_status image_fields_add_beside(apl_writer *writer, const struct image_plan *plan, apl_error *err)
{
    static const int64_t three[1] = {3};
    TRY(apl_writer_add_field(writer, "path", APL_UTF8, APL_NAME, 1, any, err));
    TRY(apl_writer_add_field(writer, "image_shape", APL_U32, APL_NAME, 1, three, err));
    if (!plan->orientations)
        return APL_OK;
    return apl_writer_add_field(writer, "image_orientation", APL_U8, APL_NAME, 0, NULL, err);
}

void image_values_of(struct image_values *v, const struct image_plan *plan, const struct made_image *image,
                     const struct buffer *path)
{
    v->path = (int64_t)path->size;
    v->count = 0;
    for (int i = 0; i < 3; i++)
        v->shape[i] = image->shape[i];
    if (plan->keep)
        v->shape[0] = (int64_t)image->bytes.size;
    v->image = (apl_value){image_value(plan, image), plan->keep || !plan->fixed ? v->shape : NULL};
    v->beside[v->count++] = (apl_value){path->data, &v->path};
    v->beside[v->count++] = (apl_value){image->shape, NULL};
    if (plan->orientations)
        v->beside[v->count++] = (apl_value){&image->orientation, NULL};
}
