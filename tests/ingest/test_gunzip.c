/* Both inflaters: the same bytes, and the same answers to damage. */
#include "archives.h"
#include "counts.h"
#include "gunzip.h"

static const struct gunzip_kind *kinds[] = {
    &gunzip_zlib,
#ifdef HAVE_ISAL
    &gunzip_isal,
#endif
};
#define KINDS (sizeof kinds / sizeof *kinds)

/* Inflates in portions; the output into *out. */
static apl_status inflate_by(const struct gunzip_kind *kind, const uint8_t *in, size_t size, size_t in_step,
                             size_t out_step, struct buffer *out, apl_error *err)
{
    struct gunzip *g = gunzip_open(kind);
    cr_assert_not_null(g);
    uint8_t *room = malloc(out_step);
    apl_status status = APL_OK;
    struct gunzip_io io = {0};
    out->size = 0;
    for (bool over = false; !over;) {
        if (io.in_left == 0) {
            io.in = in;
            io.in_left = size < in_step ? size : in_step;
            in += io.in_left;
            size -= io.in_left;
        }
        bool ended = io.in_left == 0;
        io.out = room;
        io.out_left = out_step;
        status = gunzip_run(g, &io, "x.gz", err);
        if (status == APL_OK)
            buffer_put(out, room, out_step - io.out_left);
        over = status != APL_OK || (ended && io.out_left > 0);
    }
    if (status == APL_OK)
        status = gunzip_finish(g, "x.gz", err);
    free(room);
    gunzip_close(g);
    return status;
}

static apl_status inflate_all(const struct gunzip_kind *kind, const struct buffer *in, struct buffer *out,
                              apl_error *err)
{
    return inflate_by(kind, in->data, in->size, 1 << 20, 1 << 16, out, err);
}

static void expect_each(const struct buffer *in, apl_status status, const char *words)
{
    for (size_t k = 0; k < KINDS; k++) {
        struct buffer out = {0};
        apl_error err = {0};
        apl_status got = inflate_all(kinds[k], in, &out, &err);
        cr_assert_eq(got, status, "%s: %d %s", kinds[k]->name, (int)got, err.message);
        cr_assert(contains(err.message, words), "%s: %s", kinds[k]->name, err.message);
        buffer_free(&out);
    }
}

static void expect_same(const struct buffer *in, const struct buffer *want, size_t in_step, size_t out_step)
{
    for (size_t k = 0; k < KINDS; k++) {
        struct buffer out = {0};
        apl_error err = {0};
        apl_status status = inflate_by(kinds[k], in->data, in->size, in_step, out_step, &out, &err);
        cr_assert_eq(status, APL_OK, "%s, %zu by %zu: %s", kinds[k]->name, in_step, out_step, err.message);
        same_bytes(&out, want->data, want->size);
        buffer_free(&out);
    }
}

Test(gunzip, portions_of_any_size)
{
    static const size_t steps[] = {1, 2, 3, 7, 64, 4096, 1 << 20};
    for (uint32_t seed = 0; seed < 2; seed++) {
        struct buffer want = content(seed, 40000), in = gzip_of(&want);
        for (size_t i = 0; i < 7; i++)
            for (size_t o = i % sweep_step(); o < 7; o += sweep_step())
                expect_same(&in, &want, steps[i], steps[o]);
        buffer_free(&want);
        buffer_free(&in);
    }
}

Test(gunzip, every_kind_of_block)
{
    static const struct {
        int level, strategy;
    } how[] = {{0, Z_DEFAULT_STRATEGY}, {1, Z_DEFAULT_STRATEGY},
               {9, Z_DEFAULT_STRATEGY}, {6, Z_FIXED},
               {6, Z_HUFFMAN_ONLY},     {6, Z_RLE}};
    for (size_t i = 0; i < 6; i++)
        for (uint32_t seed = 0; seed < 2; seed++) {
            struct buffer want = content(seed, 300000), in = {0};
            gzip_add(&in, &want, how[i].level, how[i].strategy, NULL);
            expect_same(&in, &want, 1 << 20, 1 << 18);
            expect_same(&in, &want, 1000, 70001);
            buffer_free(&want);
            buffer_free(&in);
        }
}

Test(gunzip, all_header_fields_in_pieces)
{
    struct buffer want = content(1, 500);
    for (unsigned mask = 0; mask < 32; mask++) {
        gz_header header = {.text = mask & 1,
                            .time = 77,
                            .extra = mask & 2 ? (Bytef *)"extra\0field" : NULL,
                            .extra_len = mask & 2 ? 11 : 0,
                            .name = mask & 4 ? (Bytef *)"a name.tar" : NULL,
                            .comment = mask & 8 ? (Bytef *)"a comment" : NULL,
                            .hcrc = mask >> 4 & 1};
        struct buffer in = {0};
        gzip_add(&in, &want, 6, Z_DEFAULT_STRATEGY, &header);
        for (size_t step = 1; step < 40; step++)
            expect_same(&in, &want, step, 1000);
        buffer_free(&in);
    }
    buffer_free(&want);
}

Test(gunzip, wrong_header_checksum)
{
    struct buffer want = content(1, 500), in = {0};
    gz_header header = {.name = (Bytef *)"name", .hcrc = 1};
    gzip_add(&in, &want, 6, Z_DEFAULT_STRATEGY, &header);
    in.data[11] ^= 1; /* within the name */
    expect_each(&in, APL_E_SOURCE, "header");
    buffer_free(&want);
    buffer_free(&in);
}

Test(gunzip, members_and_padding)
{
    struct buffer a = content(1, 5000), b = content(2, 700), none = {0}, want = {0}, in = {0};
    static const uint8_t zeros[1000];
    gzip_add(&in, &a, 6, Z_DEFAULT_STRATEGY, NULL);
    gzip_add(&in, &none, 6, Z_DEFAULT_STRATEGY, NULL);
    gzip_add(&in, &b, 0, Z_DEFAULT_STRATEGY, NULL);
    buffer_put(&want, a.data, a.size);
    buffer_put(&want, b.data, b.size);
    for (size_t step = 1; step < 70; step++)
        expect_same(&in, &want, step, 512);
    buffer_put(&in, zeros, sizeof zeros);
    for (size_t step = 1; step < 70; step++)
        expect_same(&in, &want, step, 512);
    buffer_put(&in, "x", 1);
    expect_each(&in, APL_E_SOURCE, "garbage after the end");
    buffer_free(&a);
    buffer_free(&b);
    buffer_free(&want);
    buffer_free(&in);
}

Test(gunzip, garbage_behind)
{
    static const char *garbage[] = {"x", "\x1f\x8c", "\x1f\x8b\x08\x80", "\x1fzzzzzzzzzzzzzzzzzz",
                                    "\x1f\x8b\x07zzzzzzzzzzzzzzz"};
    struct buffer want = content(1, 100);
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        struct buffer in = gzip_of(&want);
        size_t end = in.size;
        char words[64];
        snprintf(words, sizeof words, "byte %zu: garbage", end);
        buffer_put(&in, garbage[i], strlen(garbage[i]));
        expect_each(&in, APL_E_SOURCE, i == 0 ? words : "header");
        buffer_free(&in);
    }
    buffer_free(&want);
}

Test(gunzip, cut_anywhere)
{
    struct buffer want = content(1, 3000), in = {0};
    gz_header header = {.name = (Bytef *)"name", .hcrc = 1, .extra = (Bytef *)"12", .extra_len = 2};
    gzip_add(&in, &want, 6, Z_DEFAULT_STRATEGY, &header);
    size_t first = in.size;
    gzip_add(&in, &want, 6, Z_DEFAULT_STRATEGY, NULL);
    for (size_t cut = 0; cut < in.size; cut++) {
        if (cut == first)
            continue; /* a whole stream of one member */
        char words[64];
        snprintf(words, sizeof words, "ends early at byte %zu:", cut);
        struct buffer part = {.data = in.data, .size = cut};
        expect_each(&part, APL_E_INCOMPLETE, words);
    }
    buffer_free(&want);
    buffer_free(&in);
}

Test(gunzip, trailer_is_checked)
{
    struct buffer want = content(1, 3000);
    for (size_t back = 1; back <= 8; back++)
        for (unsigned bit = 0; bit < 8; bit++) {
            struct buffer in = gzip_of(&want);
            in.data[in.size - back] ^= (uint8_t)(1u << bit);
            expect_each(&in, APL_E_SOURCE, "checksum or length");
            buffer_free(&in);
        }
    buffer_free(&want);
}

/* A flipped bit is found, or does no harm (the time in the header, bits that fill the last byte). */
Test(gunzip, every_flipped_bit)
{
    struct buffer want = content(1, 2000), in = gzip_of(&want), out = {0};
    apl_error err;
    for (size_t bit = 0; bit < in.size * 8; bit++) {
        in.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        for (size_t k = 0; k < KINDS; k++) {
            apl_status status = inflate_all(kinds[k], &in, &out, &err);
            if (status == APL_OK)
                same_bytes(&out, want.data, want.size);
            cr_assert(status == APL_OK || status == APL_E_SOURCE || status == APL_E_INCOMPLETE,
                      "%s: bit %zu: %d", kinds[k]->name, bit, (int)status);
        }
        in.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    buffer_free(&want);
    buffer_free(&in);
    buffer_free(&out);
}

/* Whatever the bytes, the inflaters end, and agree on what is whole. */
Test(gunzip, mutated_streams)
{
    uint32_t x = 12345;
    for (unsigned round = 0; round < 3000; round++) {
        struct buffer want = content(round, 200 + round % 500), in = gzip_of(&want), out = {0};
        for (unsigned i = 0; i <= round % 4; i++) {
            x = x * 1664525u + 1013904223u;
            in.data[10 + (x >> 8) % (in.size - 10)] = (uint8_t)(x >> 24);
        }
        unsigned good = 0;
        for (size_t k = 0; k < KINDS; k++) {
            apl_error err;
            apl_status status =
                inflate_by(kinds[k], in.data, in.size, 1 + round % 77, 1 + round % 300, &out, &err);
            good += status == APL_OK;
            cr_assert(status == APL_OK || status == APL_E_SOURCE || status == APL_E_INCOMPLETE);
        }
        cr_assert(good == 0 || good == KINDS);
        buffer_free(&want);
        buffer_free(&in);
        buffer_free(&out);
    }
}

Test(gunzip, picked_by_name)
{
    setenv("APL_GUNZIP", "zlib", 1);
    cr_assert_eq(gunzip_pick(), &gunzip_zlib);
    setenv("APL_GUNZIP", "7zip", 1);
    cr_assert_null(gunzip_pick());
    unsetenv("APL_GUNZIP");
    cr_assert_not_null(gunzip_pick());
#ifdef HAVE_ISAL
    cr_assert_eq(gunzip_pick(), &gunzip_isal);
    setenv("APL_GUNZIP", "isal", 1);
    cr_assert_eq(gunzip_pick(), &gunzip_isal);
#endif
}

/* zlib finds these by itself; each has its own words. */
Test(gunzip, headers_that_cannot_be)
{
    static const struct {
        unsigned at;
        uint8_t value;
    } cases[] = {{2, 7}, {3, 0x20}, {1, 0}};
    struct buffer want = content(1, 500);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer in = gzip_of(&want);
        in.data[cases[i].at] = cases[i].value;
        for (size_t k = 0; k < KINDS; k++) {
            struct buffer out = {0};
            apl_error err = {0};
            cr_assert_eq(inflate_all(kinds[k], &in, &out, &err), APL_E_SOURCE, "%s", kinds[k]->name);
            buffer_free(&out);
        }
        buffer_free(&in);
    }
    buffer_free(&want);
}
