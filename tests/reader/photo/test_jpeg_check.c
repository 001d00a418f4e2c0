/* Whether a JPEG file can be decoded, for those who are about to keep it. */
#include "jpeg_check.h"

#include "jpeg_whole.h"
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

static void pass_band(void *user, const struct jpeg_planes *planes, const struct jpeg_band *band)
{
    (void)user, (void)planes, (void)band;
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

/* Twenty kinds of images, of thousands of bytes. */
static struct jpeg_bytes draw_kind(unsigned i)
{
    static const struct jpeg_case kinds[] = {
        {.colour = JCS_YCbCr, .across = 2, .down = 2},
        {.colour = JCS_YCbCr, .across = 1, .down = 1},
        {.colour = JCS_YCbCr, .across = 2, .down = 1},
        {.colour = JCS_GRAYSCALE},
        {.colour = JCS_RGB},
        {.colour = JCS_CMYK},
        {.colour = JCS_YCbCr, .across = 2, .down = 2, .progressive = true},
        {.colour = JCS_GRAYSCALE, .progressive = true},
        {.colour = JCS_YCbCr, .across = 2, .down = 2, .restart = 7},
        {.colour = JCS_YCbCr, .across = 4, .down = 1},
    };
    struct jpeg_case k = kinds[i % 10];
    k.width = 300 + 7 * i;
    k.height = 260 - 3 * i;
    k.quality = i < 10 ? 90 : 97;
    return jpeg_draw(&k);
}

static void check_refused(const uint8_t *file, size_t size, const char *what, unsigned kind)
{
    uint32_t shape[3];
    apl_error err;
    cr_assert_eq(apl_check_jpeg(file, size, 1, shape, &err), APL_E_CORRUPT, "kind %u, %s", kind, what);
    cr_assert(strncmp(err.message, "JPEG: ", 6) == 0, "%s", err.message);
}

/* Zeros are good codes, so that all rows can be had: bytes are missing, or left over, in front of the end marker. */
Test(jpeg_check, damage_in_the_data_is_named)
{
    for (unsigned i = 0; i < 20; i++) {
        struct jpeg_bytes file = draw_kind(i);
        uint8_t *copy = malloc(file.size);
        size_t half = file.size / 2, tenth = file.size / 10;
        uint32_t shape[3];
        cr_assert_eq(apl_check_jpeg(file.data, file.size, 1, shape, NULL), APL_OK, "kind %u", i);
        cr_assert_gt(half, 2200);
        memcpy(copy, file.data, file.size);
        memset(copy + half, 0, 2000);
        check_refused(copy, file.size, "2000 bytes are zeros", i);
        memset(copy + half, 0, file.size - half - 2);
        check_refused(copy, file.size, "the second half is zeros, up to the end marker", i);
        memset(copy + half, 0, file.size - half);
        check_refused(copy, file.size, "the second half is zeros", i);
        for (unsigned k = 1; k < 10; k++)
            check_refused(file.data, k * tenth + 8, "cut", i);
        check_refused(file.data, file.size - 2, "no end marker", i);
        check_refused(file.data, file.size - 1, "half an end marker", i);
        free(copy);
        free(file.data);
    }
}

/* Decodes all of an image by libjpeg, if that takes the header. */
static apl_status decode_whole(struct jpeg_decoder *d, const uint8_t *file, size_t size)
{
    struct jpeg_info info;
    if (jpeg_decoder_open(d, file, size, &info, NULL) != APL_OK)
        return APL_OK;
    apl_status status = jpeg_decode_whole(d, &info, 1, JPEG_CHROMA_PLANES, pass_band, NULL, NULL);
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

/* Warnings are counted and passed, from the image's header to its end marker; a file that ends early is bad all the same. */
Test(jpeg_check, warnings_are_counted_where_they_are_allowed)
{
    struct jpeg_bytes file = draw_kind(0);
    struct jpeg_decoder *decoder = jpeg_decoder_new();
    struct warnings heard = {.allowed = true};
    struct jpeg_info info;
    apl_error err;
    jpeg_decoder_listen(decoder, &heard);
    cr_assert_eq(jpeg_check(decoder, file.data, file.size, true, &info, &err), APL_OK);
    cr_assert_eq(heard.count, 0);
    cr_assert_neq(jpeg_check(decoder, file.data, file.size - 2, true, &info, &err), APL_OK);
    cr_assert_str_eq(err.message, "JPEG: Premature end of JPEG file");
    memset(file.data + file.size / 2, 0, 2000);
    cr_assert_eq(jpeg_check(decoder, file.data, file.size, true, &info, &err), APL_OK, "%s", err.message);
    cr_assert_geq(heard.count, 1);
    cr_assert(strncmp(heard.first, "Corrupt JPEG data: ", 19) == 0, "%s", heard.first);
    jpeg_decoder_listen(decoder, NULL);
    cr_assert_eq(jpeg_check(decoder, file.data, file.size, true, &info, &err), APL_E_CORRUPT);
    jpeg_decoder_free(decoder);
    free(file.data);
}
