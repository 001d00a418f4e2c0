/* Columns of images of any size, there and back; and what is no such column. */
#include "varying_codec.h"

#include "bytes.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct varying_codec *codec;
static struct entropy *entropy;
static apl_error err;

static void start(void)
{
    entropy = entropy_new();
    codec = varying_codec_new(cpu_variant(), entropy);
    cr_assert(entropy && codec);
}

static void stop(void)
{
    varying_codec_free(codec);
    entropy_free(entropy);
}

TestSuite(varying_codec, .init = start, .fini = stop, .timeout = 60);

static const uint32_t shapes[][3] = {{3, 40, 33}, {1, 1, 1},  {4, 9, 70}, {2, 5, 5},   {3, 0, 9}, {7, 3, 4},
                                     {3, 1, 50},  {3, 50, 1}, {0, 2, 2},  {1, 64, 64}, {3, 2, 2}};

/* A column of all shapes, of which those with a fixed dimension in `spec` have that. */
static struct buffer column_of(struct column_spec *spec)
{
    struct buffer raw = {0};
    size_t bytes = 0, n = 0;
    spec->records = COUNT(shapes);
    for (size_t i = 0; i < COUNT(shapes); i++) {
        n = 1;
        for (unsigned d = 0; d < 3; d++) {
            n *= spec->shape[d] < 0 ? shapes[i][d] : (size_t)spec->shape[d];
            if (spec->shape[d] < 0)
                buffer_le(&raw, shapes[i][d], 4);
        }
        bytes += n;
    }
    for (size_t i = 0; i < bytes; i++)
        buffer_le(&raw, (i / 3 + i * i % 7 + i / 50) % 256, 1);
    spec->raw_bytes = raw.size;
    return raw;
}

static size_t encode(const struct column_spec *spec, const struct buffer *raw, int level, uint8_t **out)
{
    size_t size = 0;
    *out = malloc(varying_bound(spec));
    cr_assert(varying_suits(spec));
    cr_assert_eq(varying_encode(codec, level, spec, raw->data, *out, &size, &err), APL_OK, "%s", err.message);
    cr_assert_leq(size, varying_bound(spec));
    return size;
}

Test(varying_codec, there_and_back)
{
    static const int64_t images[][3] = {{-1, -1, -1}, {3, -1, -1}, {-1, 5, -1}, {4, 6, -1}, {5, -1, 2}};
    static const int levels[] = {ENTROPY_LITERALS, 3};
    for (size_t i = 0; i < COUNT(images) * COUNT(levels); i++) {
        struct column_spec spec = {.element_bytes = 1, .ndim = 3};
        memcpy(spec.shape, images[i / COUNT(levels)], 3 * sizeof *spec.shape);
        struct buffer raw = column_of(&spec);
        uint8_t *coded, *back = malloc(raw.size);
        size_t size = encode(&spec, &raw, levels[i % COUNT(levels)], &coded);
        cr_assert_eq(varying_decode(codec, &spec, coded, size, back, &err), APL_OK, "%s", err.message);
        cr_assert_eq(memcmp(back, raw.data, raw.size), 0, "%zu", i);
        free(coded);
        free(back);
        buffer_free(&raw);
    }
}

/* Rows are restored several at a time: of all widths and heights about that. */
Test(varying_codec, small_sizes)
{
    struct column_spec spec = {.records = 100, .element_bytes = 1, .ndim = 3, .shape = {1, -1, -1}};
    struct buffer raw = {0};
    uint8_t *coded;
    for (uint32_t i = 0; i < 100; i++) {
        buffer_le(&raw, 1 + i / 10, 4);
        buffer_le(&raw, 1 + i % 10, 4);
    }
    for (uint32_t i = 0; i < 55 * 55; i++)
        buffer_le(&raw, i * i % 251 + i / 7, 1);
    spec.raw_bytes = raw.size;
    size_t size = encode(&spec, &raw, 3, &coded);
    uint8_t *back = malloc(raw.size);
    cr_assert_eq(varying_decode(codec, &spec, coded, size, back, &err), APL_OK, "%s", err.message);
    cr_assert_eq(memcmp(back, raw.data, raw.size), 0);
    free(back);
    free(coded);
    buffer_free(&raw);
}

/* From memory of its own, so that the address sanitizer sees what is read beyond it. */
static apl_status decode_copy(const struct column_spec *spec, const uint8_t *coded, size_t size)
{
    uint8_t *copy = malloc(size + !size), *back = malloc(spec->raw_bytes);
    memcpy(copy, coded, size);
    apl_status status = varying_decode(codec, spec, copy, size, back, &err);
    cr_assert(status == APL_OK || status == APL_E_CORRUPT, "%d %s", (int)status, err.message);
    free(copy);
    free(back);
    return status;
}

Test(varying_codec, damage)
{
    struct column_spec spec = {.element_bytes = 1, .ndim = 3, .shape = {-1, -1, -1}};
    struct buffer raw = column_of(&spec);
    uint8_t *coded;
    size_t size = encode(&spec, &raw, 3, &coded);
    cr_assert_eq(decode_copy(&spec, coded, size), APL_OK);
    for (size_t cut = 0; cut < size; cut += cut < 300 ? 1 : 31)
        cr_assert_eq(decode_copy(&spec, coded, cut), APL_E_CORRUPT);
    for (size_t at = 0; at < size; at += at < 300 ? 1 : 7)
        for (unsigned bit = 0; bit < 8; bit += 3) {
            coded[at] ^= (uint8_t)(1 << bit);
            apl_status status = decode_copy(&spec, coded, size);
            cr_assert(at >= COUNT(shapes) * 12 || status == APL_E_CORRUPT || at >= 48, "byte %zu", at);
            coded[at] ^= (uint8_t)(1 << bit);
        }
    memset(coded, 0xff, COUNT(shapes) * 12);
    cr_assert_eq(decode_copy(&spec, coded, size), APL_E_CORRUPT);
    spec.raw_bytes -= 5;
    cr_assert_eq(decode_copy(&spec, raw.data, raw.size), APL_E_CORRUPT);
    free(coded);
    buffer_free(&raw);
}

Test(varying_codec, suits)
{
    struct column_spec spec = {
        .records = 2, .raw_bytes = 30, .element_bytes = 1, .ndim = 3, .shape = {-1, -1, -1}};
    cr_assert(varying_suits(&spec));
    spec.element_bytes = 2;
    cr_assert_not(varying_suits(&spec));
    spec.element_bytes = 1;
    spec.raw_bytes = 23;
    cr_assert_not(varying_suits(&spec));
    spec = (struct column_spec){
        .records = 2, .raw_bytes = 30, .element_bytes = 1, .ndim = 3, .shape = {1, 3, 5}};
    cr_assert_not(varying_suits(&spec));
}

/* Bytes of the first n of the shapes, and of the values of these. */
static size_t front_bytes(size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += 12 + (size_t)shapes[i][0] * shapes[i][1] * shapes[i][2];
    return bytes;
}

/* The first records, as a column of their own: what codecs are tried on. */
Test(varying_codec, front_of_a_column)
{
    struct column_spec spec = {.element_bytes = 1, .ndim = 3, .shape = {-1, -1, -1}}, front;
    struct buffer raw = column_of(&spec);
    for (size_t n = 1; n <= COUNT(shapes); n++)
        for (size_t more = 0; more < 2; more++) {
            cr_assert(varying_front(&spec, raw.data, front_bytes(n) + more, &front));
            cr_assert(front.records == n && front.raw_bytes == front_bytes(n), "%zu", n);
            uint8_t *copy = malloc(front.raw_bytes);
            varying_copy_front(&spec, raw.data, &front, copy);
            cr_assert_eq(memcmp(copy, raw.data, 12 * n), 0);
            cr_assert_eq(memcmp(copy + 12 * n, raw.data + 12 * COUNT(shapes), front.raw_bytes - 12 * n), 0);
            cr_assert(varying_suits(&front));
            free(copy);
        }
    cr_assert(varying_front(&spec, raw.data, 1, &front));
    cr_assert_eq(front.records, 1, "one at least");
    store_le(raw.data, 1u << 30, 4);
    cr_assert_not(varying_front(&spec, raw.data, 4096, &front));
    cr_assert(front.records == spec.records && front.raw_bytes == spec.raw_bytes);
    buffer_free(&raw);
}

/* One image of that many channels, and what its head says: after its dimensions, the sizes of its planes' frames. */
static unsigned count_frames(uint32_t channels)
{
    struct column_spec spec = {.records = 1, .element_bytes = 1, .ndim = 3, .shape = {-1, -1, -1}};
    struct buffer raw = {0};
    uint8_t *coded;
    const uint32_t dims[3] = {channels, 9, 7};
    unsigned frames = 0;
    for (unsigned d = 0; d < 3; d++)
        buffer_le(&raw, dims[d], 4);
    for (uint32_t i = 0; i < channels * 9 * 7; i++)
        buffer_le(&raw, i * i % 11, 1);
    spec.raw_bytes = raw.size;
    size_t size = encode(&spec, &raw, 3, &coded), all = 12;
    for (; all < size && frames < channels; frames++)
        all += 4 + (size_t)load_le(coded + 12 + 4 * (size_t)frames, 4);
    cr_assert_eq(all, size);
    buffer_free(&raw);
    free(coded);
    return frames;
}

Test(varying_codec, up_to_four_channels_are_planes)
{
    for (uint32_t channels = 1; channels <= 4; channels++)
        cr_assert_eq(count_frames(channels), channels);
    cr_assert_eq(count_frames(5), 1, "else all of it is one");
}

/* Frames that are not there, or too many bytes, where the sizes that are said add up. */
Test(varying_codec, frames_that_do_not_fit)
{
    struct column_spec spec = {.element_bytes = 1, .ndim = 3, .shape = {-1, -1, -1}};
    struct buffer raw = column_of(&spec);
    uint8_t *coded;
    size_t size = encode(&spec, &raw, 3, &coded), head = COUNT(shapes) * 12, planes = 0;
    for (size_t i = 0; i < COUNT(shapes); i++)
        planes += shapes[i][0] * shapes[i][1] * shapes[i][2] > 0 && shapes[i][0] <= 4 ? shapes[i][0] : 1;
    coded = realloc(coded, size + 1);
    coded[size] = 0;
    cr_assert_eq(decode_copy(&spec, coded, size), APL_OK);
    cr_assert_eq(decode_copy(&spec, coded, size + 1), APL_E_CORRUPT);
    cr_assert_eq(decode_copy(&spec, coded, head + 4 * planes - 1), APL_E_CORRUPT);
    cr_assert_not_null(strstr(err.message, "impossible dimensions"), "%s", err.message);
    size_t first = (size_t)load_le(coded + head, 4), frames = head + 4 * planes;
    memmove(coded + frames, coded + frames + first, size - frames - first);
    store_le(coded + head, 0, 4);
    cr_assert_eq(decode_copy(&spec, coded, size - first), APL_E_CORRUPT);
    cr_assert_not_null(strstr(err.message, "image 0: plane 0: a frame of 0 bytes"), "%s", err.message);
    free(coded);
    buffer_free(&raw);
}
