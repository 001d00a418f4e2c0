/* zstd frames: what comes back, what is refused. */
#include "entropy.h"
#include "samples.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define N 5000

static uint8_t raw[N], back[N], coded[2 * N];

static size_t encode(struct entropy *e, int level, enum sample kind)
{
    size_t size = 0;
    apl_error err;
    sample_fill(raw, N, kind, 50, 1);
    cr_assert_eq(entropy_encode(e, level, raw, N, coded, sizeof coded, &size, &err), APL_OK, "%s",
                 err.message);
    cr_assert_leq(size, entropy_bound(N));
    return size;
}

Test(entropy, there_and_back_at_all_sorts_of_levels)
{
    static const int levels[] = {ENTROPY_LITERALS, -127, -7, -1, 0, 1, 3, 9, 19, 22, 127};
    struct entropy *e = entropy_new();
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        for (int kind = 0; kind < SAMPLES; kind++) {
            size_t size = encode(e, levels[i], (enum sample)kind);
            cr_assert_eq(entropy_decode(e, coded, size, back, N, NULL), APL_OK);
            cr_assert_arr_eq(back, raw, N);
        }
    }
    entropy_free(e);
}

Test(entropy, literals_are_coded_without_matches)
{
    struct entropy *e = entropy_new();
    cr_assert_lt(encode(e, ENTROPY_LITERALS, SAMPLE_EXTREMES), N / 4);
    entropy_free(e);
}

Test(entropy, nothing_at_all_is_a_frame_too)
{
    struct entropy *e = entropy_new();
    size_t size = 0;
    cr_assert_eq(entropy_encode(e, 3, raw, 0, coded, sizeof coded, &size, NULL), APL_OK);
    cr_assert_eq(entropy_decode(e, coded, size, back, 0, NULL), APL_OK);
    entropy_free(e);
}

Test(entropy, history_leaves_no_trace)
{
    struct entropy *e = entropy_new(), *fresh = entropy_new();
    static uint8_t first[2 * N];
    size_t size = encode(fresh, 3, SAMPLE_NOISY);
    memcpy(first, coded, size);
    encode(e, ENTROPY_LITERALS, SAMPLE_RANDOM);
    size_t none;
    cr_assert_neq(entropy_encode(e, 3, raw, N, coded, 5, &none, NULL), APL_OK);
    cr_assert_eq(encode(e, 3, SAMPLE_NOISY), size);
    cr_assert_arr_eq(coded, first, size);
    entropy_free(e);
    entropy_free(fresh);
}

static void refused(struct entropy *e, const uint8_t *data, size_t size, size_t raw_size, const char *why)
{
    apl_error err = {0};
    uint8_t *exact = malloc(size + 1), *to = malloc(raw_size + 1); /* so that over-reads are seen */
    if (size > 0)
        memcpy(exact, data, size);
    cr_expect_eq(entropy_decode(e, exact, size, to, raw_size, &err), APL_E_CORRUPT, "%s", why);
    cr_expect_neq(err.message[0], 0);
    free(exact);
    free(to);
}

Test(entropy, what_is_not_the_one_frame_is_refused)
{
    struct entropy *e = entropy_new();
    size_t size = encode(e, 3, SAMPLE_NOISY);
    refused(e, coded, size - 1, N, "a byte too few");
    refused(e, coded, size + 1, N, "a byte too many");
    refused(e, coded, size, N - 1, "less raw");
    refused(e, coded, size, N + 1, "more raw");
    refused(e, coded, 0, N, "nothing");
    refused(e, coded, 3, N, "not even a magic number");
    memcpy(coded + size, coded, size);
    refused(e, coded, 2 * size, N, "two frames");
    static const uint8_t skippable[12] = {0x50, 0x2a, 0x4d, 0x18, 4};
    refused(e, skippable, sizeof skippable, 0, "a skippable frame");
    memcpy(coded + size, skippable, sizeof skippable);
    refused(e, coded, size + sizeof skippable, N, "a skippable frame behind the one");
    /* the same frame without its content size: a window of 1 KiB, one raw block of a byte */
    static const uint8_t sizeless[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 0, 9, 0, 0, 'a'};
    refused(e, sizeless, sizeof sizeless, 1, "no content size");
    cr_assert_eq(entropy_decode(e, coded, size, back, N, NULL), APL_OK, "the coder works on after failures");
    entropy_free(e);
}

Test(entropy, frames_cut_anywhere_are_refused)
{
    struct entropy *e = entropy_new();
    size_t size = encode(e, ENTROPY_LITERALS, SAMPLE_NOISY);
    for (size_t cut = 0; cut < size; cut++)
        refused(e, coded, cut, N, "cut");
    entropy_free(e);
}

Test(entropy, bounds_do_not_wrap)
{
    cr_assert_geq(entropy_bound(0), 0);
    cr_assert_geq(entropy_bound(1000), 1000);
    cr_assert_eq(entropy_bound(SIZE_MAX), SIZE_MAX);
    entropy_free(NULL);
}
