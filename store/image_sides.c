/* Heights and widths in headers: see image_sides.h. */
#include "image_sides.h"

#include <string.h>

static int64_t two_bytes(const uint8_t *at)
{
    return at[0] << 8 | at[1];
}

/* Segments up to that of the frame: a marker, and the bytes that it has. */
static bool jpeg_sides(const uint8_t *file, size_t size, int64_t sides[2])
{
    for (size_t at = 2; at + 9 <= size && file[at] == 0xff;) {
        uint8_t marker = file[at + 1];
        bool frame = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
        if (marker == 0xff) { /* a fill byte */
            at++;
            continue;
        }
        if (frame) {
            sides[0] = two_bytes(file + at + 5);
            sides[1] = two_bytes(file + at + 7);
            return true;
        }
        if (marker < 0xc0 || marker == 0xda || marker == 0xd9)
            return false;
        at += 2 + (size_t)two_bytes(file + at + 2);
    }
    return false;
}

bool image_sides(const void *file, size_t size, int64_t sides[2])
{
    static const uint8_t png[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    const uint8_t *at = file;
    if (size >= 24 && memcmp(at, png, sizeof png) == 0) {
        sides[1] = two_bytes(at + 16) << 16 | two_bytes(at + 18);
        sides[0] = two_bytes(at + 20) << 16 | two_bytes(at + 22);
        return true;
    }
    return size > 2 && at[0] == 0xff && at[1] == 0xd8 && jpeg_sides(at, size, sides);
}
