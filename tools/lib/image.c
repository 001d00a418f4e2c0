#include "image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIDE 65536 /* pixels: more than anyone needs, and no product overflows */

/* How a value of some shape lies in memory. */
struct layout {
    size_t width, height;
    unsigned channels;
    bool planar; /* channel by channel, not pixel by pixel */
};

bool image_has_channels_last(const apl_field *field)
{
    return apl_field_form(field) == APL_FORM_HWC;
}

static bool is_channels(int64_t size)
{
    return size >= 1 && size <= 4;
}

bool image_layout_unclear(const apl_field *field)
{
    const int64_t *shape = field->shape;
    bool said = field->kind && field->kind->id == APL_KIND_IMAGE && field->kind->form != APL_FORM_NONE;
    if (said || field->ndim != 3 || !is_channels(shape[0]) || !is_channels(shape[2]))
        return false;
    return shape[1] != shape[2] || shape[0] == shape[1];
}

/* Of a value of that shape. */
static bool layout_of(const apl_field *field, const int64_t *shape, struct layout *layout)
{
    switch (apl_field_form(field)) {
    case APL_FORM_HW:
        *layout = (struct layout){(size_t)shape[1], (size_t)shape[0], 1, true};
        return true;
    case APL_FORM_CHW:
        *layout = (struct layout){(size_t)shape[2], (size_t)shape[1], (unsigned)shape[0], true};
        return true;
    case APL_FORM_HWC:
        *layout = (struct layout){(size_t)shape[1], (size_t)shape[0], (unsigned)shape[2], false};
        return true;
    default:
        return false;
    }
}

bool field_is_image(const apl_field *field)
{
    apl_form form = apl_field_form(field);
    int64_t channels = form == APL_FORM_CHW ? field->shape[0] : form == APL_FORM_HWC ? field->shape[2] : 1;
    return form != APL_FORM_NONE && (channels < 0 || is_channels(channels));
}

bool image_value_size(const apl_field *field, const struct value *value, struct image_size *size)
{
    struct layout layout;
    if (!layout_of(field, value->shape, &layout))
        return false;
    *size = (struct image_size){(uint32_t)layout.width, (uint32_t)layout.height, layout.channels};
    return true;
}

static void paste(struct image *image, const struct value *value, const struct layout *from, size_t x,
                  size_t y)
{
    size_t plane = from->width * from->height, depth = image->depth;
    for (size_t row = 0; row < from->height; row++) {
        uint8_t *to = image->pixels + ((y + row) * image->width + x) * image->channels * depth;
        for (size_t column = 0; column < from->width; column++)
            for (unsigned c = 0; c < from->channels; c++, to += depth) {
                size_t pixel = row * from->width + column;
                size_t sample = from->planar ? c * plane + pixel : pixel * from->channels + c;
                memcpy(to, value->data + sample * depth, depth);
            }
    }
}

static const char *begin_image(struct image *image, const struct layout *first, size_t across, size_t down)
{
    if (first->width == 0 || first->height == 0)
        return "it has no pixels";
    if (first->channels == 0 || first->channels > 4)
        return "it has neither 1, 2, 3 nor 4 channels";
    if (first->width > MAX_SIDE / across || first->height > MAX_SIDE / down)
        return "it is too large";
    image->width = first->width * across;
    image->height = first->height * down;
    image->channels = first->channels;
    image->pixels = calloc(image->width * image->height, (size_t)image->channels * image->depth);
    return image->pixels ? NULL : "out of memory";
}

const char *image_make(struct image *image, const apl_field *field, const struct value *values, size_t count,
                       size_t across)
{
    struct layout first, layout;
    across = count < across ? count : across;
    *image = (struct image){.depth = field->dtype == APL_U16 ? 2 : 1};
    if (field->media || !layout_of(field, values[0].shape, &first))
        return "its shape is not that of an image";
    const char *why = begin_image(image, &first, across, (count + across - 1) / across);
    for (size_t i = 0; i < count && !why; i++) {
        if (!layout_of(field, values[i].shape, &layout) || layout.width != first.width ||
            layout.height != first.height || layout.channels != first.channels)
            why = "records of different sizes do not fit one image";
        else
            paste(image, &values[i], &layout, i % across * first.width, i / across * first.height);
    }
    if (why)
        image_free(image);
    return why;
}

void image_free(struct image *image)
{
    free(image->pixels);
    image->pixels = NULL;
}

/* --------------------------------------------------------------------------------------------------- PPM */

bool image_fits_ppm(const struct image *image)
{
    return image->depth == 1 && (image->channels == 1 || image->channels == 3);
}

struct bytes image_ppm(const struct image *image)
{
    char header[64];
    size_t pixels = image->width * image->height * image->channels;
    size_t used = (size_t)snprintf(header, sizeof header, "P%c\n%zu %zu\n255\n",
                                   image->channels == 3 ? '6' : '5', image->width, image->height);
    struct bytes out = {.data = malloc(used + pixels), .size = used + pixels};
    if (!out.data)
        return (struct bytes){0};
    memcpy(out.data, header, used);
    memcpy(out.data + used, image->pixels, pixels);
    return out;
}
