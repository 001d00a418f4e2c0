/* All codecs: there and back, falling back, choosing, bad bytes. */
#include "codec.h"
#include "entropy.h"
#include "genuine.h"
#include "samples.h"

#include <criterion/criterion.h>

static struct coder *coder;

static void start(void)
{
    coder = coder_new();
    cr_assert_not_null(coder);
}

static void stop(void)
{
    coder_free(coder);
}

TestSuite(codec, .init = start, .fini = stop);

static struct column_spec column(size_t records, unsigned element_bytes, unsigned ndim, int64_t a, int64_t b,
                                 int64_t c)
{
    struct column_spec spec = {records, records * element_bytes, element_bytes, ndim, {a, b, c}};
    for (unsigned d = 0; d < ndim; d++)
        spec.raw_bytes *= (size_t)spec.shape[d];
    return spec;
}

static uint8_t *sample(const struct column_spec *spec, enum sample kind)
{
    uint8_t *raw = malloc(spec->raw_bytes + 1);
    sample_fill(raw, spec->raw_bytes, kind, 16, 5);
    return raw;
}

/* Decodes from and to memory of exactly the right size. */
static apl_status decode(enum codec_id id, const struct column_spec *spec, const uint8_t *coded, size_t size,
                         uint8_t **raw, apl_error *err)
{
    uint8_t *exact = malloc(size ? size : 1);
    if (size > 0)
        memcpy(exact, coded, size);
    *raw = malloc(spec->raw_bytes ? spec->raw_bytes : 1);
    apl_status status = codec_decode(coder, id, spec, exact, size, *raw, err);
    free(exact);
    return status;
}

static void check_rows(enum codec_id id, const struct column_spec *spec, const uint8_t *coded, size_t size,
                       const uint8_t *raw)
{
    size_t value = spec->raw_bytes / spec->records;
    uint8_t **rows = calloc(spec->records, sizeof *rows), *to = malloc(spec->raw_bytes + 1);
    memset(to, 0xee, spec->raw_bytes + 1);
    for (size_t i = 0; i < spec->records; i++)
        rows[i] = i % 3 ? to + (spec->records - 1 - i) * value : NULL;
    cr_assert_eq(codec_decode_rows(coder, id, spec, coded, size, rows, NULL), APL_OK);
    for (size_t i = 0; i < spec->records; i++)
        for (size_t k = 0; k < value; k++)
            cr_assert_eq(to[(spec->records - 1 - i) * value + k], i % 3 ? raw[i * value + k] : 0xee);
    free(rows);
    free(to);
}

static void there_and_back(struct codec_choice choice, const struct column_spec *spec, enum sample kind)
{
    uint8_t *raw = sample(spec, kind), *coded = malloc(codec_bound(spec)), *back;
    size_t size = 0;
    enum codec_id used = CODEC_COUNT;
    apl_error err = {0};
    cr_assert_eq(codec_encode(coder, choice, spec, raw, coded, &size, &used, &err), APL_OK, "%s",
                 err.message);
    cr_assert(used == choice.id || used == CODEC_RAW);
    cr_assert_leq(size, spec->raw_bytes, "no column grows");
    cr_assert_eq(decode(used, spec, coded, size, &back, &err), APL_OK, "%s", err.message);
    cr_assert(memcmp(back, raw, spec->raw_bytes) == 0, "%s, kind %d", codec_name(choice.id), kind);
    check_rows(used, spec, coded, size, raw);
    free(raw);
    free(coded);
    free(back);
}

/* ------------------------------------------------------------------------------------------- there and back
 */

Test(codec, all_codecs_all_elements_all_kinds)
{
    static const size_t counts[] = {1, 31, 32, 33, 127, 200};
    for (int id = 0; id < CODEC_COUNT; id++) {
        for (unsigned bytes = 1; bytes <= 8; bytes *= 2) {
            for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
                struct column_spec scalars = column(counts[i], bytes, 0, 0, 0, 0);
                struct column_spec cubes = column(counts[i], bytes, 3, 3, 5, 7);
                for (int kind = 0; kind < SAMPLES; kind++) {
                    there_and_back((struct codec_choice){(uint8_t)id, 3}, &scalars, (enum sample)kind);
                    there_and_back((struct codec_choice){(uint8_t)id, -128}, &cubes, (enum sample)kind);
                }
            }
        }
    }
}

Test(codec, values_of_varying_shape)
{
    struct column_spec spec = {20, 777, 1, 1, {-1}};
    uint8_t *raw = sample(&spec, SAMPLE_GRADIENT), *coded = malloc(codec_bound(&spec)), *back;
    size_t size = 0;
    enum codec_id used;
    cr_assert_eq(
        codec_encode(coder, (struct codec_choice){CODEC_ZSTD, 3}, &spec, raw, coded, &size, &used, NULL),
        APL_OK);
    cr_assert_eq(used, CODEC_ZSTD);
    cr_assert_eq(decode(used, &spec, coded, size, &back, NULL), APL_OK);
    cr_assert(memcmp(back, raw, 777) == 0);
    free(raw);
    free(coded);
    free(back);
}

Test(codec, nothing_at_all)
{
    for (int id = 0; id < CODEC_COUNT; id++) {
        struct column_spec none = {4, 0, 1, 1, {-1}};
        uint8_t out[64], back[1];
        size_t size = 99;
        enum codec_id used;
        struct codec_choice choice = {(uint8_t)id, 3};
        cr_assert_eq(codec_encode(coder, choice, &none, NULL, out, &size, &used, NULL), APL_OK);
        cr_assert_eq(used, CODEC_RAW);
        cr_assert_eq(size, 0);
        cr_assert_eq(codec_decode(coder, used, &none, out, 0, back, NULL), APL_OK);
    }
}

/* ------------------------------------------------------------------------------------------------ names */

Test(codec, names)
{
    for (unsigned id = 0; id < CODEC_COUNT; id++)
        cr_assert_eq(codec_by_name(codec_name(id)), (int)id);
    cr_assert_eq(codec_by_name("lzma"), -1);
    cr_assert_eq(codec_by_name(""), -1);
    cr_assert_null(codec_name(CODEC_COUNT));
    cr_assert_eq(codec_by_name("picture"), CODEC_PICTURE);
}

Test(codec, what_suits)
{
    struct column_spec labels = column(128, 1, 0, 0, 0, 0), wide = column(128, 8, 0, 0, 0, 0);
    struct column_spec images = column(128, 1, 3, 3, 32, 32), text = {20, 777, 1, 1, {-1}};
    struct column_spec odd = {3, 7, 2, 1, {2}}, strange = {3, 9, 3, 0, {0}};
    cr_assert(codec_suits(CODEC_RAW, &text) && codec_suits(CODEC_ZSTD, &text));
    cr_assert(!codec_suits(CODEC_SHUFFLE, &text) && !codec_suits(CODEC_DELTA, &text));
    cr_assert(!codec_suits(CODEC_SHUFFLE, &labels) && codec_suits(CODEC_DELTA, &labels));
    cr_assert(codec_suits(CODEC_SHUFFLE, &wide) && !codec_suits(CODEC_PICTURE, &wide));
    cr_assert(codec_suits(CODEC_PICTURE, &images));
    cr_assert(!codec_suits(CODEC_SHUFFLE, &odd) && !codec_suits(CODEC_DELTA, &strange));
    cr_assert_not(codec_suits((enum codec_id)CODEC_COUNT, &images));
}

Test(codec, bounds_hold_the_raw_bytes)
{
    struct column_spec images = column(300, 1, 3, 3, 32, 32), one = column(1, 1, 3, 3, 1000, 1000);
    cr_assert_geq(codec_bound(&images), images.raw_bytes);
    cr_assert_lt(codec_bound(&one), one.raw_bytes + one.raw_bytes / 50);
}

/* ------------------------------------------------------------------------------------------------ choosing
 */

static struct codec_choice choose(const struct column_spec *spec, const uint8_t *raw, int id, int level)
{
    struct codec_choice choice = {CODEC_COUNT, 0};
    apl_error err = {0};
    cr_assert_eq(codec_choose(coder, spec, raw, id, level, &choice, &err), APL_OK, "%s", err.message);
    return choice;
}

Test(codec, bytes_without_pattern_stay_as_they_are)
{
    struct column_spec spec = column(100, 1, 1, 100, 0, 0);
    uint8_t *raw = sample(&spec, SAMPLE_RANDOM);
    cr_assert_eq(choose(&spec, raw, -1, 0).id, CODEC_RAW);
    free(raw);
}

Test(codec, numbers_that_climb_are_taken_by_differences)
{
    struct column_spec spec = column(1000, 8, 0, 0, 0, 0);
    uint8_t raw[8000];
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t v = 1000000007 * i;
        for (unsigned b = 0; b < 8; b++)
            raw[8 * i + b] = (uint8_t)(v >> 8 * b);
    }
    cr_assert_eq(choose(&spec, raw, -1, 0).id, CODEC_DELTA);
}

Test(codec, what_is_asked_for_is_what_is_chosen)
{
    struct column_spec spec = column(64, 1, 3, 3, 16, 16), labels = column(64, 1, 0, 0, 0, 0);
    uint8_t *raw = sample(&spec, SAMPLE_NOISY);
    for (int id = 0; id < CODEC_COUNT; id++)
        if (codec_suits((enum codec_id)id, &spec))
            cr_assert_eq(choose(&spec, raw, id, 0).id, id);
    struct codec_choice both = choose(&spec, raw, CODEC_PICTURE, 7), level = choose(&spec, raw, -1, 5);
    cr_assert(both.id == CODEC_PICTURE && both.level == 7);
    cr_assert(level.id == CODEC_RAW || level.level == 5);
    cr_assert_neq(choose(&labels, raw, CODEC_PICTURE, 0).id, CODEC_PICTURE,
                  "what does not suit is not taken");
    struct codec_choice none;
    cr_assert_eq(codec_choose(coder, &spec, raw, CODEC_COUNT, 0, &none, NULL), APL_E_INVALID);
    cr_assert_eq(codec_choose(coder, &spec, raw, -1, 1000, &none, NULL), APL_E_INVALID);
    free(raw);
}

Test(codec, a_large_column_is_judged_by_its_beginning)
{
    struct column_spec spec = column(2100, 1, 3, 3, 32, 32);
    uint8_t *raw = sample(&spec, SAMPLE_NOISY);
    struct codec_choice whole = choose(&spec, raw, -1, 0);
    sample_fill(raw + (5u << 20), 1u << 20, SAMPLE_RANDOM, 1, 1);
    struct codec_choice changed = choose(&spec, raw, -1, 0);
    cr_assert(whole.id == changed.id && whole.level == changed.level);
    free(raw);
}

Test(codec, genuine_pictures_are_coded_as_pictures)
{
    struct column_spec spec = column(128, 1, 3, 3, 32, 32);
    uint8_t *raw = malloc(spec.raw_bytes);
    if (genuine_pictures(raw, 128) == 128) {
        struct codec_choice choice = choose(&spec, raw, -1, 0);
        cr_assert_eq(choice.id, CODEC_PICTURE);
        cr_assert_eq(choice.level, ENTROPY_LITERALS);
    }
    free(raw);
}

/* Strokes on black, as of handwritten digits. */
static void draw_strokes(uint8_t *raw, const struct column_spec *spec)
{
    uint32_t noise = 1;
    memset(raw, 0, spec->raw_bytes);
    for (size_t i = 0; i < spec->records; i++)
        for (size_t y = 4, x = 8 + i % 7; y < 24; y++) {
            for (size_t k = 0; k < 4; k++, noise = noise * 1664525u + 1013904223u)
                raw[i * 784 + y * 28 + x + k] = (uint8_t)(noise >> 24 | 128);
            x += noise >> 30 & 1;
        }
}

Test(codec, where_most_is_zero_no_more_than_runs_are_looked_for)
{
    struct column_spec spec = column(128, 1, 2, 28, 28, 0);
    uint8_t *raw = malloc(spec.raw_bytes);
    draw_strokes(raw, &spec);
    struct codec_choice choice = choose(&spec, raw, -1, 0), asked = choose(&spec, raw, CODEC_ZSTD, 9);
    cr_assert_eq(choice.id, CODEC_ZSTD);
    cr_assert_eq(choice.level, ENTROPY_FAST);
    cr_assert(asked.id == CODEC_ZSTD && asked.level == 9);
    free(raw);
}

/* Blurred strokes of a few shapes, which repeat from image to image, in greys with a little noise. */
static void draw_greys(uint8_t *raw, const struct column_spec *spec)
{
    uint32_t noise = 7;
    memset(raw, 0, spec->raw_bytes);
    for (size_t i = 0; i < spec->records; i++)
        for (size_t y = 0; y < 20; y++)
            for (size_t x = 0; x < 20; x++) {
                size_t shape = i * 7 % 10, d = (x * (shape + 3) + y * (13 - shape)) % 23;
                noise = noise * 1664525u + 1013904223u;
                if (d < 9)
                    raw[i * 784 + (y + 4) * 28 + x + 4] = (uint8_t)(255 - 28 * d + (noise >> 28));
            }
}

Test(codec, where_the_usual_level_saves_little_the_quick_one_is_taken)
{
    struct column_spec spec = column(128, 1, 2, 28, 28, 0);
    uint8_t *raw = malloc(spec.raw_bytes);
    draw_greys(raw, &spec);
    struct codec_choice choice = choose(&spec, raw, CODEC_ZSTD, 0), asked = choose(&spec, raw, CODEC_ZSTD, 9);
    cr_assert_eq(choice.level, ENTROPY_QUICK, "%d", choice.level);
    cr_assert_eq(asked.level, 9);
    free(raw);
}

/* ------------------------------------------------------------------------------------------------ same bytes
 */

Test(codec, the_same_bytes_whatever_came_before)
{
    struct column_spec spec = column(77, 2, 3, 1, 9, 9), images = column(77, 1, 3, 3, 9, 9);
    uint8_t *raw = sample(&spec, SAMPLE_NOISY), *a = malloc(codec_bound(&images)),
            *b = malloc(codec_bound(&images));
    for (int id = 0; id < CODEC_COUNT; id++) {
        struct codec_choice choice = {(uint8_t)id, id == CODEC_PICTURE ? ENTROPY_LITERALS : 3};
        const struct column_spec *s = id == CODEC_PICTURE ? &images : &spec;
        uint8_t *mine = sample(s, SAMPLE_NOISY);
        size_t m, n;
        enum codec_id used;
        struct coder *fresh = coder_new();
        cr_assert_eq(codec_encode(fresh, choice, s, mine, a, &m, &used, NULL), APL_OK);
        cr_assert_eq(codec_encode(coder, choice, s, mine, b, &n, &used, NULL), APL_OK);
        cr_assert_eq(m, n);
        cr_assert(memcmp(a, b, m) == 0);
        coder_free(fresh);
        free(mine);
    }
    free(raw);
    free(a);
    free(b);
}

/* ------------------------------------------------------------------------------------------------ bad bytes
 */

static void bad_bytes(enum codec_id id, const struct column_spec *spec)
{
    uint8_t *raw = sample(spec, SAMPLE_NOISY), *coded = malloc(codec_bound(spec)), *back;
    size_t size = 0;
    enum codec_id used;
    struct codec_choice choice = {(uint8_t)id, 3};
    cr_assert_eq(codec_encode(coder, choice, spec, raw, coded, &size, &used, NULL), APL_OK);
    cr_assert_eq(used, id);
    for (size_t cut = 0; cut < size; cut++) {
        cr_assert_eq(decode(id, spec, coded, cut, &back, NULL), APL_E_CORRUPT);
        free(back);
    }
    for (size_t i = 0; i < size; i++) {
        coded[i] ^= 0x55;
        apl_status status = decode(id, spec, coded, size, &back, NULL);
        cr_assert(status == APL_OK || status == APL_E_CORRUPT);
        coded[i] ^= 0x55;
        free(back);
    }
    cr_assert_eq(decode(id, spec, coded, size, &back, NULL), APL_OK);
    cr_assert(memcmp(back, raw, spec->raw_bytes) == 0, "the coder works on after failures");
    free(back);
    free(raw);
    free(coded);
}

Test(codec, bytes_that_are_no_column)
{
    struct column_spec spec = column(40, 2, 1, 20, 0, 0), images = column(40, 1, 3, 3, 8, 8);
    bad_bytes(CODEC_RAW, &spec);
    bad_bytes(CODEC_ZSTD, &spec);
    bad_bytes(CODEC_SHUFFLE, &spec);
    bad_bytes(CODEC_DELTA, &spec);
    bad_bytes(CODEC_PICTURE, &images);
}

Test(codec, codecs_that_cannot_be)
{
    struct column_spec labels = column(8, 1, 0, 0, 0, 0), text = {8, 30, 1, 1, {-1}},
                       none = {0, 0, 1, 2, {1, 1}};
    uint8_t bytes[64] = {0}, *rows[8] = {NULL};
    apl_error err = {0};
    size_t size;
    enum codec_id used;
    cr_assert_eq(codec_decode(coder, CODEC_PICTURE, &labels, bytes, 8, bytes, &err), APL_E_CORRUPT);
    cr_assert_eq(codec_decode(coder, CODEC_DELTA, &text, bytes, 30, bytes, &err), APL_E_CORRUPT);
    cr_assert_eq(codec_decode(coder, (enum codec_id)77, &labels, bytes, 8, bytes, &err), APL_E_CORRUPT);
    cr_assert_eq(codec_decode_rows(coder, (enum codec_id)77, &labels, bytes, 8, rows, &err), APL_E_CORRUPT);
    cr_assert_eq(codec_decode_rows(coder, CODEC_PICTURE, &labels, bytes, 8, rows, &err), APL_E_CORRUPT);
    cr_assert_eq(codec_decode_rows(coder, CODEC_RAW, &labels, bytes, 7, rows, &err), APL_E_CORRUPT);
    cr_assert_eq(codec_decode_rows(coder, CODEC_RAW, &text, bytes, 30, rows, &err), APL_E_INVALID);
    cr_assert_eq(codec_decode(coder, CODEC_PICTURE, &none, bytes, 0, bytes, &err), APL_E_CORRUPT);
    cr_assert_eq(codec_encode(coder, (struct codec_choice){77, 0}, &labels, bytes, bytes, &size, &used, &err),
                 APL_E_INVALID);
    coder_free(NULL);
}

/* Two images of any size; of noise, they are kept as they are. */
Test(codec, images_whose_dimensions_lie_apart_are_coded_alike)
{
    const struct codec_choice choice = {CODEC_VARYING, 3};
    for (unsigned noise = 0; noise < 2; noise++) {
        uint8_t joined[24 + 3 * 40 * 50 + 7 * 9], coded[2][16384];
        static const uint32_t dims[] = {3, 40, 50, 1, 7, 9};
        struct column_spec spec = {2, sizeof joined, 1, 3, {-1, -1, -1}};
        enum codec_id used[2];
        size_t size[2];
        sample_fill(joined, sizeof joined, noise ? SAMPLE_RANDOM : SAMPLE_GRADIENT, 16, 5);
        memcpy(joined, dims, sizeof dims);
        cr_assert_leq(codec_bound(&spec), sizeof coded[0]);
        cr_assert_eq(codec_encode(coder, choice, &spec, joined, coded[0], &size[0], &used[0], NULL), APL_OK);
        uint8_t *values = malloc(sizeof joined - sizeof dims);
        memcpy(values, joined + sizeof dims, sizeof joined - sizeof dims);
        memset(joined + sizeof dims, 0, sizeof joined - sizeof dims);
        cr_assert_eq(
            codec_encode_apart(coder, choice, &spec, joined, values, coded[1], &size[1], &used[1], NULL),
            APL_OK);
        cr_assert(used[0] == (noise ? CODEC_RAW : CODEC_VARYING) && used[1] == used[0]);
        cr_assert(size[0] == size[1] && memcmp(coded[0], coded[1], size[0]) == 0);
        free(values);
    }
}

/* What the coding does not make smaller is kept as it is, also where it comes to the same size. */
Test(codec, what_does_not_shrink_stays_raw)
{
    unsigned equal = 0;
    struct entropy *e = entropy_new();
    for (size_t n = 32; n < 160; n += 8)
        for (size_t zeros = 0; zeros < n; zeros++) {
            struct column_spec spec = column(n, 1, 0, 0, 0, 0);
            uint8_t *raw = sample(&spec, SAMPLE_RANDOM), coded[1024];
            size_t size = 0;
            enum codec_id used;
            memset(raw, 0, zeros);
            cr_assert_eq(entropy_encode(e, 3, raw, n, coded, sizeof coded, &size, NULL), APL_OK);
            bool same = size == n;
            cr_assert_eq(codec_encode(coder, (struct codec_choice){CODEC_ZSTD, 3}, &spec, raw, coded, &size,
                                      &used, NULL),
                         APL_OK);
            cr_assert(!same || used == CODEC_RAW);
            equal += same;
            free(raw);
        }
    entropy_free(e);
    cr_assert_gt(equal, 0);
}

Test(codec, raw_bytes_are_as_many_as_they_are)
{
    struct column_spec spec = column(10, 1, 0, 0, 0, 0);
    uint8_t bytes[11] = {0}, *back;
    apl_error err = {0};
    for (size_t size = 9; size <= 11; size++) {
        cr_assert_eq(decode(CODEC_RAW, &spec, bytes, size, &back, &err), size == 10 ? APL_OK : APL_E_CORRUPT);
        free(back);
    }
}
