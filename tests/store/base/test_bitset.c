/* Bitsets. */
#include "bitset.h"

#include <criterion/criterion.h>

TestSuite(bitset);

Test(bitset, of_every_size)
{
    for (uint64_t n = 0; n < 200; n++) {
        struct bitset m, back;
        cr_assert_eq(bitset_init(&m, n, NULL), APL_OK);
        cr_assert_eq(bitset_init(&back, n, NULL), APL_OK);
        uint64_t total = 0;
        for (uint64_t i = 0; i < n; i++)
            if (i % 3 == 0 || i + 1 == n) {
                cr_assert(bitset_set(&m, i));
                cr_assert(!bitset_set(&m, i), "marked twice");
                total++;
            }
        cr_assert_eq(bitset_count(&m), total);
        uint8_t *bytes = malloc(bitset_bytes(n) + 1); /* to the byte: asan watches the end */
        bitset_store(&m, bytes);
        cr_assert(bitset_load(&back, bytes));
        for (uint64_t i = 0; i < n; i++) {
            cr_assert_eq(bitset_test(&back, i), i % 3 == 0 || i + 1 == n);
            cr_assert_eq(bitset_test(&back, i), bytes[i / 8] >> i % 8 & 1);
        }
        cr_assert_eq(bitset_count_both(&m, &back), total);
        free(bytes);
        bitset_free(&m);
        bitset_free(&back);
    }
}

Test(bitset, none_behind_the_last_record)
{
    struct bitset m;
    uint8_t bytes[2] = {0xff, 0x1f};
    cr_assert_eq(bitset_init(&m, 13, NULL), APL_OK);
    cr_assert(bitset_load(&m, bytes));
    for (unsigned bit = 5; bit < 8; bit++) {
        bytes[1] = (uint8_t)(1u << bit);
        cr_assert(!bitset_load(&m, bytes));
    }
    bitset_free(&m);
}

Test(bitset, hashes_tell_bits_apart)
{
    for (uint64_t n = 1; n < 300; n += 37) {
        struct bitset a, b;
        cr_assert(bitset_init(&a, n, NULL) == APL_OK && bitset_init(&b, n, NULL) == APL_OK);
        for (uint64_t i = 0; i < n; i++) {
            cr_assert_eq(bitset_hash(&a, 1), bitset_hash(&b, 1));
            bitset_set(&a, i);
            cr_assert_neq(bitset_hash(&a, 1), bitset_hash(&b, 1));
            bitset_set(&b, i);
        }
        cr_assert_neq(bitset_hash(&a, 1), bitset_hash(&a, 2));
        bitset_free(&a);
        bitset_free(&b);
    }
}
