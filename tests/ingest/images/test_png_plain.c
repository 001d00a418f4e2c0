/* PNG decoded without libpng: filters by pixels as by bytes; files as libpng has them; and what is left to it. */
#include "decode.h"
#include "png_filters.h"
#include "png_plain.h"

#include <criterion/criterion.h>
#include <zlib.h>

TestSuite(png_plain, .timeout = 60);

#define WIDTH    37u
#define HEIGHT   23u
#define ROW      (1 + 4 * WIDTH)
#define FILE_MAX 16384

static unsigned random_byte(void)
{
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    return state >> 24;
}

Test(png_plain, filters_by_pixels_are_those_by_bytes)
{
    cr_assert_eq(compare_png_filters(), 0);
}

Test(png_plain, filters_that_there_are_not_are_refused)
{
    enum { N = 64, ROWS = 6 };
    uint8_t above[N + PNG_FILTER_SLACK] = {0}, rows[ROWS * (1 + N) + PNG_FILTER_SLACK];
    for (size_t r = 0; r < ROWS; r++) {
        memset(rows, 4, sizeof rows);
        rows[r * (1 + N)] = 5;
        cr_assert(!png_unfilter(rows, ROWS, above, N, 4));
        cr_assert(!png_unfilter_scalar(rows, ROWS, above, N, 4));
    }
}

/* ------------------------------------------------------------------------------------------------- files */

static uint8_t file[FILE_MAX];
static size_t size;
static apl_error err;

static void put(const void *bytes, size_t n)
{
    cr_assert_leq(n, FILE_MAX - size);
    if (n)
        memcpy(file + size, bytes, n);
    size += n;
}

static void put_u32(uint32_t value)
{
    put((const uint8_t[]){(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                          (uint8_t)value},
        4);
}

static void put_chunk(const char *kind, const void *data, size_t n)
{
    put_u32((uint32_t)n);
    size_t begin = size;
    put(kind, 4);
    put(data, n);
    put_u32((uint32_t)crc32(0, file + begin, (uInt)(n + 4)));
}

/* How a file is made: the parts that its image data comes in, and what is wrong with it. */
struct making {
    unsigned channels, parts, filters;
    bool text_behind, bad_sum, short_rows, long_rows, trailing;
};

static void make(const struct making *how)
{
    static const uint8_t types[] = {0, 0, 4, 2, 6};
    uint8_t rows[HEIGHT * ROW + 1], packed[FILE_MAX], header[13] = {0, 0, 0, WIDTH, 0, 0, 0, HEIGHT, 8};
    size_t n = HEIGHT * (1 + how->channels * WIDTH), part;
    uLongf length = sizeof packed - 1;
    for (size_t i = 0; i < sizeof rows; i++)
        rows[i] = (uint8_t)(i % (1 + how->channels * WIDTH) ? random_byte() : random_byte() % how->filters);
    cr_assert_eq(compress(packed, &length, rows, n - how->short_rows + how->long_rows), Z_OK);
    packed[length - 1] ^= how->bad_sum;
    length += how->trailing;
    size = 0;
    header[9] = types[how->channels];
    put("\x89PNG\r\n\x1a\n", 8);
    put_chunk("IHDR", header, sizeof header);
    put_chunk("tEXt", "a\0b", 3);
    part = length / how->parts;
    for (unsigned i = 0; i < how->parts; i++)
        put_chunk("IDAT", packed + i * part, i + 1 < how->parts ? part : length - i * part);
    if (how->text_behind)
        put_chunk("tEXt", "c\0d", 3);
    put_chunk("IEND", NULL, 0);
}

static bool read_plain(unsigned channels, struct raster *s)
{
    const struct image_info info = {.width = WIDTH, .height = HEIGHT, .channels = channels, .bits = 8};
    cr_assert_eq(raster_begin(s, &info, &err), APL_OK);
    return png_plain_read(file, size, s);
}

static bool taken(const struct making *how)
{
    struct raster s = {.data = NULL};
    make(how);
    bool is = read_plain(how->channels, &s);
    scratch_free(&s.work);
    raster_free(&s);
    return is;
}

/* A chunk behind the image data leaves a file to the library: it must find the same samples. */
Test(png_plain, samples_are_those_of_the_library)
{
#ifndef HAVE_ISAL
    cr_skip("needs ISA-L");
#endif
    struct image_decoder *library = image_decoder_new();
    struct raster s = {.data = NULL}, same = {.data = NULL};
    struct image_info info;
    for (unsigned round = 0; round < 60; round++) {
        struct making how = {.channels = 1 + round % 4, .parts = 1 + round % 3, .filters = 5};
        make(&how);
        cr_assert(read_plain(how.channels, &s));
        size -= 12;
        put_chunk("tEXt", "c\0d", 3);
        put_chunk("IEND", NULL, 0);
        cr_assert(!read_plain(how.channels, &same));
        cr_assert_eq(image_decoder_read(library, file, size, &info, &same, &err), APL_OK, "%s", err.message);
        cr_assert_arr_eq(s.data, same.data, (size_t)WIDTH * HEIGHT * how.channels);
    }
    scratch_free(&s.work);
    raster_free(&s);
    raster_free(&same);
    image_decoder_free(library);
}

Test(png_plain, what_is_not_right_to_the_last_byte_is_left_to_the_library)
{
#ifdef HAVE_ISAL
    cr_assert(taken(&(struct making){.channels = 3, .parts = 2, .filters = 5}));
#endif
    cr_assert(!taken(&(struct making){.channels = 3, .parts = 2, .filters = 6}));
    cr_assert(!taken(&(struct making){.channels = 3, .parts = 2, .filters = 5, .text_behind = true}));
    cr_assert(!taken(&(struct making){.channels = 3, .parts = 2, .filters = 5, .bad_sum = true}));
    cr_assert(!taken(&(struct making){.channels = 3, .parts = 2, .filters = 5, .short_rows = true}));
    cr_assert(!taken(&(struct making){.channels = 3, .parts = 2, .filters = 5, .long_rows = true}));
    cr_assert(!taken(&(struct making){.channels = 3, .parts = 1, .filters = 5, .trailing = true}));
}

/* Of image data and what follows it: no byte may change unnoticed, none be missing. */
Test(png_plain, no_damage_is_accepted)
{
    struct raster s = {.data = NULL};
    make(&(struct making){.channels = 1, .parts = 3, .filters = 5});
    const size_t whole = size, data = 8 + 25 + 15;
    for (size_t i = data; i < whole; i++) {
        file[i] ^= (uint8_t)(1u << i % 8);
        cr_assert(!read_plain(1, &s), "byte %zu", i);
        file[i] ^= (uint8_t)(1u << i % 8);
    }
    for (size = data; size < whole; size++)
        cr_assert(!read_plain(1, &s), "%zu bytes", size);
    scratch_free(&s.work);
    raster_free(&s);
}
