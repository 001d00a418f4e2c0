/* JPEG files to their indexed form and back: to the byte, or not at all. */
#include "indexed.h"
#include "jpegs.h"
#include "transcode.h"

#include <criterion/criterion.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct transcoder t;
static apl_error err;

static void begin(void)
{
    cr_assert_eq(transcoder_init(&t, &err), APL_OK);
}

static void end(void)
{
    transcoder_free(&t);
}

TestSuite(transcode, .init = begin, .fini = end);

/* The indexed form, NULL data if it has none; to be freed. */
static struct buffer form_of(const uint8_t *file, size_t size)
{
    struct buffer form = {0};
    bool indexed;
    cr_assert_eq(transcode(&t, file, size, &form, &indexed, &err), APL_OK);
    cr_assert(indexed || form.size == 0);
    if (!indexed)
        buffer_free(&form);
    return form;
}

static bool comes_back(const uint8_t *file, size_t size)
{
    struct buffer form = form_of(file, size), back = {0};
    bool same = form.data && transcode_back(&t, form.data, form.size, size, &back, &err) == APL_OK &&
                back.size == size && memcmp(back.data, file, size) == 0;
    buffer_free(&form);
    buffer_free(&back);
    return same;
}

/* A file, and bytes behind its end. */
static uint8_t *with_tail(struct jpeg_bytes bytes, const void *tail, size_t n)
{
    uint8_t *file = malloc(bytes.size + n + 1);
    memcpy(file, bytes.data, bytes.size);
    if (n)
        memcpy(file + bytes.size, tail, n);
    free(bytes.data);
    return file;
}

static const struct {
    J_COLOR_SPACE colour;
    int across, down;
} samplings[] = {{JCS_GRAYSCALE, 1, 1}, {JCS_YCbCr, 1, 1}, {JCS_YCbCr, 2, 1},    {JCS_YCbCr, 2, 2},
                 {JCS_YCbCr, 1, 2},     {JCS_RGB, 1, 1},   {JCS_GRAYSCALE, 2, 2}};

Test(transcode, every_sampling_and_size_comes_back)
{
    static const unsigned sides[] = {1, 7, 8, 9, 16, 17, 33, 100, 255};
    for (unsigned s = 0; s < COUNT(samplings); s++)
        for (unsigned w = 0; w < COUNT(sides); w++)
            for (unsigned h = 0; h < COUNT(sides); h++) {
                struct jpeg_case k = {.width = sides[w],
                                      .height = sides[h],
                                      .colour = samplings[s].colour,
                                      .across = samplings[s].across,
                                      .down = samplings[s].down,
                                      .restart = (w + h) % 3 * 5,
                                      .quality = 30 + (int)(w * 8)};
                struct jpeg_bytes bytes = jpeg_draw(&k);
                cr_assert_eq(comes_back(bytes.data, bytes.size), sides[w] >= 8, "%u x %u, sampling %u",
                             sides[w], sides[h], s);
                free(bytes.data);
            }
}

Test(transcode, components_in_scans_of_their_own)
{
    static const jpeg_scan_info apart[] = {
        {1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
    static const jpeg_scan_info chroma_together[] = {{1, {0}, 0, 63, 0, 0}, {2, {1, 2}, 0, 63, 0, 0}};
    struct jpeg_case k = {.width = 133, .height = 71, .colour = JCS_YCbCr, .across = 2, .down = 2};
    for (unsigned restart = 0; restart < 4; restart++)
        for (int together = 0; together < 2; together++) {
            k.restart = restart;
            k.scans = together ? chroma_together : apart;
            k.scan_count = together ? 2 : 3;
            struct jpeg_bytes bytes = jpeg_draw(&k);
            cr_assert(comes_back(bytes.data, bytes.size));
            free(bytes.data);
        }
}

/* --------------------------------------------------------------------------------------------- progressive */

Test(transcode, progressive_files_come_back)
{
    static const unsigned sides[] = {8, 9, 17, 100, 255};
    for (unsigned s = 0; s < COUNT(samplings); s++)
        for (unsigned w = 0; w < COUNT(sides); w++)
            for (unsigned h = 0; h < COUNT(sides); h++) {
                struct jpeg_case k = {.width = sides[w],
                                      .height = sides[h],
                                      .colour = samplings[s].colour,
                                      .across = samplings[s].across,
                                      .down = samplings[s].down,
                                      .progressive = true,
                                      .restart = (w + h) % 3 * 5,
                                      .quality = 10 + (int)(w * 22)};
                struct jpeg_bytes bytes = jpeg_draw(&k);
                cr_assert(comes_back(bytes.data, bytes.size), "%u x %u, sampling %u", sides[w], sides[h], s);
                cr_assert(transcoder_was_progressive(&t));
                free(bytes.data);
            }
}

#define EACH_COEFFICIENT 63

Test(transcode, progressive_files_of_other_scans_come_back_if_they_are_whole)
{
    static const jpeg_scan_info several[] = {
        {1, {0}, 0, 0, 0, 3},  {2, {1, 2}, 0, 0, 0, 0}, {1, {0}, 0, 0, 3, 2},  {1, {2}, 1, 63, 0, 0},
        {1, {0}, 1, 63, 0, 2}, {1, {0}, 0, 0, 2, 1},    {1, {0}, 1, 63, 2, 1}, {1, {0}, 0, 0, 1, 0},
        {1, {1}, 1, 63, 0, 1}, {1, {0}, 1, 63, 1, 0},   {1, {1}, 1, 63, 1, 0}};
    jpeg_scan_info single[EACH_COEFFICIENT + 1] = {{1, {0}, 0, 0, 0, 0}};
    for (int i = 1; i <= EACH_COEFFICIENT; i++)
        single[i] = (jpeg_scan_info){1, {0}, i, i, 0, 0};
    struct jpeg_case k = {.width = 133, .height = 71, .colour = JCS_YCbCr, .across = 2, .down = 2};
    k.scans = several;
    for (k.scan_count = COUNT(several) - 1; k.scan_count <= (int)COUNT(several); k.scan_count++) {
        struct jpeg_bytes bytes = jpeg_draw(&k);
        cr_assert_eq(comes_back(bytes.data, bytes.size), k.scan_count == COUNT(several));
        free(bytes.data);
    }
    k = (struct jpeg_case){.width = 133, .height = 71, .colour = JCS_GRAYSCALE};
    k.scans = single;
    k.scan_count = COUNT(single);
    struct jpeg_bytes bytes = jpeg_draw(&k);
    cr_assert(comes_back(bytes.data, bytes.size));
    free(bytes.data);
}

Test(transcode, what_surrounds_the_image_comes_back)
{
    uint8_t exif[3000], tail[500];
    struct jpeg_case k = {.width = 200,
                          .height = 120,
                          .colour = JCS_YCbCr,
                          .across = 2,
                          .down = 2,
                          .app1 = exif,
                          .app1_size = sizeof exif};
    for (unsigned i = 0; i < sizeof exif; i++)
        exif[i] = (uint8_t)(i * i >> 3);
    memset(tail, 0xff, sizeof tail);
    for (size_t n = 0; n <= sizeof tail; n += 100) {
        struct jpeg_bytes bytes = jpeg_draw(&k);
        size_t size = bytes.size + n;
        uint8_t *file = with_tail(bytes, tail, n);
        cr_assert(comes_back(file, size));
        cr_assert(comes_back(file, bytes.size - 2), "without its last marker");
        free(file);
    }
}

/* Sets the bits that fill up the last byte of each restart interval; how many they are is not known, so that this may change values,
 * or end in no image: then the file must stay as it is. */
Test(transcode, bits_that_fill_up_come_back)
{
    struct jpeg_case k = {.width = 180, .height = 97, .colour = JCS_YCbCr, .across = 2, .down = 2};
    unsigned taken = 0;
    for (unsigned restart = 0; restart < 9; restart += 3)
        for (unsigned mask = 1; mask < 8; mask = mask * 2 + 1) {
            k.restart = restart;
            struct jpeg_bytes bytes = jpeg_draw(&k);
            for (size_t i = 700; i + 1 < bytes.size; i++)
                if (bytes.data[i] == 0xff && bytes.data[i + 1] >= 0xd0 && bytes.data[i + 1] <= 0xd9 &&
                    bytes.data[i - 1] != 0 && (restart < 6 || i % 2))
                    bytes.data[i - 1] &= (uint8_t)~mask;
            struct buffer form = form_of(bytes.data, bytes.size);
            taken += form.data != NULL;
            cr_assert(!form.data || comes_back(bytes.data, bytes.size));
            buffer_free(&form);
            free(bytes.data);
        }
    cr_assert_gt(taken, 0);
}

Test(transcode, other_images_stay_as_they_are)
{
    const struct jpeg_case others[] = {
        {.width = 90, .height = 60, .colour = JCS_CMYK},
        {.width = 90, .height = 60, .colour = JCS_YCCK},
        {.width = 90, .height = 60, .colour = JCS_YCbCr, .across = 4, .down = 1},
        {.width = 90, .height = 60, .colour = JCS_YCbCr, .across = 3, .down = 1},
        {.width = 90, .height = 60, .colour = JCS_YCbCr, .across = 1, .down = 3},
        {.width = 90, .height = 60, .colour = JCS_YCbCr, .across = 2, .down = 2, .without_tables = true},
    };
    for (unsigned i = 0; i < COUNT(others); i++) {
        struct jpeg_bytes bytes = jpeg_draw(&others[i]);
        cr_assert_null(form_of(bytes.data, bytes.size).data, "image %u", i);
        free(bytes.data);
    }
    cr_assert_null(form_of(NULL, 0).data);
    cr_assert_null(form_of((const uint8_t *)"\x89PNG", 4).data);
}

/* Two components of one name, in the frame and in the scan. */
Test(transcode, components_of_one_name_stay_as_they_are)
{
    static const uint8_t frame[] = {3, 1, 0x11, 0, 2, 0x11, 1, 3}, scan[] = {3, 1, 0, 2, 0x11, 3};
    struct jpeg_bytes bytes = jpeg_draw(
        &(struct jpeg_case){.width = 90, .height = 60, .colour = JCS_YCbCr, .across = 1, .down = 1});
    unsigned changed = 0;
    cr_assert(comes_back(bytes.data, bytes.size));
    for (size_t i = 0; i + sizeof frame <= bytes.size; i++) {
        if (memcmp(bytes.data + i, frame, sizeof frame) == 0)
            bytes.data[i + 4] = 1, changed++;
        if (memcmp(bytes.data + i, scan, sizeof scan) == 0)
            bytes.data[i + 3] = 1, changed++;
    }
    cr_assert_eq(changed, 2);
    cr_assert_null(form_of(bytes.data, bytes.size).data);
    free(bytes.data);
}

/* Of one component it is of no consequence, but libjpeg decodes none of which there is none, or five. */
Test(transcode, a_sampling_that_there_is_not_is_not_taken)
{
    static const uint8_t samplings_of_one[] = {0x11, 0x44, 0x10, 0x01, 0x51, 0x15};
    struct jpeg_bytes bytes =
        jpeg_draw(&(struct jpeg_case){.width = 40, .height = 30, .colour = JCS_GRAYSCALE});
    uint8_t *frame = bytes.data;
    while (frame[0] != 0xff || frame[1] != 0xc0)
        frame++;
    for (unsigned i = 0; i < COUNT(samplings_of_one); i++) {
        frame[11] = samplings_of_one[i];
        cr_assert_eq(comes_back(bytes.data, bytes.size), i < 2, "%x", samplings_of_one[i]);
    }
    free(bytes.data);
}

/* A header that says so is no reason to reserve gigabytes. */
Test(transcode, files_that_cannot_hold_their_images_take_no_memory)
{
    for (unsigned progressive = 0; progressive < 2; progressive++) {
        struct jpeg_bytes bytes = jpeg_draw(&(struct jpeg_case){.width = 16,
                                                                .height = 16,
                                                                .colour = JCS_YCbCr,
                                                                .across = 2,
                                                                .down = 2,
                                                                .progressive = progressive,
                                                                .quality = 90});
        uint8_t *frame = bytes.data;
        while (frame[0] != 0xff || frame[1] != (progressive ? 0xc2 : 0xc0))
            frame++;
        memcpy(frame + 5, "\x13\x88\x13\x88", 4); /* height and width: 5000 */
        cr_assert_null(form_of(bytes.data, bytes.size).data);
        cr_assert_eq(t.blocks.memory.size, 0);
        cr_assert_not(stream_is_sound(bytes.data, bytes.size));
        free(bytes.data);
    }
}

Test(transcode, small_images_whose_form_is_larger_stay_as_they_are)
{
    struct jpeg_case k = {
        .width = 640, .height = 480, .colour = JCS_YCbCr, .across = 1, .down = 1, .quality = 1};
    struct jpeg_bytes bytes = jpeg_draw(&k);
    struct buffer form = form_of(bytes.data, bytes.size);
    cr_assert(!form.data || form.size - form.size / 32 <= bytes.size);
    buffer_free(&form);
    free(bytes.data);
}

/* ------------------------------------------------------------------------------------------------ damage */

static struct jpeg_bytes small_image(void)
{
    struct jpeg_case k = {
        .width = 75, .height = 41, .colour = JCS_YCbCr, .across = 2, .down = 2, .restart = 3, .quality = 60};
    return jpeg_draw(&k);
}

static struct jpeg_bytes small_progressive_image(void)
{
    struct jpeg_case k = {.width = 51,
                          .height = 35,
                          .colour = JCS_YCbCr,
                          .across = 2,
                          .down = 2,
                          .progressive = true,
                          .restart = 3,
                          .quality = 60};
    return jpeg_draw(&k);
}

static void damage_file(struct jpeg_bytes bytes)
{
    for (size_t i = 0; i < bytes.size; i++)
        for (unsigned bit = 0; bit < 8; bit += 1 + i % 3) {
            bytes.data[i] ^= (uint8_t)(1u << bit);
            struct buffer form = form_of(bytes.data, bytes.size);
            cr_assert(!form.data || comes_back(bytes.data, bytes.size), "byte %zu", i);
            buffer_free(&form);
            bytes.data[i] ^= (uint8_t)(1u << bit);
        }
    for (size_t size = 0; size < bytes.size; size++) {
        uint8_t *cut = malloc(size + 1); /* so that reading on is noticed */
        memcpy(cut, bytes.data, size);
        cut = realloc(cut, size ? size : 1);
        struct buffer form = form_of(cut, size);
        cr_assert(!form.data || comes_back(cut, size), "%zu bytes", size);
        buffer_free(&form);
        free(cut);
    }
    free(bytes.data);
}

Test(transcode, no_damaged_file_comes_back_as_another)
{
    damage_file(small_image());
    damage_file(small_progressive_image());
}

/* A form that is not whole, in memory of its own size. */
static void refuses(const uint8_t *form, size_t size, const struct jpeg_bytes *file)
{
    uint8_t *copy = malloc(size ? size : 1);
    struct buffer back = {0};
    memcpy(copy, form, size);
    apl_status status = transcode_back(&t, copy, size, file->size, &back, &err);
    cr_assert(status == APL_E_CORRUPT ||
              (status == APL_OK && memcmp(back.data, file->data, file->size) == 0));
    cr_assert(status == APL_OK || back.size == 0);
    buffer_free(&back);
    free(copy);
}

static void damage_form(struct jpeg_bytes bytes)
{
    struct buffer form = form_of(bytes.data, bytes.size);
    cr_assert(form.data);
    for (size_t i = 0; i < form.size; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            form.data[i] ^= (uint8_t)(1u << bit);
            refuses(form.data, form.size, &bytes);
            form.data[i] ^= (uint8_t)(1u << bit);
        }
    for (size_t size = 0; size < form.size; size++)
        refuses(form.data, size, &bytes);
    buffer_free(&form);
    free(bytes.data);
}

Test(transcode, a_damaged_form_is_an_error)
{
    damage_form(small_image());
    damage_form(small_progressive_image());
}

Test(transcode, a_form_that_lies_about_its_size_is_an_error)
{
    static const struct {
        unsigned offset, bytes;
        uint64_t value;
    } lies[] = {{0, 1, 2},     {1, 1, 5},  {1, 1, 0},          {2, 1, 0},          {2, 1, 3},
                {3, 1, 0},     {3, 1, 33}, {4, 2, 0},          {4, 4, 0xffffffff}, {4, 2, 60000},
                {6, 2, 60000}, {8, 4, 0},  {8, 4, 0xffffffff}, {12, 1, 0},         {12, 1, 4}};
    struct jpeg_bytes bytes = small_image();
    struct buffer form = form_of(bytes.data, bytes.size), back = {0};
    for (unsigned i = 0; i < COUNT(lies); i++) {
        uint64_t was = load_le(form.data + lies[i].offset, lies[i].bytes);
        store_le(form.data + lies[i].offset, lies[i].value, lies[i].bytes);
        cr_assert_eq(transcode_back(&t, form.data, form.size, bytes.size, &back, &err), APL_E_CORRUPT,
                     "lie %u", i);
        store_le(form.data + lies[i].offset, was, lies[i].bytes);
    }
    cr_assert_eq(transcode_back(&t, form.data, form.size, bytes.size - 1, &back, &err), APL_E_CORRUPT);
    cr_assert_eq(transcode_back(&t, form.data, form.size, bytes.size + 1, &back, &err), APL_E_CORRUPT);
    cr_assert_eq(transcode_back(&t, form.data, form.size, bytes.size, &back, &err), APL_OK);
    buffer_free(&form);
    buffer_free(&back);
    free(bytes.data);
}

/* Lengths of segments that do not add up, or do with one that is too short. */
Test(transcode, lengths_of_segments_that_lie)
{
    struct jpeg_bytes bytes = small_image();
    struct buffer form = form_of(bytes.data, bytes.size);
    struct indexed x;
    cr_assert_eq(indexed_parse(form.data, form.size, &x, &err), APL_OK);
    uint8_t *lengths = form.data + (x.lengths - form.data);
    unsigned first = indexed_length(&x, 0), second = indexed_length(&x, 1),
             least = indexed_least_bytes(&x.rendering.frame, x.mcus);
    const unsigned lies[][2] = {
        {first - 1, second}, {first + 1, second}, {least - 1, first - least + 1 + second}};
    cr_assert(first > least && first + second < UINT16_MAX);
    for (unsigned i = 0; i < COUNT(lies); i++) {
        store_le(lengths, lies[i][0], 2);
        store_le(lengths + 2, lies[i][1], 2);
        cr_assert_eq(indexed_parse(form.data, form.size, &x, &err), APL_E_CORRUPT, "lie %u", i);
        cr_assert_not_null(strstr(err.message, "do not agree"), "%s", err.message);
    }
    store_le(lengths, least, 2);
    store_le(lengths + 2, first - least + second, 2);
    cr_assert_eq(indexed_parse(form.data, form.size, &x, &err), APL_OK, "that could be");
    buffer_free(&form);
    free(bytes.data);
}

/* Segments begin where the index says, with whole rows of them; each is decoded alone. */
Test(transcode, segments_lie_in_rows)
{
    struct jpeg_case k = {.width = 500, .height = 333, .colour = JCS_YCbCr, .across = 2, .down = 2};
    struct jpeg_bytes bytes = jpeg_draw(&k);
    struct buffer form = form_of(bytes.data, bytes.size);
    struct indexed x;
    size_t sum = 0;
    cr_assert_eq(indexed_parse(form.data, form.size, &x, &err), APL_OK);
    cr_assert_eq(x.rendering.frame.columns, 32);
    cr_assert_eq(x.rendering.frame.rows, 21);
    cr_assert_eq(x.mcus, 4);
    cr_assert_eq(x.segments, 8);
    for (size_t i = 0; i < (size_t)x.segments * x.rendering.frame.rows; i++)
        sum += indexed_length(&x, i);
    cr_assert_eq(sum, x.data_bytes);
    cr_assert_eq(x.data + sum, x.restoring);
    buffer_free(&form);
    free(bytes.data);
}
