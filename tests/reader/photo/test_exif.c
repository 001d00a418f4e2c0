/* Orientation: TIFF in either byte order, at its limits, and damaged. */
#include "exif.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

static const uint8_t little[] = {'E',  'x', 'i',  'f', 0, 0, 'I', 'I', 42, 0, 8, 0, 0, 0,
                                 2,    0,   0x0f, 1,   2, 0, 1,   0,   0,  0, 0, 0, 0, 0,
                                 0x12, 1,   3,    0,   1, 0, 0,   0,   6,  0, 0, 0};
static const uint8_t big[] = {'E', 'x', 'i', 'f',  0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8,
                              0,   1,   1,   0x12, 0, 3, 0,   0,   0, 1,  0, 8, 0, 0};

Test(exif, either_byte_order)
{
    cr_assert_eq(exif_orientation(little, sizeof little), 6);
    cr_assert_eq(exif_orientation(big, sizeof big), 8);
}

Test(exif, only_one_to_eight)
{
    uint8_t exif[sizeof little];
    memcpy(exif, little, sizeof exif);
    for (unsigned value = 0; value < 300; value++) {
        exif[36] = (uint8_t)value;
        exif[37] = (uint8_t)(value >> 8);
        cr_assert_eq(exif_orientation(exif, sizeof exif), value >= 1 && value <= 8 ? value : 0);
    }
}

/* As other programs take it. */
Test(exif, of_four_bytes)
{
    uint8_t exif[sizeof little];
    memcpy(exif, little, sizeof exif);
    exif[30] = 4;
    cr_assert_eq(exif_orientation(exif, sizeof exif), 6);
    exif[38] = 1;
    cr_assert_eq(exif_orientation(exif, sizeof exif), 0);
}

static void changed_at(size_t at, uint8_t value)
{
    uint8_t exif[sizeof little];
    memcpy(exif, little, sizeof exif);
    exif[at] = value;
    cr_assert_eq(exif_orientation(exif, sizeof exif), 0, "byte %zu", at);
}

Test(exif, what_is_something_else_says_nothing)
{
    changed_at(0, 'X');  /* no EXIF */
    changed_at(6, 'X');  /* no TIFF */
    changed_at(8, 43);   /* nor here */
    changed_at(11, 255); /* a directory beyond the end */
    changed_at(13, 255);
    changed_at(14, 0); /* one without entries */
    changed_at(14, 1); /* one that ends before the orientation */
    changed_at(30, 5); /* another type */
    changed_at(32, 2); /* two of them */
    changed_at(29, 2); /* another tag */
}

Test(exif, truncated_anywhere)
{
    for (size_t size = 0; size < sizeof little; size++) {
        uint8_t *part = malloc(size + 1);
        memcpy(part, little, size);
        cr_assert_eq(exif_orientation(part, size), 0);
        free(part);
    }
}
