/* Slots: each is its taker's alone until its last delivery. */
#include "slab.h"

#include <criterion/criterion.h>
#include <string.h>

static const size_t widths[3] = {100, 0, 1};

static struct slab new_slab(uint32_t slots)
{
    struct slab a;
    cr_assert_eq(slab_init(&a, slots, 3, widths, NULL), APL_OK);
    return a;
}

Test(slab, takes_all_or_nothing)
{
    struct slab a = new_slab(10);
    uint32_t slots[11], more[11];
    cr_assert_not(slab_take(&a, slots, 11, 1));
    cr_assert(slab_take(&a, slots, 6, 1));
    cr_assert_not(slab_take(&a, more, 5, 1));
    cr_assert(slab_take(&a, more, 4, 1));
    uint8_t seen[10] = {0};
    for (unsigned i = 0; i < 10; i++)
        cr_assert_eq(seen[i < 6 ? slots[i] : more[i - 6]]++, 0);
    cr_assert(slab_take(&a, slots, 0, 1));
    cr_assert_eq(slab_release(&a, more, 4), 4);
    cr_assert(slab_take(&a, slots, 4, 1));
    slab_free(&a);
}

Test(slab, gives_a_slot_back_with_its_last_delivery)
{
    struct slab a = new_slab(4);
    uint32_t slots[4], copy[4];
    cr_assert(slab_take(&a, slots, 4, 3));
    for (unsigned i = 0; i < 3; i++) {
        memcpy(copy, slots, sizeof copy);
        cr_assert_eq(slab_release(&a, copy, 4), i == 2 ? 4 : 0);
    }
    cr_assert(slab_take(&a, slots, 4, 1));
    slab_free(&a);
}

/* A batch may hold several copies of a record. */
Test(slab, counts_a_slot_that_is_listed_again)
{
    struct slab a = new_slab(2);
    uint32_t slots[2];
    cr_assert(slab_take(&a, slots, 2, 2));
    uint32_t list[4] = {slots[0], slots[1], slots[0], slots[1]}, one[2] = {slots[0], slots[0]};
    cr_assert_eq(slab_release(&a, list, 4), 2);
    cr_assert(slab_take(&a, slots, 1, 2));
    one[0] = one[1] = slots[0];
    cr_assert_eq(slab_release(&a, one, 2), 1);
    slab_free(&a);
}

Test(slab, keeps_values_apart)
{
    struct slab a = new_slab(7);
    cr_assert_null(a.values[1]);
    for (uint32_t i = 0; i < 7; i++) {
        memset(slab_value(&a, 0, i), (int)i + 1, widths[0]);
        memset(slab_value(&a, 2, i), (int)i + 50, widths[2]);
    }
    for (uint32_t i = 0; i < 7; i++) {
        for (size_t k = 0; k < widths[0]; k++)
            cr_assert_eq(slab_value(&a, 0, i)[k], i + 1);
        cr_assert_eq(*slab_value(&a, 2, i), i + 50);
    }
    cr_assert_geq(slab_bytes(7, 3, widths), 7 * 101);
    slab_free(&a);
}

Test(slab, is_whole_again_after_a_reset)
{
    struct slab a = new_slab(5);
    uint32_t slots[5];
    cr_assert(slab_take(&a, slots, 3, 9));
    slab_reset(&a);
    cr_assert(slab_take(&a, slots, 5, 1));
    cr_assert_eq(slab_release(&a, slots, 5), 5);
    slab_free(&a);
}
