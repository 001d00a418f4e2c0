/* One image file, decoded or re-encoded for a caller: what aplingest makes of it is in test_decode.c. */
#include "apl_ingest.h"
#include "bytes.h"
#include "jpegs.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static const uint8_t grey[] = "P5 3 2 255\n\1\2\3\4\5\6", deep[] = "P5 2 1 65535\n\x01\x01\x01\x82";
static apl_error err;

Test(image_file, is_decoded)
{
    apl_image *image;
    cr_assert_eq(apl_image_decode(grey, sizeof grey - 1, 8, 0, &image, &err), APL_OK, "%s", err.message);
    cr_assert_str_eq(image->kind, "PGM");
    cr_assert(image->channels == 1 && image->height == 2 && image->width == 3 && image->bits == 8);
    cr_assert(image->orientation == 1 && !image->palette && image->remarks == 0 && image->bytes == 6);
    cr_assert_arr_eq(image->data, "\1\2\3\4\5\6", 6);
    apl_image_free(image);
    apl_image_free(NULL);
}

Test(image_file, has_a_header)
{
    apl_image *image;
    cr_assert_eq(apl_image_decode(deep, sizeof deep - 1, 0, 0, &image, NULL), APL_OK);
    cr_assert(image->channels == 1 && image->height == 1 && image->width == 2 && image->bits == 16);
    cr_assert(!image->data && image->bytes == 0 && image->remarks == 0);
    apl_image_free(image);
}

/* The remarks that are made, in words: one at most. */
static const char *remark_of(const apl_image *image)
{
    const char *text, *found = NULL;
    for (unsigned i = 0; (text = apl_image_remark(i)); i++)
        if (image->remarks >> i & 1) {
            cr_assert_null(found);
            found = text;
        }
    return found;
}

Test(image_file, of_16_bits_is_taken_or_narrowed)
{
    apl_image *image;
    uint16_t words[2];
    cr_assert_eq(apl_image_decode(deep, sizeof deep - 1, 16, 0, &image, NULL), APL_OK);
    memcpy(words, image->data, sizeof words);
    cr_assert(image->bits == 16 && image->bytes == 4 && words[0] == 0x101 && words[1] == 0x182);
    cr_assert_null(remark_of(image));
    apl_image_free(image);
    cr_assert_eq(apl_image_decode(deep, sizeof deep - 1, 8, 0, &image, NULL), APL_OK);
    cr_assert(image->bits == 8 && image->bytes == 2);
    cr_assert_arr_eq(image->data, "\1\2", 2);
    cr_assert_str_eq(remark_of(image), "images of 16 bits, reduced to 8");
    apl_image_free(image);
    cr_assert_eq(apl_image_decode(grey, sizeof grey - 1, 16, 0, &image, &err), APL_E_SOURCE);
    cr_assert_str_eq(err.message, "has 8 bits, all others 16");
    cr_assert_null(image);
}

Test(image_file, becomes_a_jpeg_or_stays_one)
{
    static const struct jpeg_case drawn = {
        .width = 90, .height = 70, .colour = JCS_YCbCr, .across = 2, .down = 2, .quality = 90};
    struct jpeg_bytes file = jpeg_draw(&drawn);
    apl_image *image;
    uint32_t shape[3];
    cr_assert_eq(apl_image_to_jpeg(grey, sizeof grey - 1, 0, 0, &image, NULL), APL_OK);
    cr_assert_eq(apl_check_jpeg(image->data, image->bytes, 1, shape, NULL), APL_OK);
    cr_assert(shape[0] == 1 && shape[1] == 2 && shape[2] == 3 && image->width == 3);
    cr_assert_eq(strncmp(remark_of(image), "images that are not JPEGs, re-encoded", 37), 0);
    apl_image_free(image);
    cr_assert_eq(apl_image_to_jpeg(file.data, file.size, 0, 0, &image, NULL), APL_OK);
    cr_assert(image->bytes == file.size && memcmp(image->data, file.data, file.size) == 0);
    cr_assert(image->channels == 3 && image->height == 70 && image->width == 90 && !remark_of(image));
    apl_image_free(image);
    cr_assert_eq(apl_image_to_jpeg(file.data, file.size - 40, 0, 0, &image, &err), APL_E_CORRUPT);
    free(file.data);
}

Test(image_file, is_refused_where_it_cannot_be_stored)
{
    static const uint8_t large[] = "P6 8000 8000 255\n", text[] = "no image at all";
    uint8_t *file = calloc(1, sizeof large + 3 * 64000000u);
    apl_image *image;
    cr_assert(file);
    memcpy(file, large, sizeof large - 1);
    cr_assert_eq(apl_image_decode(file, sizeof large - 1 + 3 * 64000000u, 8, 0, &image, &err),
                 APL_E_UNSUPPORTED);
    cr_assert_str_eq(err.message,
                     "8000 x 8000 pixels are 192000000 bytes, more than the 67108864 of a value");
    free(file);
    cr_assert_eq(apl_image_decode(text, sizeof text, 8, 0, &image, &err), APL_E_SOURCE);
    cr_assert_eq(apl_image_decode(text, 0, 8, 0, &image, &err), APL_E_SOURCE);
    cr_assert_eq(apl_image_decode(NULL, 0, 8, 0, &image, &err), APL_E_INVALID);
    cr_assert_eq(apl_image_decode(text, sizeof text, 8, 0, NULL, &err), APL_E_INVALID);
    cr_assert_eq(apl_image_decode(text, sizeof text, 9, 0, &image, &err), APL_E_INVALID);
}

Test(image_file, of_numbers_keeps_them)
{
    static const uint8_t few[] = "P5 3 1 7\n\0\3\7", wide[] = "P5 2 1 65535\n\x01\x01\xFF\x82";
    apl_image *image;
    uint16_t words[2];
    cr_assert_eq(apl_mask_decode(few, sizeof few - 1, 0, 0, &image, &err), APL_OK, "%s", err.message);
    cr_assert(image->channels == 1 && image->height == 1 && image->width == 3 && image->bits == 8);
    cr_assert(image->bytes == 3 && memcmp(image->data, "\0\3\7", 3) == 0); /* of an image: 0, 109, 255 */
    apl_image_free(image);
    cr_assert_eq(apl_mask_decode(wide, sizeof wide - 1, 0, 0, &image, NULL), APL_OK);
    memcpy(words, image->data, sizeof words);
    cr_assert(image->bits == 16 && image->bytes == 4 && words[0] == 0x101 && words[1] == 0xFF82);
    apl_image_free(image);
    cr_assert_eq(apl_mask_decode(wide, sizeof wide - 1, 1, 0, &image, NULL), APL_OK);
    cr_assert(image->bits == 16 && image->width == 2 && !image->data && image->bytes == 0);
    apl_image_free(image);
}

Test(image_file, without_numbers_is_no_mask)
{
    static const uint8_t colours[] = "P6 1 1 255\n\1\2\3", jpeg[] = {0xFF, 0xD8, 0xFF, 0xE0};
    apl_image *image;
    cr_assert_eq(apl_mask_decode(colours, sizeof colours - 1, 1, 0, &image, &err), APL_E_SOURCE);
    cr_assert_str_eq(err.message,
                     "is in colour, and a mask has a palette or is grey, so that its pixels are numbers");
    cr_assert_null(image);
    cr_assert_eq(apl_mask_decode(jpeg, sizeof jpeg, 0, 0, &image, &err), APL_E_SOURCE);
    cr_assert_not_null(strstr(err.message, "is a JPEG, which changes the numbers of a mask"));
    cr_assert_eq(apl_mask_decode(grey, sizeof grey - 3, 0, 0, &image, &err), APL_E_CORRUPT);
    cr_assert_eq(apl_mask_decode(NULL, 0, 0, 0, &image, &err), APL_E_INVALID);
}
