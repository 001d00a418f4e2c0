/* Arrays grow by halves, from some items to as many as 32 bits can count, and never wrap. */
#include "grow.h"

#include <criterion/criterion.h>

Test(grow, by_halves)
{
    cr_assert_eq(grown(0, 1), 64);
    cr_assert_eq(grown(64, 65), 96);
    cr_assert_eq(grown(96, 1000), 1000);
}

Test(grow, never_wraps)
{
    for (uint64_t room = 1; room < UINT32_MAX; room += 1 + room / 7) {
        cr_assert_geq(grown((uint32_t)room, (uint32_t)room + 1), room + 1);
        cr_assert_geq(grown((uint32_t)room, UINT32_MAX), UINT32_MAX);
    }
    cr_assert_eq(grown(2863311531u, 2863311532u), UINT32_MAX);
    cr_assert_eq(grown(UINT32_MAX - 1, UINT32_MAX), UINT32_MAX);
}
