/* Sums over bytes, of all lengths about those that are taken at once. */
#include "byte_sums.h"

#include <criterion/criterion.h>

static void check(const uint8_t *data, size_t n)
{
    struct byte_sums is = byte_sums(data, n);
    uint64_t sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += data[i];
        squares += (uint64_t)data[i] * data[i];
    }
    cr_assert(is.sum == sum && is.squares == squares, "%zu bytes", n);
}

Test(byte_sums, all_lengths, .timeout = 60)
{
    uint8_t data[8192 + 100];
    for (unsigned highest = 0; highest < 2; highest++) {
        for (size_t i = 0; i < sizeof data; i++)
            data[i] = highest ? 255 : (uint8_t)(i * i + i / 9);
        for (size_t n = 0; n < 100; n++) {
            check(data + n % 7, n);
            check(data, 4096 - 50 + n);
            check(data, 8192 - 50 + n);
        }
    }
}
