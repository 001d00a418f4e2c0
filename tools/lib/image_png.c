/* Images as files of PNG, by libpng: see image.h. */
#include "image.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PIXELS (1u << 26) /* of a file that is read */

const char *image_libpng_version(void)
{
    return PNG_LIBPNG_VER_STRING;
}

/* ----------------------------------------------------------------------------------------------- writing */

struct png_out {
    struct bytes bytes;
    size_t room;
};

static void take_png(png_structp png, png_bytep data, size_t size)
{
    struct png_out *out = png_get_io_ptr(png);
    if (size > out->room - out->bytes.size) {
        size_t room = 2 * out->room + size;
        uint8_t *grown = realloc(out->bytes.data, room);
        if (!grown)
            png_error(png, "out of memory");
        out->bytes.data = grown;
        out->room = room;
    }
    memcpy(out->bytes.data + out->bytes.size, data, size);
    out->bytes.size += size;
}

static void flush_png(png_structp png)
{
    (void)png;
}

static void say_nothing(png_structp png, png_const_charp message)
{
    (void)png, (void)message;
}

/* Jumps back where png_jmpbuf() says when memory runs out. */
static void encode_png(png_structp png, png_infop info, const struct image *image, struct png_out *out)
{
    static const int colours[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                  PNG_COLOR_TYPE_RGB_ALPHA};
    const uint16_t one = 1;
    size_t row = image->width * image->channels * image->depth;
    png_set_write_fn(png, out, take_png, flush_png);
    png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, (int)(8 * image->depth),
                 colours[image->channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    if (image->depth == 2 && *(const uint8_t *)&one) /* PNG has the high byte first */
        png_set_swap(png);
    for (size_t y = 0; y < image->height; y++)
        png_write_row(png, image->pixels + y * row);
    png_write_end(png, NULL);
}

struct bytes image_png(const struct image *image)
{
    struct png_out out = {{NULL, 0}, 0};
    png_infop info = NULL;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, say_nothing, say_nothing);
    if (png)
        info = png_create_info_struct(png);
    if (!info || setjmp(png_jmpbuf(png))) {
        free(out.bytes.data);
        png_destroy_write_struct(&png, &info);
        return (struct bytes){0};
    }
    encode_png(png, info, image, &out);
    png_destroy_write_struct(&png, &info);
    return out.bytes;
}

/* ----------------------------------------------------------------------------------------------- reading */

static const char *finish_png(png_image *png, struct image *image)
{
    bool grey = !(png->format & PNG_FORMAT_FLAG_COLOR);
    const png_color white = {255, 255, 255};
    if (png->width == 0 || png->height == 0 || png->height > MOST_PIXELS / png->width)
        return "it is too large";
    png->format = grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    *image = (struct image){png->width, png->height, grey ? 1 : 3, 1, malloc(PNG_IMAGE_SIZE(*png))};
    if (!image->pixels)
        return "out of memory";
    if (!png_image_finish_read(png, &white, image->pixels, 0, NULL)) {
        image_free(image);
        return "it is damaged";
    }
    return NULL;
}

const char *image_read_png(struct image *image, const void *file, size_t bytes)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    *image = (struct image){0};
    const char *why = png_image_begin_read_from_memory(&png, file, bytes) ? finish_png(&png, image)
                                                                          : "it is not a file of PNG";
    png_image_free(&png);
    return why;
}
