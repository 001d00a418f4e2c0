/* EXIF is a TIFF file behind six bytes; its first directory may hold the orientation. */
#include "exif.h"

#include "bytes.h"

#define ORIENTATION 0x0112
#define SHORT       3
#define LONG        4
#define ENTRY       12 /* bytes: tag, type, count, value */

struct tiff {
    const uint8_t *bytes;
    size_t size;
    bool big;
};

static uint32_t tiff_number(const struct tiff *t, const uint8_t *p, unsigned bytes)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint32_t)p[i] << 8 * (t->big ? bytes - 1 - i : i);
    return value;
}

static unsigned entry_orientation(const struct tiff *t, const uint8_t *entry)
{
    uint32_t type = tiff_number(t, entry + 2, 2); /* LONG is not what EXIF says, and Pillow takes it, too */
    if (tiff_number(t, entry, 2) != ORIENTATION || (type != SHORT && type != LONG) ||
        tiff_number(t, entry + 4, 4) != 1)
        return 0;
    uint32_t value = tiff_number(t, entry + 8, type == SHORT ? 2 : 4);
    return value >= 1 && value <= 8 ? value : 0;
}

static unsigned directory_orientation(const struct tiff *t, uint32_t offset)
{
    if (offset > t->size)
        return 0;
    struct cursor c = cursor_over(t->bytes + offset, t->size - offset);
    const uint8_t *count = cursor_take(&c, 2), *entry;
    for (uint32_t left = count ? tiff_number(t, count, 2) : 0; left > 0 && (entry = cursor_take(&c, ENTRY));
         left--) {
        unsigned orientation = entry_orientation(t, entry);
        if (orientation)
            return orientation;
    }
    return 0;
}

unsigned tiff_orientation(const void *bytes, size_t size)
{
    static const uint8_t little[4] = {'I', 'I', 42, 0}, big[4] = {'M', 'M', 0, 42};
    if (size < 8)
        return 0;
    struct tiff t = {.bytes = bytes, .size = size, .big = memcmp(bytes, big, 4) == 0};
    if (!t.big && memcmp(t.bytes, little, 4) != 0)
        return 0;
    return directory_orientation(&t, tiff_number(&t, t.bytes + 4, 4));
}

unsigned exif_orientation(const void *segment, size_t size)
{
    static const uint8_t mark[6] = "Exif\0";
    if (size < sizeof mark || memcmp(segment, mark, sizeof mark) != 0)
        return 0;
    return tiff_orientation((const uint8_t *)segment + sizeof mark, size - sizeof mark);
}
