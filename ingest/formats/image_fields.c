/* See image_fields.h. */
#include "image_fields.h"

#include "said_kinds.h"

static const int64_t any[3] = {-1, -1, -1};

const struct image_names image_usual_names = {"image", "path", "image_shape", "image_orientation", ""};

/* That it is a mask, the caller has said. */
apl_status image_kind_set(apl_writer *writer, const char *field, const struct image_plan *plan,
                          const char *of, apl_error *err)
{
    if (plan->mask)
        return said_kinds_set(writer, field, APL_KIND_MASK, APL_FORM_NONE, of, APL_DECLARED, err);
    return said_kinds_set(writer, field, APL_KIND_IMAGE, plan->keep ? APL_FORM_NONE : APL_FORM_CHW, NULL,
                          APL_FROM_SOURCE, err);
}

apl_status image_shape_add(apl_writer *writer, const char *name, apl_error *err)
{
    static const int64_t three[1] = {3};
    TRY(apl_writer_add_field(writer, name, APL_U32, APL_NAME, 1, three, err));
    return said_kinds_set(writer, name, APL_KIND_PLAIN, APL_FORM_NONE, NULL, APL_FROM_SOURCE, err);
}

apl_status image_orientation_add(apl_writer *writer, const char *name, apl_error *err)
{
    TRY(apl_writer_add_field(writer, name, APL_U8, APL_NAME, 0, NULL, err));
    return said_kinds_set(writer, name, APL_KIND_PLAIN, APL_FORM_NONE, NULL, APL_FROM_SOURCE, err);
}

apl_status text_field_add(apl_writer *writer, const char *name, apl_role role, apl_error *err)
{
    TRY(apl_writer_add_field(writer, name, APL_UTF8, role, 1, any, err));
    return said_kinds_set(writer, name, APL_KIND_TEXT, APL_FORM_NONE, NULL, APL_FROM_SOURCE, err);
}

apl_status image_fields_add(apl_writer *writer, const struct image_names *names,
                            const struct image_plan *plan, bool keep_files, apl_error *err)
{
    const int64_t fixed[3] = {plan->shape[0], plan->shape[1], plan->shape[2]};
    if (!plan->keep) {
        TRY(apl_writer_add_field(writer, names->image, plan->bits == 16 ? APL_U16 : APL_U8,
                                 plan->mask ? APL_TARGET : APL_INPUT, 3, plan->fixed ? fixed : any, err));
        return image_kind_set(writer, names->image, plan, names->of, err);
    }
    TRY(apl_writer_add_field(writer, names->image, APL_U8, APL_INPUT, 1, any, err));
    TRY(apl_writer_set_media(writer, names->image, "image/jpeg", err));
    TRY(image_kind_set(writer, names->image, plan, names->of, err));
    return keep_files ? APL_OK : apl_writer_set_indexed(writer, names->image, err);
}

static bool has_orientation(const struct image_names *names, const struct image_plan *plan)
{
    return plan->orientations && *names->orientation;
}

apl_status image_fields_add_beside(apl_writer *writer, const struct image_names *names,
                                   const struct image_plan *plan, apl_error *err)
{
    if (*names->path)
        TRY(text_field_add(writer, names->path, APL_NAME, err));
    if (*names->shape)
        TRY(image_shape_add(writer, names->shape, err));
    return has_orientation(names, plan) ? image_orientation_add(writer, names->orientation, err) : APL_OK;
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
