/* Decoding of image files: those of tests/ingest/images/images.tar.xz, to what others make of them; and the same damaged. */
#include "decode_case.h"

#include "jpeg_sums.h"

#define IMAGES "images.tar.xz"

TestSuite(decode, .init = fx_set_up, .fini = fx_tear_down, .timeout = 120);

static bool has_palette(const char *name)
{
    static const char *const marks[] = {"palette", ".gif", "bit.bmp", "grey.bmp", "transparent.png"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(name, marks[i]))
            return true;
    return false;
}

static void decodes(const struct file *f)
{
    struct image_info info, header;
    struct raster s = {.data = NULL};
    unsigned channels, height, width, bits, slack;
    int at = 0;
    apl_status status = image_decoder_read(decoder, f->bytes, f->size, &info, &s, &err);
    if (is_absent(status))
        return;
    cr_assert_eq(status, APL_OK, "%s: %s", f->name, err.message);
    cr_assert_eq(image_decoder_probe(decoder, f->bytes, f->size, &header, &err), APL_OK);
    cr_assert(header.channels == info.channels && header.bits == info.bits && header.width == info.width &&
              header.height == info.height);
    cr_assert_eq(sscanf((char *)f->raw, "%u %u %u %u %u%n", &channels, &height, &width, &bits, &slack, &at),
                 5);
    cr_assert(info.channels == channels && info.height == height && info.width == width && info.bits == bits,
              "%s: {%u, %u, %u}, %u bits", f->name, info.channels, info.height, info.width, info.bits);
    cr_assert_eq(f->raw_size, raster_bytes(&info) + (size_t)at + 1);
    for (size_t i = 0; i < raster_bytes(&info) / (bits / 8); i++)
        cr_assert_leq(difference(s.data, f->raw + at + 1, i, bits), slack, "%s: sample %zu", f->name, i);
    cr_assert_eq(info.more, strstr(f->name, "frames") || strstr(f->name, "pages"), "%s", f->name);
    cr_assert_eq(info.orientation, strstr(f->name, "turned") ? 6 : 1, "%s", f->name);
    cr_assert_eq(info.palette, has_palette(f->name), "%s", f->name);
    raster_free(&s);
}

Test(decode, as_others_decode)
{
    each_file(IMAGES, decodes);
}

/* Of a JPEG image, those of the samples it decodes to. */
static void sums_up(const struct file *f)
{
    struct jpeg_decoder *d = strstr(f->name, ".jpeg") ? jpeg_decoder_new() : NULL;
    struct colour_sums sums;
    if (!d)
        return;
    cr_assert_eq(jpeg_sums(d, f->bytes, f->size, &sums, &err), APL_OK, "%s: %s", f->name, err.message);
    const uint8_t *sample = memchr(f->raw, '\n', f->raw_size);
    for (unsigned c = 0; c < COLOURS; c++) {
        int64_t sum = 0;
        for (uint64_t i = 0; i < sums.pixels; i++)
            sum += *++sample;
        cr_assert_eq(sums.sum[c], sum, "%s: colour %u", f->name, c);
    }
    jpeg_decoder_free(d);
}

Test(decode, sums_of_jpegs)
{
    each_file(IMAGES, sums_up);
}

/* From memory of its own, so that the address sanitizer sees what is read beyond it. */
static apl_status decode_copy(const uint8_t *bytes, size_t size)
{
    struct image_info info;
    struct raster s = {.data = NULL};
    uint8_t *copy = malloc(size + !size);
    memcpy(copy, bytes, size);
    apl_status status = image_decoder_read(decoder, copy, size, &info, &s, &err);
    if (status == APL_OK)
        cr_assert(info.channels >= 1 && info.channels <= 4 && raster_bytes(&info) <= s.planes.size);
    cr_assert(status == APL_OK || status == APL_E_CORRUPT || status == APL_E_UNSUPPORTED ||
                  status == APL_E_SOURCE,
              "%d: %s", (int)status, err.message);
    raster_free(&s);
    free(copy);
    return status;
}

/* Cut anywhere, it does not decode; but libtiff does without the last four bytes of a directory, which say where the next is,
 * and a first page is whole without the second. */
static void fails_cut(const struct file *f)
{
    size_t step = f->size / 50 + 1, spare = strstr(f->name, ".tif") ? 4 : 0;
    if (is_absent(decode_copy(f->bytes, f->size)) || strstr(f->name, "pages"))
        return;
    for (size_t size = 0; size + spare < f->size; size += step)
        cr_assert_neq(decode_copy(f->bytes, size), APL_OK, "%s: %zu of %zu bytes", f->name, size, f->size);
}

/* Four grey pixels, with sizes and places of 64 bits. */
Test(decode, bigtiff)
{
    static const uint16_t entries[][3] = {{256, 3, 2},   {257, 3, 2}, {258, 3, 8}, {259, 3, 1}, {262, 3, 1},
                                          {273, 4, 212}, {277, 3, 1}, {278, 3, 2}, {279, 4, 4}};
    struct buffer file = {0};
    struct image_info info;
    struct raster s = {.data = NULL};
    buffer_put(&file, "II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0", 16);
    buffer_le(&file, 9, 8);
    for (size_t i = 0; i < 9; i++) {
        buffer_le(&file, entries[i][0], 2);
        buffer_le(&file, entries[i][1], 2);
        buffer_le(&file, 1, 8);
        buffer_le(&file, entries[i][2], 8);
    }
    buffer_le(&file, 0, 8);
    buffer_put(&file, "\x07\x08\x09\xff", 4);
    cr_assert((decoder = image_decoder_new()));
    apl_status status = image_decoder_read(decoder, file.data, file.size, &info, &s, &err);
    cr_assert(status == APL_OK || is_absent(status), "%s", err.message);
    if (status == APL_OK)
        cr_assert(info.width == 2 && info.height == 2 && memcmp(s.data, "\x07\x08\x09\xff", 4) == 0);
    raster_free(&s);
    image_decoder_free(decoder);
    buffer_free(&file);
}

Test(decode, cut)
{
    each_file(IMAGES, fails_cut);
}

/* With bytes changed it decodes or does not: a checksum is not in all kinds. */
static void survives_changes(const struct file *f)
{
    uint8_t *copy = malloc(f->size);
    uint32_t random = 1;
    for (unsigned i = 0; i < 120; i++) {
        memcpy(copy, f->bytes, f->size);
        for (unsigned k = 0; k <= i % 3; k++) {
            random = random * 1664525u + 1013904223u;
            size_t at = (random >> 8) % (i % 2 ? f->size : f->size < 64 ? f->size : 64);
            copy[at] = (uint8_t)(i % 5 == 0 ? 0xff : random >> 24);
        }
        decode_copy(copy, f->size);
    }
    if (strstr(f->name, ".png"))
        for (size_t at = 8; at < f->size; at += 3) {
            memcpy(copy, f->bytes, f->size);
            copy[at] ^= 0x10;
            cr_assert_neq(decode_copy(copy, f->size), APL_OK, "%s: byte %zu", f->name, at);
        }
    free(copy);
}

Test(decode, changed)
{
    each_file(IMAGES, survives_changes);
}

static void expect(const void *bytes, size_t size, apl_status status, const char *words)
{
    apl_status is = decode_copy(bytes, size);
    if (is_absent(is))
        return;
    cr_assert_eq(is, status, "%d: %s", (int)is, err.message);
    cr_assert(strstr(err.message, words), "%s", err.message);
}

/* Sizes are checked before memory is taken. */
Test(decode, claims)
{
    static const char ppm[] = "P6 60000 60000 255\n....", few[] = "P6 8000 8000 255\n....",
                      none[] = "P5 0 4 255\n....", wide[] = "P6 65537 1 255\n....",
                      most[] = "P5 1 1 70000\n....";
    uint8_t bmp[64] = {'B', 'M', [10] = 54, [14] = 40, [18] = 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 24};
    cr_assert((decoder = image_decoder_new()));
    expect(ppm, sizeof ppm, APL_E_UNSUPPORTED, "PPM: 60000 x 60000 pixels are more than the 67108864");
    expect(wide, sizeof wide, APL_E_UNSUPPORTED, "PPM: 65537 x 1 pixels: a side may have 65536");
    expect(few, sizeof few, APL_E_CORRUPT, "PPM: claims 8000 x 8000 pixels, which 22 bytes cannot hold");
    expect(none, sizeof none, APL_E_CORRUPT, "PGM: an image of 0 x 4 pixels");
    expect(most, sizeof most, APL_E_CORRUPT, "PGM: a damaged header");
    expect(bmp, sizeof bmp, APL_E_UNSUPPORTED, "BMP: 65536 x 65536 pixels");
    expect("", 0, APL_E_SOURCE, "is empty");
    expect("hello", 5, APL_E_SOURCE, "is not a known image");
    expect("\0\0\0\0ftypavif....", 16, APL_E_UNSUPPORTED, "holds AVIF, which is not read");
    image_decoder_free(decoder);
}
