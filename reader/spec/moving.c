/* What moves pixels: see moving.h. */
#include "moving.h"

#include "images.h"
#include "motion.h"
#include "transform.h"
#include "warps.h"

/* Images of any size are as large as their crop only by chance. */
static bool is_cropped(const apl_field *image, const apl_transform *t)
{
    struct image_shape shape = image_shape(image);
    return is_any_size(image) || t->crop_height != shape.height || t->crop_width != shape.width;
}

const char *moving_option(const apl_field *image, const apl_transform *t)
{
    const struct {
        bool moves;
        const char *option;
    } options[] = {
        {t->sizing != APL_SIZING_NONE, "resize"},
        {t->pad || transform_pads(t), "pad"},
        {is_cropped(image, t), "crop"},
        {t->flip != APL_FLIP_NONE || t->vertical_flip_p > 0, "flip"},
        {motion_any(t), "affine"},
        {t->perspective_distortion != 0, "perspective"},
        {warps_any(t), "elastic"},
        {t->policy != APL_POLICY_NONE, "policy"},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].moves)
            return options[i].option;
    return NULL;
}
