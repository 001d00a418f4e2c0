#include "file_kind.h"

#include <string.h>

const char *file_ending(const char *media)
{
    static const char *const endings[][2] = {
        {"image/jpeg", "jpg"},
        {"image/png", "png"},
        {"image/webp", "webp"},
        {"image/gif", "gif"},
        {"image/bmp", "bmp"},
        {"image/tiff", "tif"},
        {"image/x-portable-anymap", "pnm"},
        {"image/x-portable-pixmap", "ppm"},
        {"image/x-portable-graymap", "pgm"},
        {"image/jp2", "jp2"},
        {"image/jxl", "jxl"},
        {"image/avif", "avif"},
        {"image/heic", "heic"},
        {"image/svg+xml", "svg"},
        {"audio/flac", "flac"},
        {"audio/mpeg", "mp3"},
        {"audio/ogg", "ogg"},
        {"audio/wav", "wav"},
        {"audio/x-wav", "wav"},
        {"video/mp4", "mp4"},
        {"video/webm", "webm"},
        {"application/json", "json"},
        {"application/pdf", "pdf"},
        {"application/gzip", "gz"},
        {"application/zip", "zip"},
        {"text/plain", "txt"},
        {"text/html", "html"},
        {"text/csv", "csv"},
    };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strcmp(media, endings[i][0]) == 0)
            return endings[i][1];
    return "bin";
}

bool has_ending(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name, *dot = strrchr(base, '.');
    return dot && dot > base && dot[1];
}
