/* What must not stay in place while images move: see follow_args.h. */
#include "follow_args.h"

#include "args.h"
#include "describe.h"
#include "report.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* What a field may be to the images. */
enum kind { UNRELATED, PIXELS, BOXES, POINTS };

static bool named(const apl_field *f, const char *const *words)
{
    for (; *words; words++)
        for (const char *at = f->name; *at; at++)
            if (strncasecmp(at, *words, strlen(*words)) == 0)
                return true;
    return false;
}

/* Boxes, or one box, which may have a class or a score or both in the same row: by the name, or as a target of some
 * rows of floats. */
static bool is_boxes(const apl_field *f)
{
    if (f->dtype == APL_UTF8 || f->ndim < 1 || f->ndim > 2 || f->shape[f->ndim - 1] < 4 ||
        f->shape[f->ndim - 1] > 6)
        return false;
    bool floats = f->dtype == APL_F32 || f->dtype == APL_F64 || f->dtype == APL_F16 || f->dtype == APL_BF16;
    return named(f, (const char *const[]){"box", "rois", NULL}) ||
           (f->role == APL_TARGET && f->ndim == 2 && f->shape[0] < 0 && floats);
}

/* Two or three coordinates of each point, perhaps all in one row. */
static bool is_points(const apl_field *f)
{
    if (f->dtype == APL_UTF8 || f->dtype == APL_BOOL || f->ndim == 0)
        return false;
    int64_t last = f->shape[f->ndim - 1];
    if (named(f, (const char *const[]){"keypoint", "landmark", NULL}))
        return last < 0 || (last > 1 && (last % 2 == 0 || last % 3 == 0));
    return named(f, (const char *const[]){"points", "joints", "polygon", "contour", NULL}) &&
           (last == 2 || last == 3);
}

static bool varies(const apl_field *f)
{
    return f->media || f->shape[f->ndim - 1] < 0;
}

/* Has it a number for each pixel of the image, or is it an image of any size, as that is? */
static bool is_pixels(const apl_field *f, const apl_field *image)
{
    const int64_t *side = image->shape + image->ndim - 2;
    if (f->media && strcmp(f->media, "image/jpeg") == 0)
        return true;
    if (f->dtype == APL_UTF8 || f->ndim < 2 || f->ndim > 3)
        return false;
    if (varies(f))
        return varies(image) && f->shape[f->ndim - 2] < 0 && (f->dtype == APL_U8 || f->role == APL_TARGET);
    if (image->media || varies(image))
        return false;
    return memcmp(f->shape + f->ndim - 2, side, 2 * sizeof *side) == 0 ||
           (f->ndim == 3 && f->shape[2] <= 4 && memcmp(f->shape, side, 2 * sizeof *side) == 0);
}

static enum kind kind_of(const apl_field *f, const apl_field *image)
{
    if (f == image || (f->role != APL_INPUT && f->role != APL_TARGET))
        return UNRELATED;
    if (is_points(f))
        return POINTS;
    return is_boxes(f) ? BOXES : is_pixels(f, image) ? PIXELS : UNRELATED;
}

/* The option that moves pixels; NULL: none does. */
static const char *moving(const struct reader_choice *choice)
{
    const apl_transform *t = &choice->transform;
    return t->flip != APL_FLIP_NONE ? "--flip" : t->crop_height ? "--crop" : t->pad ? "--pad" : NULL;
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Is the field read, and not told to follow? */
static bool stays(const struct reader_choice *choice, const apl_field *f)
{
    const apl_transform *t = &choice->transform;
    if (choice->options.fields && !is_among(f->name, choice->options.fields, choice->options.field_count))
        return false;
    return !is_among(f->name, t->masks, t->mask_count) && !(t->boxes && strcmp(t->boxes, f->name) == 0);
}

static bool is_image(const struct reader_choice *choice, apl_store *store, const apl_field *f)
{
    apl_transform t = APL_TRANSFORM_INIT;
    apl_error err;
    t.field = f->name;
    t.crop_height = choice->transform.crop_height;
    t.crop_width = choice->transform.crop_width;
    t.pad = choice->transform.pad;
    t.pad_mode = choice->transform.pad_mode;
    return apl_transform_complete(store, choice->options.split, &t, &err) == APL_OK;
}

/* Fields of images that are read and told to follow none: those of channels, if there are any. */
struct images {
    unsigned count;
    const apl_field *first, *last;
};

static struct images images_of(const struct reader_choice *choice, apl_store *store)
{
    struct images found[2] = {{0}, {0}}; /* without channels, and with */
    for (unsigned i = 0; i < apl_store_info(store)->fields; i++) {
        const apl_field *f = apl_store_field(store, i);
        if (!stays(choice, f) || !is_image(choice, store, f))
            continue;
        struct images *of = &found[f->media || f->ndim == 3];
        of->first = of->count++ ? of->first : f;
        of->last = f;
    }
    return found[found[1].count > 0];
}

static int refuse_several(const struct reader_args *args, const char *path, const struct images *images)
{
    return failed(
        "%s: %u fields are images ('%s' %s, '%s' %s%s), and one can be transformed: name masks that "
        "follow it by --mask%s, or leave the others out by --fields",
        shown_db(path), images->count, shown(images->first->name), type_text(images->first),
        shown(images->last->name), type_text(images->last), images->count > 2 ? ", ..." : "",
        args->who & FOR_STREAM ? "" : " (boxes by --boxes)");
}

static int refuse(const struct reader_args *args, const char *option, const char *path,
                  const apl_field *image, const apl_field *f, enum kind kind)
{
    bool follows = f->dtype == APL_F32 && f->ndim == 2 && f->shape[0] < 0 && f->shape[1] == 4;
    char help[400] = "";
    if (kind == PIXELS)
        snprintf(help, sizeof help, "let it follow by --mask %s, or ", shown(f->name));
    else if (kind == BOXES && follows && !(args->who & FOR_STREAM))
        snprintf(help, sizeof help, "let them follow by --boxes %s, or ", shown(f->name));
    else if (kind == BOXES)
        snprintf(help, sizeof help, "only boxes f32[*,4] follow: ");
    else
        snprintf(help, sizeof help, "keypoints cannot follow: ");
    return failed("%s: %s would move field '%s' and leave '%s' (%s) as it is: %sleave it out by --fields",
                  shown_db(path), option, shown(image->name), shown(f->name), type_text(f), help);
}

int follow_args_check(const struct reader_args *args, struct reader_choice *choice, const char *path,
                      apl_store *store)
{
    if (!choice->options.transforms)
        return 0;
    struct images images = images_of(choice, store);
    if (images.count > 1)
        return refuse_several(args, path, &images);
    const char *option = moving(choice);
    if (images.count && choice->transform.mask_count)
        choice->transform.field = images.first->name; /* masks may look like images too */
    for (unsigned i = 0; images.count && option && i < apl_store_info(store)->fields; i++) {
        const apl_field *f = apl_store_field(store, i);
        enum kind kind = kind_of(f, images.first);
        if (kind != UNRELATED && stays(choice, f))
            return refuse(args, option, path, images.first, f, kind);
    }
    return 0;
}
