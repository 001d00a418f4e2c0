/* Telling images by their first bytes, and by their names. */
#include "image_kind.h"

#include <string.h>
#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

const char *image_kind(const uint8_t *bytes, size_t size)
{
    static const struct {
        const char *name, *magic;
        size_t at, length;
    } kinds[] = {
        {"JPEG", "\xff\xd8\xff", 0, 3},
        {"PNG", "\x89PNG\r\n\x1a\n", 0, 8},
        {"GIF", "GIF8", 0, 4},
        {"WebP", "WEBP", 8, 4},
        {"BMP", "BM", 0, 2},
        {"TIFF", "II*\0", 0, 4},
        {"TIFF", "MM\0*", 0, 4},
        {"TIFF", "II+\0", 0, 4}, /* BigTIFF */
        {"TIFF", "MM\0+", 0, 4},
        {"PPM", "P6", 0, 2},
        {"PGM", "P5", 0, 2},
        {"JPEG 2000", "jP  \r\n", 4, 6},
        {"AVIF", "ftypavif", 4, 8},
        {"HEIC", "ftypheic", 4, 8},
        {"JPEG XL", "\xff\x0a", 0, 2},
        {"HTML", "<!DOCTYPE", 0, 9},
        {"HTML", "<html", 0, 5},
        {"gzip", "\x1f\x8b", 0, 2},
    };
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (size >= kinds[i].at + kinds[i].length &&
            memcmp(bytes + kinds[i].at, kinds[i].magic, kinds[i].length) == 0)
            return kinds[i].name;
    return NULL;
}

bool image_name(const char *name)
{
    static const char *const endings[] = {"jpg", "jpeg", "png",  "ppm",  "bmp",
                                          "pgm", "tif",  "tiff", "webp", "gif"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < COUNT(endings); i++)
        if (strcasecmp(dot + 1, endings[i]) == 0)
            return true;
    return false;
}
