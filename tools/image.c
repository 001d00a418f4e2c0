#include "image.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIDE 65535 /* pixels: more than anyone needs, and no product overflows */

/* How a value of some shape lies in memory. */
struct layout {
    size_t width, height;
    unsigned channels;
    bool planar; /* channel by channel, not pixel by pixel */
};

static bool is_channels(int64_t n)
{
    return n == 1 || n == 3;
}

static bool layout_of(unsigned ndim, const int64_t *shape, struct layout *layout)
{
    if (ndim == 2)
        *layout = (struct layout){(size_t)shape[1], (size_t)shape[0], 1, true};
    else if (ndim == 3 && is_channels(shape[0]))
        *layout = (struct layout){(size_t)shape[2], (size_t)shape[1], (unsigned)shape[0], true};
    else if (ndim == 3 && is_channels(shape[2]))
        *layout = (struct layout){(size_t)shape[1], (size_t)shape[0], (unsigned)shape[2], false};
    else
        return false;
    return true;
}

bool field_is_image(const apl_field *field)
{
    struct layout layout;
    return field->dtype == APL_U8 && layout_of(field->ndim, field->shape, &layout);
}

static void paste(struct image *image, const struct value *value, const struct layout *from, size_t x,
                  size_t y)
{
    size_t plane = from->width * from->height;
    for (size_t row = 0; row < from->height; row++) {
        uint8_t *to = image->pixels + ((y + row) * image->width + x) * image->channels;
        for (size_t column = 0; column < from->width; column++)
            for (unsigned c = 0; c < from->channels; c++) {
                size_t pixel = row * from->width + column;
                *to++ = value->data[from->planar ? c * plane + pixel : pixel * from->channels + c];
            }
    }
}

const char *image_make(struct image *image, const struct value *values, size_t count, size_t across)
{
    struct layout first, layout;
    across = count < across ? count : across;
    if (values[0].dtype != APL_U8 || !layout_of(values[0].ndim, values[0].shape, &first))
        return "its shape is not that of an image";
    size_t down = (count + across - 1) / across;
    if (first.width == 0 || first.height == 0)
        return "it has no pixels";
    if (first.width > MAX_SIDE / across || first.height > MAX_SIDE / down)
        return "it is too large";
    *image = (struct image){.width = first.width * across, .height = first.height * down};
    image->channels = first.channels;
    image->pixels = calloc(image->width * image->height, image->channels);
    if (!image->pixels)
        return "out of memory";
    for (size_t i = 0; i < count; i++) {
        if (!layout_of(values[i].ndim, values[i].shape, &layout) || layout.width != first.width ||
            layout.height != first.height || layout.channels != first.channels) {
            image_free(image);
            return "records of different sizes do not fit one image";
        }
        paste(image, &values[i], &layout, i % across * first.width, i / across * first.height);
    }
    return NULL;
}

void image_free(struct image *image)
{
    free(image->pixels);
    image->pixels = NULL;
}

const char *image_libpng_version(void)
{
    return PNG_LIBPNG_VER_STRING;
}

struct bytes image_png(const struct image *image)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    png.width = (png_uint_32)image->width;
    png.height = (png_uint_32)image->height;
    png.format = image->channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    png_alloc_size_t size = 0;
    struct bytes out = {0};
    if (!png_image_write_to_memory(&png, NULL, &size, 0, image->pixels, 0, NULL))
        return out;
    out.data = malloc(size);
    if (!out.data)
        return out;
    if (!png_image_write_to_memory(&png, out.data, &size, 0, image->pixels, 0, NULL)) {
        free(out.data);
        return (struct bytes){0};
    }
    out.size = size;
    return out;
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
