/* Which blocks stay for the next epoch: as many of those that it needs first as there is room for. */
#include "entering.h"
#include "retention.h"

#include <criterion/criterion.h>

TestSuite(retention);

#define BLOCKS 6

static const struct plan_options plan = {.seed = 5};

/* In the place of the order's: the last block first, and, in odd epochs, the first block first. */
void entering_order(uint64_t seed, uint64_t epoch, bool sequential, uint32_t n, uint32_t *order)
{
    cr_assert(seed == 5 && !sequential && n == BLOCKS);
    for (uint32_t i = 0; i < BLOCKS; i++)
        order[i] = epoch % 2 ? i : BLOCKS - 1 - i;
}

static struct subset_block blocks[BLOCKS] = {{.count = 3}, {.count = 5}, {.count = 1},
                                             {.count = 4}, {.count = 2}, {.count = 7}};
static const struct subset subset = {.blocks = BLOCKS, .block = blocks, .stride = 7};

/* Chosen in that epoch, with so many slots to spare: exactly those blocks, a bit each. */
static void expect(uint64_t epoch, uint32_t spare, unsigned bits)
{
    struct retention retention = {0};
    apl_error err;
    cr_assert_eq(retention_open(&retention, BLOCKS, spare, &err), APL_OK);
    cr_assert_eq(retention_any(&retention), spare > 0);
    retention_choose(&retention, &plan, &subset, epoch, spare);
    for (uint32_t i = 0; i < BLOCKS; i++)
        cr_assert_eq(retention_has(&retention, i), bits >> i & 1, "%u slots: block %u", spare, i);
    retention_free(&retention);
}

Test(retention, as_many_as_there_is_room_for)
{
    expect(0, 0, 0);
    expect(0, 2, 0);
    expect(0, 3, 1);
    expect(0, 7, 1);
    expect(0, 8, 3);
    expect(0, 9, 7);
    expect(0, 12, 7);
    expect(0, 21, 31);
    expect(0, 22, 63);
    expect(0, UINT32_MAX, 63);
}

Test(retention, those_that_the_next_epoch_needs_first)
{
    expect(1, 6, 0);
    expect(1, 9, 32 | 16);
    expect(1, 13, 32 | 16 | 8);
}

/* What was chosen for an epoch is forgotten with it. */
Test(retention, is_chosen_again)
{
    struct retention retention = {0};
    apl_error err;
    cr_assert_eq(retention_open(&retention, BLOCKS, 8, &err), APL_OK);
    retention_choose(&retention, &plan, &subset, 0, 8);
    retention_choose(&retention, &plan, &subset, 1, 8);
    for (uint32_t i = 0; i < BLOCKS; i++)
        cr_assert_eq(retention_has(&retention, i), i == 5);
    retention_free(&retention);
}
