/* Whether a JPEG file can be decoded, for those who are about to keep it. */
#include "jpeg_check.h"

#include "jpegs.h"

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
