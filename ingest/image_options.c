/* From options to rules, and to what the store says of them: see image_options.h. */
#include "image_options.h"

#include "raster.h"

#include <stdio.h>

static apl_status check_side(const char *what, uint32_t size, apl_error *err)
{
    if (size > IMAGE_MAX_SIDE)
        return fail(err, APL_E_INVALID, "%s of %u pixels: it is at most %u", what, size, IMAGE_MAX_SIDE);
    return APL_OK;
}

static apl_status take_sizes(const apl_ingest_options *o, struct image_sizes *sizes, apl_error *err)
{
    TRY(check_side("a shorter side", o->resize_short, err));
    TRY(check_side("a width", o->resize_width, err));
    TRY(check_side("a height", o->resize_height, err));
    TRY(check_side("a longest side", o->max_side, err));
    if ((o->resize_width == 0) != (o->resize_height == 0))
        return fail(err, APL_E_INVALID, "images are resized to a width and a height, not to one of them");
    if (o->resize_short && o->resize_width)
        return fail(err, APL_E_INVALID, "images are resized by their shorter side, or to %u x %u, not both",
                    o->resize_width, o->resize_height);
    *sizes = (struct image_sizes){.shorter = o->resize_short,
                                  .width = o->resize_width,
                                  .height = o->resize_height,
                                  .longest = o->max_side};
    return APL_OK;
}

apl_status image_options_take(const apl_ingest_options *o, struct image_rules *rules, apl_error *err)
{
    bool jpeg = o->images && strcmp(o->images, "jpeg") == 0;
    bool pixels = o->images && strcmp(o->images, "pixels") == 0;
    if (o->images && !jpeg && !pixels)
        return fail(err, APL_E_INVALID, "images become jpeg or pixels, not %.64s", o->images);
    rules->baseline = o->jpeg_quality == APL_JPEG_BASELINE;
    if ((o->jpeg_quality < 0 && !rules->baseline) || o->jpeg_quality > 100)
        return fail(err, APL_E_INVALID, "a JPEG quality of %d: it is from 1 to 100", o->jpeg_quality);
    if (rules->baseline && pixels)
        return fail(err, APL_E_INVALID, "images become pixels, or baseline JPEG files, not both");
    if (o->jpeg_quality && pixels)
        return fail(err, APL_E_INVALID, "images become pixels, or JPEG files of quality %d, not both",
                    o->jpeg_quality);
    rules->quality = rules->baseline ? 0 : o->jpeg_quality;
    rules->orient = o->orient != 0;
    rules->form = pixels ? IMAGES_PIXELS : jpeg || rules->quality ? IMAGES_JPEG : IMAGES_AUTO;
    return take_sizes(o, &rules->sizes, err);
}

bool image_options_given(const apl_ingest_options *o)
{
    return o->images || o->jpeg_quality || o->resize_short || o->resize_width || o->max_side || o->orient;
}

/* Appends " --NAME" and, unless `value` is "", " VALUE", or as much as there is room for. */
static void say_option(char *out, size_t size, const char *name, const char *value)
{
    size_t length = strlen(out);
    snprintf(out + length, size - length, " --%s%s%s", name, *value ? " " : "", value);
}

const char *image_options_tool(const apl_ingest_options *o, const char *tool, char *out, size_t size)
{
    char value[64];
    snprintf(out, size, "%s", tool);
    if (o->images)
        say_option(out, size, "images", o->images);
    snprintf(value, sizeof value, "short=%u", o->resize_short);
    if (o->resize_short)
        say_option(out, size, "resize", value);
    snprintf(value, sizeof value, "%ux%u", o->resize_width, o->resize_height);
    if (o->resize_width)
        say_option(out, size, "resize", value);
    snprintf(value, sizeof value, "%u", o->max_side);
    if (o->max_side)
        say_option(out, size, "max-side", value);
    snprintf(value, sizeof value, "%d", o->jpeg_quality);
    if (o->jpeg_quality)
        say_option(out, size, "jpeg", o->jpeg_quality == APL_JPEG_BASELINE ? "baseline" : value);
    if (o->orient)
        say_option(out, size, "orient", "");
    if (o->allow_warnings)
        say_option(out, size, "allow-warnings", "");
    return out;
}
