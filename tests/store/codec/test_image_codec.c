/* The codec for images: there and back, the format as it is described, and bytes that are no images. */
#include "image_codec.h"

#include "bytes.h"
#include "filter.h"
#include "genuine.h"
#include "samples.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>

/* A column, coded. */
struct coded {
    struct column_spec spec;
    struct image_layout layout;
    uint8_t *raw, *bytes;
    size_t size;
};

static struct column_spec images(size_t n, int64_t c, int64_t h, int64_t w)
{
    return (struct column_spec){n, n * (size_t)(c * h * w), 1, 3, {c, h, w}};
}

static void code(struct coded *c, enum cpu_variant variant, int level)
{
    struct entropy *e = entropy_new();
    struct image_codec *p = image_codec_new(variant, e);
    cr_assert(image_layout_of(&c->spec, &c->layout));
    size_t bound = image_bound(&c->layout);
    c->bytes = malloc(bound);
    apl_error err = {0};
    cr_assert_eq(image_encode(p, level, &c->layout, c->raw, c->bytes, bound, &c->size, &err), APL_OK, "%s",
                 err.message);
    cr_assert_leq(c->size, bound);
    image_codec_free(p);
    entropy_free(e);
}

static struct coded coded_sample(struct column_spec spec, enum sample kind, enum cpu_variant variant)
{
    struct coded c = {.spec = spec, .raw = malloc(spec.raw_bytes)};
    size_t value = spec.raw_bytes / spec.records;
    for (size_t i = 0; i < spec.records; i++)
        sample_fill(c.raw + i * value, value, kind, (size_t)spec.shape[spec.ndim - 1], (uint32_t)i);
    code(&c, variant, ENTROPY_LITERALS);
    return c;
}

static void coded_free(struct coded *c)
{
    free(c->raw);
    free(c->bytes);
}

/* Decodes into memory of exactly the right sizes, so that a stray access is seen; the caller frees. */
static apl_status decode(const struct coded *c, const uint8_t *bytes, size_t size, enum cpu_variant variant,
                         uint8_t **to, apl_error *err)
{
    struct entropy *e = entropy_new();
    struct image_codec *p = image_codec_new(variant, e);
    size_t value = c->spec.raw_bytes / c->spec.records;
    uint8_t **rows = malloc(c->spec.records * sizeof *rows), *exact = malloc(size ? size : 1);
    if (size > 0)
        memcpy(exact, bytes, size);
    *to = malloc(c->spec.raw_bytes);
    for (size_t i = 0; i < c->spec.records; i++)
        rows[i] = *to + i * value;
    apl_status status = image_decode(p, &c->layout, exact, size, rows, err);
    free(exact);
    free(rows);
    image_codec_free(p);
    entropy_free(e);
    return status;
}

static void check_back(const struct coded *c, enum cpu_variant variant)
{
    uint8_t *back;
    apl_error err = {0};
    cr_assert_eq(decode(c, c->bytes, c->size, variant, &back, &err), APL_OK, "%s", err.message);
    cr_assert(memcmp(back, c->raw, c->spec.raw_bytes) == 0,
              "%s: %zu records of [%d,%d,%d] come back otherwise", cpu_variant_name(variant), c->spec.records,
              (int)c->spec.shape[0], (int)c->spec.shape[1], (int)c->spec.shape[2]);
    free(back);
}

/* ------------------------------------------------------------------------------------------- there and back
 */

static const int64_t shapes[][3] = {{1, 1, 1},   {3, 1, 1},   {3, 33, 31}, {1, 28, 28}, {2, 5, 9},
                                    {4, 16, 16}, {3, 32, 32}, {5, 3, 70},  {3, 1, 50},  {4, 50, 1}};
static const size_t counts[] = {1, 2, 31, 32, 33, 127, 128, 200, 256, 257, 300};

static void all_kinds_back(struct column_spec spec)
{
    for (int kind = 0; kind < SAMPLES; kind++) {
        struct coded plain = coded_sample(spec, (enum sample)kind, CPU_SCALAR);
        for (int v = 0; v < CPU_VARIANTS; v++) {
            if (!cpu_can((enum cpu_variant)v))
                continue;
            struct coded c = coded_sample(spec, (enum sample)kind, (enum cpu_variant)v);
            cr_assert_eq(c.size, plain.size);
            cr_assert(memcmp(c.bytes, plain.bytes, c.size) == 0, "variants code alike");
            check_back(&c, (enum cpu_variant)v);
            coded_free(&c);
        }
        coded_free(&plain);
    }
}

Test(image_codec, there_and_back_in_all_shapes)
{
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        all_kinds_back(images(33, shapes[s][0], shapes[s][1], shapes[s][2]));
}

Test(image_codec, there_and_back_in_all_counts)
{
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        all_kinds_back(images(counts[i], 3, 9, 11));
}

Test(image_codec, more_residuals_than_are_kept)
{
    all_kinds_back(images(40, 3, 190, 203));
}

Test(image_codec, a_plane_without_channels)
{
    struct column_spec spec = {40, 40 * 7 * 13, 1, 2, {7, 13}};
    all_kinds_back(spec);
}

Test(image_codec, the_most_records_that_a_block_may_have)
{
    struct coded c = coded_sample(images(IMAGE_MAX_RECORDS, 3, 2, 2), SAMPLE_NOISY, cpu_variant());
    check_back(&c, cpu_variant());
    coded_free(&c);
}

Test(image_codec, genuine_pictures_shrink_as_they_must)
{
    enum { N = 1000, BLOCK = 128 };
    uint8_t *all = malloc(N * GENUINE_BYTES);
    size_t n = genuine_pictures(all, N), raw = 0, coded = 0;
    for (size_t at = 0; at + BLOCK <= n; at += BLOCK) {
        struct coded c = {.spec = images(BLOCK, 3, 32, 32), .raw = all + at * GENUINE_BYTES};
        code(&c, cpu_variant(), ENTROPY_LITERALS);
        for (int v = 0; v < CPU_VARIANTS; v++)
            if (cpu_can((enum cpu_variant)v))
                check_back(&c, (enum cpu_variant)v);
        raw += c.spec.raw_bytes;
        coded += c.size;
        free(c.bytes);
    }
    cr_assert(n == 0 || (double)coded <= 0.5475 * (double)raw, "%zu of %zu bytes", coded, raw);
    free(all);
}

/* ------------------------------------------------------------------------------------------------ the format
 */

/* The value of one pixel's predecessor, or what the format takes for a missing one. */
static uint8_t pixel(const uint8_t *plane, size_t x, size_t y, size_t width)
{
    return plane[y * width + x];
}

static uint8_t prediction(const uint8_t *plane, size_t x, size_t y, size_t width)
{
    if (x == 0 && y == 0)
        return 128;
    if (y == 0)
        return pixel(plane, x - 1, y, width);
    if (x == 0)
        return pixel(plane, x, y - 1, width);
    int w = pixel(plane, x - 1, y, width), n = pixel(plane, x, y - 1, width);
    int nw = pixel(plane, x - 1, y - 1, width), low = w < n ? w : n, high = w < n ? n : w;
    return (uint8_t)(w + n - (nw < low ? low : nw > high ? high : nw));
}

/* Residual p of a record to its place: a decoder as one would write it from image_codec.h alone. */
static void place_plane(const struct coded *c, const uint8_t *frame, size_t ways, size_t way, uint8_t *plane,
                        const uint8_t *green)
{
    size_t width = c->layout.width, n = c->layout.plane;
    for (size_t i = 0; i < n; i++)
        plane[i] = (uint8_t)(frame[i * ways + way] + prediction(plane, i % width, i / width, width));
    for (size_t i = 0; green && i < n; i++)
        plane[i] = (uint8_t)(plane[i] + green[i] - 128);
}

Test(image_codec, a_decoder_written_from_the_description_reads_it)
{
    static const size_t order_of_three[3] = {1, 0, 2};
    struct coded c = coded_sample(images(300, 3, 6, 5), SAMPLE_NOISY, cpu_variant());
    size_t n = 300, planes = 3, groups = 10, plane = 30;
    uint8_t *back = malloc(c.spec.raw_bytes), frame[32 * 30];
    struct entropy *e = entropy_new();
    const uint8_t *at = c.bytes + planes * n * 2 + planes * groups * 4;
    for (size_t i = 0; i < planes; i++) {
        for (size_t g = 0; g < groups; g++) {
            size_t ways = g < 9 ? 32 : 12, channel = order_of_three[i];
            size_t size = load_le(c.bytes + planes * n * 2 + (i * groups + g) * 4, 4);
            cr_assert_eq(entropy_decode(e, at, size, frame, ways * plane, NULL), APL_OK);
            at += size;
            for (size_t w = 0; w < ways; w++) {
                size_t record = load_le(c.bytes + (i * n + g * 32 + w) * 2, 2);
                uint8_t *value = back + record * planes * plane;
                place_plane(&c, frame, ways, w, value + channel * plane, channel == 1 ? NULL : value + plane);
            }
        }
    }
    cr_assert_eq(at, c.bytes + c.size);
    cr_assert(memcmp(back, c.raw, c.spec.raw_bytes) == 0);
    entropy_free(e);
    free(back);
    coded_free(&c);
}

/* -------------------------------------------------------------------------------------------------- layouts
 */

static bool is_layout(size_t records, size_t raw_bytes, unsigned element_bytes, unsigned ndim, int64_t a,
                      int64_t b, int64_t c)
{
    struct column_spec spec = {records, raw_bytes, element_bytes, ndim, {a, b, c}};
    struct image_layout layout;
    return image_layout_of(&spec, &layout);
}

Test(image_codec, what_is_a_column_of_pictures)
{
    cr_assert(is_layout(1, 1, 1, 2, 1, 1, 0));
    cr_assert(is_layout(2, 24, 1, 3, 3, 2, 2));
    cr_assert_not(is_layout(0, 0, 1, 2, 1, 1, 0), "no records");
    cr_assert_not(is_layout(65537, 65537, 1, 2, 1, 1, 0), "too many records");
    cr_assert_not(is_layout(2, 25, 1, 3, 3, 2, 2), "another size");
    cr_assert_not(is_layout(2, 24, 2, 3, 3, 2, 2), "wider elements");
    cr_assert_not(is_layout(2, 24, 1, 1, 12, 0, 0), "no image");
    cr_assert_not(is_layout(1, 16, 1, 4, 2, 2, 2), "four dimensions");
    cr_assert_not(is_layout(1, 0, 1, 2, 0, 5, 0), "an empty plane");
    cr_assert_not(is_layout(1, 6, 1, 2, -2, -3, 0), "negative");
    cr_assert_not(is_layout(1, 0, 1, 3, INT64_MAX, INT64_MAX, 4), "huge");
    cr_assert_not(is_layout(1, 0, 1, 2, INT64_MAX, 2, 0), "huge");
    cr_assert_not(is_layout(1, (size_t)1 << 21, 1, 2, 1 << 20, 2, 0), "a plane beyond the limit");
}

/* ------------------------------------------------------------------------------------------------- wanted
 * rows */

Test(image_codec, only_rows_that_are_wanted_are_written)
{
    struct coded c = coded_sample(images(100, 3, 8, 8), SAMPLE_RANDOM, cpu_variant());
    size_t value = c.spec.raw_bytes / c.spec.records;
    struct entropy *e = entropy_new();
    struct image_codec *p = image_codec_new(cpu_variant(), e);
    for (size_t step = 1; step <= 128; step *= 2) {
        uint8_t *rows[100] = {NULL}, *to = calloc(1, c.spec.raw_bytes);
        for (size_t i = step / 2; i < 100; i += step)
            rows[i] = to + i * value;
        cr_assert_eq(image_decode(p, &c.layout, c.bytes, c.size, rows, NULL), APL_OK);
        for (size_t i = 0; i < 100; i++)
            for (size_t k = 0; k < value; k++)
                cr_assert_eq(to[i * value + k], rows[i] ? c.raw[i * value + k] : 0);
        free(to);
    }
    image_codec_free(p);
    entropy_free(e);
    coded_free(&c);
}

/* ------------------------------------------------------------------------------------------------ bad bytes
 */

/* Decodes what may be anything: wrong pixels are for checksums to find, all else must be refused. */
static apl_status try_bytes(const struct coded *c, const uint8_t *bytes, size_t size)
{
    uint8_t *back;
    apl_error err = {0};
    apl_status status = decode(c, bytes, size, cpu_variant(), &back, &err);
    cr_assert(status == APL_OK || status == APL_E_CORRUPT);
    cr_assert(status == APL_OK || err.message[0]);
    free(back);
    return status;
}

Test(image_codec, cut_anywhere)
{
    struct coded c = coded_sample(images(40, 3, 5, 7), SAMPLE_NOISY, CPU_SCALAR);
    for (size_t size = 0; size < c.size; size++)
        cr_assert_eq(try_bytes(&c, c.bytes, size), APL_E_CORRUPT, "cut to %zu", size);
    coded_free(&c);
}

Test(image_codec, every_bit_turned)
{
    struct coded c = coded_sample(images(35, 3, 4, 5), SAMPLE_NOISY, CPU_SCALAR);
    for (size_t bit = 0; bit < 8 * c.size; bit++) {
        c.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        apl_status status = try_bytes(&c, c.bytes, c.size);
        cr_assert(bit / 8 >= c.layout.frames || status == APL_E_CORRUPT, "bit %zu of the header", bit);
        c.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    check_back(&c, CPU_SCALAR);
    coded_free(&c);
}

Test(image_codec, random_bytes)
{
    struct coded c = coded_sample(images(35, 4, 6, 6), SAMPLE_NOISY, CPU_SCALAR);
    uint32_t state = 99;
    for (int round = 0; round < 500; round++) {
        uint8_t *bytes = malloc(c.size);
        memcpy(bytes, c.bytes, c.size);
        for (int k = 0; k < 20; k++)
            bytes[sample_random(&state) % c.size] = (uint8_t)(sample_random(&state) >> 8);
        try_bytes(&c, bytes, c.size);
        free(bytes);
    }
    coded_free(&c);
}

Test(image_codec, sizes_that_add_up_but_lie)
{
    struct coded c = coded_sample(images(64, 1, 8, 8), SAMPLE_NOISY, CPU_SCALAR);
    uint8_t *table = c.bytes + c.layout.table;
    uint32_t a = (uint32_t)load_le(table, 4), b = (uint32_t)load_le(table + 4, 4);
    store_le(table, a - 1, 4);
    store_le(table + 4, b + 1, 4);
    cr_assert_eq(try_bytes(&c, c.bytes, c.size), APL_E_CORRUPT);
    store_le(table, a + b, 4);
    store_le(table + 4, 0, 4);
    cr_assert_eq(try_bytes(&c, c.bytes, c.size), APL_E_CORRUPT);
    store_le(table, UINT32_MAX, 4);
    store_le(table + 4, a + b + 1, 4);
    cr_assert_eq(try_bytes(&c, c.bytes, c.size), APL_E_CORRUPT);
    coded_free(&c);
}

Test(image_codec, a_record_twice_in_the_order)
{
    struct coded c = coded_sample(images(300, 1, 2, 2), SAMPLE_NOISY, CPU_SCALAR);
    memcpy(c.bytes, c.bytes + 2, 2);
    cr_assert_eq(try_bytes(&c, c.bytes, c.size), APL_E_CORRUPT);
    store_le(c.bytes, 300, 2);
    cr_assert_eq(try_bytes(&c, c.bytes, c.size), APL_E_CORRUPT);
    coded_free(&c);
}

/* ----------------------------------------------------------------------------------------- bytes that change */

struct toggled {
    volatile uint8_t *byte;
    atomic_bool over;
};

static void *toggle(void *argument)
{
    struct toggled *t = argument;
    uint8_t was = *t->byte;
    while (!atomic_load_explicit(&t->over, memory_order_relaxed)) {
        *t->byte = 0xff;
        for (volatile int wait = 0; wait < 40; wait++)
            ;
        *t->byte = was;
        for (volatile int wait = 0; wait < 40; wait++)
            ;
    }
    *t->byte = was;
    return NULL;
}

#define FEW 16

/* Decodes often, while another thread changes the byte at `at`: every row that is written to must be one of the column's. */
static void decode_while_changing(struct coded *c, size_t at)
{
    struct toggled t = {.byte = c->bytes + at};
    size_t value = c->spec.raw_bytes / FEW;
    struct entropy *e = entropy_new();
    struct image_codec *p = image_codec_new(cpu_variant(), e);
    uint8_t *to = malloc(c->spec.raw_bytes), *elsewhere = calloc(1, value), *rows[256];
    pthread_t thread;
    apl_error err;
    for (size_t i = 0; i < 256; i++)
        rows[i] = i < FEW ? to + i * value : elsewhere;
    cr_assert_eq(pthread_create(&thread, NULL, toggle, &t), 0);
    for (int round = 0; round < 6000; round++) {
        apl_status status = image_decode(p, &c->layout, c->bytes, c->size, rows, &err);
        cr_assert(status == APL_OK || status == APL_E_CORRUPT);
        for (size_t i = 0; i < value; i++)
            cr_assert_eq(elsewhere[i], 0, "a row beyond the last was written to, in round %d", round);
    }
    atomic_store(&t.over, true);
    pthread_join(thread, NULL);
    free(to);
    free(elsewhere);
    image_codec_free(p);
    entropy_free(e);
}

/* The coded bytes may be those of a mapped file: what is checked of them must be what is used. */
Test(image_codec, bytes_that_change_while_they_are_decoded, .timeout = 240)
{
    struct coded c = coded_sample(images(FEW, 3, 4, 5), SAMPLE_NOISY, cpu_variant());
    decode_while_changing(&c, 5);
    decode_while_changing(&c, FEW + FEW / 2);
    decode_while_changing(&c, c.layout.table);
    decode_while_changing(&c, c.layout.table + 3);
    coded_free(&c);
}

/* -------------------------------------------------------------------------------------------- boundaries */

Test(image_codec, nothing_follows_the_last_frame)
{
    struct coded c = coded_sample(images(40, 3, 5, 7), SAMPLE_NOISY, CPU_SCALAR);
    c.bytes = realloc(c.bytes, c.size + 2);
    memset(c.bytes + c.size, 0, 2);
    cr_assert_eq(try_bytes(&c, c.bytes, c.size), APL_OK);
    cr_assert_eq(try_bytes(&c, c.bytes, c.size + 1), APL_E_CORRUPT);
    cr_assert_eq(try_bytes(&c, c.bytes, c.size + 2), APL_E_CORRUPT);
    coded_free(&c);
}

/* Numbers of up to 256 records take a byte each. */
Test(image_codec, numbers_of_records_take_one_byte_or_two)
{
    struct image_layout layout;
    struct column_spec spec = images(256, 1, 4, 4);
    cr_assert(image_layout_of(&spec, &layout));
    cr_assert_eq(layout.order_bytes, 1);
    spec = images(257, 1, 4, 4);
    cr_assert(image_layout_of(&spec, &layout));
    cr_assert_eq(layout.order_bytes, 2);
}

Test(image_codec, channels_are_limited)
{
    cr_assert(is_layout(1, IMAGE_MAX_CHANNELS, 1, 3, IMAGE_MAX_CHANNELS, 1, 1));
    cr_assert_not(is_layout(1, IMAGE_MAX_CHANNELS + 1, 1, 3, IMAGE_MAX_CHANNELS + 1, 1, 1));
}

/* Of four channels the last is coded as it is: opaque images have nothing in it, whatever their green is. */
Test(image_codec, alpha_is_not_less_green)
{
    struct coded c = {.spec = images(8, 4, 32, 32)};
    c.raw = malloc(c.spec.raw_bytes);
    for (size_t i = 0; i < 8; i++) {
        uint8_t *image = c.raw + i * 4 * 1024;
        sample_fill(image, 1024, SAMPLE_RANDOM, 32, (uint32_t)i);
        memcpy(image + 1024, image, 1024);
        memcpy(image + 2 * 1024, image, 1024);
        memset(image + 3 * 1024, 255, 1024);
    }
    code(&c, CPU_SCALAR, 3);
    cr_assert_lt(c.size, (size_t)8 * 1024 * 3 / 2, "%zu", c.size);
    check_back(&c, CPU_SCALAR);
    coded_free(&c);
}
