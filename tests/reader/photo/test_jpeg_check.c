/* Whether a JPEG file can be decoded, for those who are about to keep it. */
#include "jpeg_check.h"

#include "jpegs.h"
#include "stream.h"

#include <criterion/criterion.h>

static const struct jpeg_case drawn = {
    .width = 90, .height = 70, .colour = JCS_YCbCr, .across = 2, .down = 2, .quality = 90};

Test(jpeg_check, whole_files_are_good)
{
    struct jpeg_bytes file = jpeg_draw(&drawn);
    uint32_t shape[3] = {0};
    apl_error err;
    for (int decode = 0; decode < 2; decode++)
        cr_assert_eq(apl_check_jpeg(file.data, file.size, decode, shape, &err), APL_OK, "%s", err.message);
    cr_assert(shape[0] == 3 && shape[1] == 70 && shape[2] == 90);
    free(file.data);
}

/* Each length is a file of its own, so that reading beyond it is seen. */
Test(jpeg_check, cut_files_are_bad)
{
    struct jpeg_bytes file = jpeg_draw(&drawn);
    uint32_t shape[3];
    apl_error err;
    for (size_t size = 0; size + 2 < file.size; size += 1 + size / 16) {
        uint8_t *cut = malloc(size ? size : 1);
        memcpy(cut, file.data, size);
        cr_assert_neq(apl_check_jpeg(cut, size, 1, shape, &err), APL_OK, "%zu bytes", size);
        cr_assert_neq(err.message[0], 0);
        free(cut);
    }
    cr_assert_eq(apl_check_jpeg(file.data, file.size - 100, 0, shape, NULL), APL_OK, "the header is whole");
    free(file.data);
}

/* Decodes all of an image by libjpeg, if that takes the header. */
static apl_status decode_whole(struct jpeg_decoder *d, const uint8_t *file, size_t size)
{
    struct jpeg_info info;
    struct jpeg_planes planes;
    struct jpeg_band band = {.plane = {{.count = 1}}};
    if (jpeg_decoder_open(d, file, size, &info, NULL) != APL_OK)
        return APL_OK;
    apl_status status =
        jpeg_decoder_start(d, (struct jpeg_region){.width = info.width, .height = info.height}, 1,
                           JPEG_CHROMA_PLANES, &planes, NULL);
    while (status == APL_OK && band.plane[0].count > 0)
        status = jpeg_decoder_next(d, &band, NULL);
    jpeg_decoder_end(d);
    return status;
}

/* Of files with damage anywhere, those that are found sound without libjpeg are those that it decodes without a warning. */
Test(jpeg_check, sound_files_are_decoded_without_a_warning)
{
    static const struct jpeg_case cases[] = {
        {.width = 90, .height = 70, .colour = JCS_YCbCr, .across = 2, .down = 2, .quality = 90},
        {.width = 33, .height = 65, .colour = JCS_GRAYSCALE, .across = 1, .down = 1, .quality = 50},
        {.width = 50,
         .height = 40,
         .colour = JCS_YCbCr,
         .across = 2,
         .down = 2,
         .quality = 90,
         .progressive = true},
        {.width = 33,
         .height = 65,
         .colour = JCS_GRAYSCALE,
         .quality = 50,
         .progressive = true,
         .restart = 7},
    };
    struct jpeg_decoder *decoder = jpeg_decoder_new();
    unsigned sound = 0, tried = 0;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct jpeg_bytes file = jpeg_draw(&cases[c]);
        cr_assert(stream_is_sound(file.data, file.size));
        for (size_t cut = 1; cut < file.size; cut += 1 + cut / 32)
            cr_assert_not(stream_is_sound(file.data, file.size - cut), "%zu bytes cut off", cut);
        for (size_t bit = 0; bit < 8 * file.size; bit += 3, tried++) {
            file.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            if (stream_is_sound(file.data, file.size)) {
                sound++;
                cr_assert_eq(decode_whole(decoder, file.data, file.size), APL_OK, "bit %zu", bit);
            }
            file.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        free(file.data);
    }
    cr_assert(sound > tried / 100 && sound < tried, "%u of %u", sound, tried);
    jpeg_decoder_free(decoder);
}

Test(jpeg_check, a_decoder_goes_on_after_a_bad_file)
{
    struct jpeg_bytes file = jpeg_draw(&drawn);
    struct jpeg_decoder *decoder = jpeg_decoder_new();
    struct jpeg_info info;
    apl_error err;
    cr_assert_neq(jpeg_check(decoder, file.data, file.size / 2, true, &info, &err), APL_OK);
    cr_assert_eq(jpeg_check(decoder, file.data, file.size, true, &info, &err), APL_OK, "%s", err.message);
    cr_assert(info.width == 90 && info.height == 70);
    jpeg_decoder_free(decoder);
    free(file.data);
}

Test(jpeg_check, no_file_is_refused)
{
    uint32_t shape[3];
    cr_assert_eq(apl_check_jpeg(NULL, 9, 1, shape, NULL), APL_E_INVALID);
    cr_assert_eq(apl_check_jpeg("", 0, 1, NULL, NULL), APL_E_INVALID);
}
