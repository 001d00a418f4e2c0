/* Images whose pixels are numbers: indices of palettes and levels of grey come out as the files have them; what has none is refused. */
#include "decode_case.h"

#define NUMBERS "numbers.tar.xz"

TestSuite(numbers, .init = fx_set_up, .fini = fx_tear_down, .timeout = 120);

static void are_kept(const struct file *f)
{
    struct image_info info, header;
    struct raster s = {.data = NULL};
    unsigned channels, height, width, bits, slack;
    int at = 0;
    apl_status status = image_decoder_read_numbers(decoder, f->bytes, f->size, &info, &s, &err);
    if (is_absent(status))
        return;
    if (strcmp(f->name, "lossy.tif") == 0) {
        cr_assert(status == APL_E_SOURCE && strstr(err.message, "compressed as JPEG"), "%s", err.message);
        return;
    }
    cr_assert_eq(status, APL_OK, "%s: %s", f->name, err.message);
    cr_assert_eq(image_decoder_probe_numbers(decoder, f->bytes, f->size, &header, &err), APL_OK);
    cr_assert(header.channels == 1 && header.bits == info.bits && header.width == info.width);
    cr_assert_eq(sscanf((char *)f->raw, "%u %u %u %u %u%n", &channels, &height, &width, &bits, &slack, &at),
                 5);
    cr_assert(info.channels == 1 && info.height == height && info.width == width && info.bits == bits,
              "%s: {%u, %u, %u}, %u bits", f->name, info.channels, info.height, info.width, info.bits);
    for (size_t i = 0; i < (size_t)height * width; i++)
        cr_assert_eq(difference(s.data, f->raw + at + 1, i, bits), 0, "%s: pixel %zu", f->name, i);
    raster_free(&s);
}

Test(numbers, are_kept)
{
    each_file(NUMBERS, are_kept);
}

/* From memory of its own, so that the address sanitizer sees what is read beyond it. */
static apl_status read_copy(const uint8_t *bytes, size_t size)
{
    struct image_info info;
    struct raster s = {.data = NULL};
    uint8_t *copy = malloc(size + !size);
    memcpy(copy, bytes, size);
    apl_status status = image_decoder_read_numbers(decoder, copy, size, &info, &s, &err);
    if (status == APL_OK)
        cr_assert(info.channels == 1 && raster_bytes(&info) <= s.planes.size);
    cr_assert(status == APL_OK || status == APL_E_CORRUPT || status == APL_E_UNSUPPORTED ||
                  status == APL_E_SOURCE,
              "%d: %s", (int)status, err.message);
    raster_free(&s);
    free(copy);
    return status;
}

static void fail_cut(const struct file *f)
{
    size_t step = f->size / 30 + 1, spare = strstr(f->name, ".tif") ? 4 : 0;
    if (is_absent(read_copy(f->bytes, f->size)))
        return;
    for (size_t size = 0; size + spare < f->size; size += step)
        cr_assert(read_copy(f->bytes, size) != APL_OK || strstr(f->name, ".tif"), "%s: %zu of %zu bytes",
                  f->name, size, f->size);
}

Test(numbers, cut)
{
    each_file(NUMBERS, fail_cut);
}

static void survive_changes(const struct file *f)
{
    uint8_t *copy = malloc(f->size);
    uint32_t random = 1;
    for (unsigned i = 0; i < 60; i++) {
        memcpy(copy, f->bytes, f->size);
        random = random * 1664525u + 1013904223u;
        copy[(random >> 8) % (i % 2 || f->size < 64 ? f->size : 64)] = (uint8_t)(random >> 24);
        read_copy(copy, f->size);
    }
    free(copy);
}

Test(numbers, changed)
{
    each_file(NUMBERS, survive_changes);
}

/* Of images of all kinds, those in colour and those with alpha have none; JPEG keeps none. */
static void are_of_grey_and_palettes(const struct file *f)
{
    static const char *const have[] = {"grey", "bit.",  "fax", "seven",           "palette",
                                       "one.", "inter", "fra", "transparent.gif", "transparent.png"};
    apl_status status = read_copy(f->bytes, f->size);
    bool expected = false;
    for (size_t i = 0; i < sizeof have / sizeof *have; i++)
        expected |= strncmp(f->name, have[i], strlen(have[i])) == 0 && !(i == 6 && strstr(f->name, ".png"));
    if (is_absent(status))
        return;
    const char *reason = strstr(f->name, ".jpeg")         ? "is a JPEG"
                         : strncmp(f->name, "la", 2) == 0 ? "alpha"
                                                          : "in colour";
    if (expected)
        cr_assert_eq(status, APL_OK, "%s: %s", f->name, err.message);
    else
        cr_assert(status == APL_E_SOURCE && strstr(err.message, reason), "%s: %d %s", f->name, (int)status,
                  err.message);
}

Test(numbers, are_of_grey_and_palettes)
{
    each_file("images.tar.xz", are_of_grey_and_palettes);
}

static void expect(const void *bytes, size_t size, apl_status status, const char *words)
{
    apl_status is = read_copy(bytes, size);
    if (is_absent(is))
        return;
    cr_assert_eq(is, status, "%d: %s", (int)is, err.message);
    cr_assert(strstr(err.message, words), "%s", err.message);
}

Test(numbers, are_not_in_these)
{
    static const uint8_t beside[] =
        "GIF89a\x04\0\x04\0\x80\0\0\0\0\0\xff\xff\xff,\x01\0\0\0\x02\0\x02\0\0\x02\x03\x44\x02\x05\0;";
    cr_assert((decoder = image_decoder_new()));
    expect("\xff\xd8\xff\xe0....", 8, APL_E_SOURCE, "is a JPEG, which changes the numbers");
    expect("P6 1 1 255\n...", 14, APL_E_SOURCE, "is in colour");
    expect("P5 1 1 7\n\x08", 10, APL_E_CORRUPT, "a sample above 7");
    expect(beside, sizeof beside - 1, APL_E_SOURCE, "does not cover the image");
    expect("", 0, APL_E_SOURCE, "is empty");
    expect("hello", 5, APL_E_SOURCE, "is not a known image");
    image_decoder_free(decoder);
}
