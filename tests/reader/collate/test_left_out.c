/* Rows that cannot be decoded: left out, with all that is known of them, where that is asked for. */
#include "left_out.h"
#include "pool.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(left_out);

#define ROWS 5

static uint64_t ids[ROWS], skipped[ROWS];
static uint32_t copies[ROWS], numbers[ROWS], delivered[ROWS], deliveries[ROWS];
static struct spec spec;
static struct batch_buffer buffer;
static struct job job;

static void set_up(void)
{
    for (unsigned i = 0; i < ROWS; i++) {
        ids[i] = 100 + i;
        copies[i] = i;
        numbers[i] = 10 + i;
        delivered[i] = 20 + i;
        deliveries[i] = 30 + i;
    }
    spec.options.skip_corrupt = 10;
    buffer = (struct batch_buffer){.skipped = skipped, .delivered = delivered, .numbers = numbers};
    buffer.batch.ids = ids;
    buffer.batch.copies = copies;
    buffer.batch.rows = ROWS;
    job = (struct job){.buffer = &buffer, .deliveries = deliveries};
}

static void expect(const uint32_t of[ROWS], uint32_t first, const unsigned order[ROWS])
{
    for (unsigned i = 0; i < ROWS; i++)
        cr_assert_eq(of[i], first + order[i], "%u", i);
}

static void expect_order(const unsigned order[ROWS])
{
    expect(copies, 0, order);
    expect(numbers, 10, order);
    expect(delivered, 20, order);
    expect(deliveries, 30, order);
    for (unsigned i = 0; i < buffer.batch.rows; i++)
        cr_assert_eq(ids[i], 100 + order[i]);
}

Test(left_out, moves_what_is_known_behind, .init = set_up)
{
    cr_assert(left_out_drop(&spec, &job, 1, APL_E_CORRUPT));
    expect_order((const unsigned[]){0, 2, 3, 4, 1});
    cr_assert(left_out_drop(&spec, &job, 3, APL_E_UNSUPPORTED));
    expect_order((const unsigned[]){0, 2, 3, 4, 1});
    cr_assert(left_out_drop(&spec, &job, 0, APL_E_CORRUPT));
    expect_order((const unsigned[]){2, 3, 0, 4, 1});
    cr_assert(buffer.batch.rows == 2 && buffer.batch.skipped_count == 3 && job.undecodable == 3);
    cr_assert(skipped[0] == 101 && skipped[1] == 104 && skipped[2] == 100);
}

/* Other errors, and readers that leave nothing out. */
Test(left_out, leaves_the_rest_alone, .init = set_up)
{
    cr_assert_not(left_out_drop(&spec, &job, 1, APL_E_NOMEM));
    cr_assert_not(left_out_drop(&spec, &job, 1, APL_E_IO));
    spec.options.skip_corrupt = 0;
    cr_assert_not(left_out_drop(&spec, &job, 1, APL_E_CORRUPT));
    spec.options.skip_corrupt = 10;
    spec.options.pack.row = 64;
    cr_assert_not(left_out_drop(&spec, &job, 1, APL_E_CORRUPT));
    expect_order((const unsigned[]){0, 1, 2, 3, 4});
    cr_assert(buffer.batch.rows == ROWS && buffer.batch.skipped_count == 0 && job.undecodable == 0);
}
