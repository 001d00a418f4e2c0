/* Byte shuffle and delta. */
#include "elements.h"
#include "samples.h"

#include <criterion/criterion.h>

Test(elements, shuffle_collects_bytes_of_a_rank)
{
    const uint8_t in[6] = {1, 2, 3, 4, 5, 6}, want[6] = {1, 3, 5, 2, 4, 6};
    uint8_t out[6], back[6];
    elements_shuffle(out, in, 3, 2);
    cr_assert_arr_eq(out, want, 6);
    elements_unshuffle(back, out, 3, 2);
    cr_assert_arr_eq(back, in, 6);
}

Test(elements, delta_wraps)
{
    const uint8_t in[6] = {0xff, 0xff, 0x01, 0x00, 0x00, 0x00},
                  want[6] = {0xff, 0xff, 0x02, 0x00, 0xff, 0xff};
    uint8_t out[6];
    elements_delta(out, in, 3, 2);
    cr_assert_arr_eq(out, want, 6);
    elements_undelta(out, 3, 2);
    cr_assert_arr_eq(out, in, 6);
}

Test(elements, there_and_back)
{
    static const size_t counts[] = {0, 1, 2, 7, 31, 100};
    uint8_t in[800], a[800], b[800];
    for (int kind = 0; kind < SAMPLES; kind++) {
        sample_fill(in, sizeof in, (enum sample)kind, 13, 3);
        for (unsigned bytes = 1; bytes <= 8; bytes *= 2) {
            for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
                size_t n = counts[i];
                elements_delta(a, in, n, bytes);
                elements_shuffle(b, a, n, bytes);
                elements_unshuffle(a, b, n, bytes);
                elements_undelta(a, n, bytes);
                cr_assert(memcmp(a, in, n * bytes) == 0, "%u bytes, %zu elements, kind %d", bytes, n, kind);
            }
        }
    }
}
