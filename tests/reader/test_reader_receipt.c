/* Receipts: what was handed out, and that the parts of it add up. */
#include "reader_fixture.h"

#include "epoch_tally.h"

#define TRAIN 75

static void set_up(void)
{
    fixture_make(TRAIN, 0, 8);
}

TestSuite(reader_receipt, .init = set_up, .fini = fixture_free, .timeout = 60);

static apl_receipt receipt_of(apl_reader *r)
{
    apl_receipt receipt;
    apl_error err;
    memset(&receipt, 0xff, sizeof receipt);
    cr_assert_eq(apl_reader_receipt(r, &receipt, sizeof receipt, &err), APL_OK);
    return receipt;
}

static apl_receipt whole_epoch(const apl_reader_options *o)
{
    struct sequence s = {0};
    apl_reader *r = fixture_reader(o);
    read_epoch(r, &s);
    apl_receipt receipt = receipt_of(r);
    apl_reader_close(r);
    sequence_free(&s);
    return receipt;
}

static void add(uint64_t *sum, const uint64_t *more)
{
    sum[0] += more[0];
    sum[1] += more[1] + (sum[0] < more[0]);
}

Test(reader_receipt, says_what_was_handed_out)
{
    apl_reader_options o = fixture_options();
    struct sequence s = {0};
    o.first_epoch = 5;
    o.threads = 2;
    apl_reader *r = fixture_reader(&o);
    apl_receipt receipt = receipt_of(r);
    cr_assert(receipt.epoch == 5 && receipt.first == 0 && receipt.last == 0 && receipt.delivered == 0);
    cr_assert(receipt.sum[0] == 0 && receipt.sum[1] == 0);
    read_batches(r, &s, 3);
    receipt = receipt_of(r);
    cr_assert(receipt.last == 48 && receipt.delivered == 48);
    cr_assert(receipt.dropped == 0 && receipt.missing == 0, "what is left is still to come");
    read_epoch(r, &s);
    receipt = receipt_of(r);
    cr_assert(receipt.last == TRAIN && receipt.delivered == TRAIN);
    cr_assert(receipt.skipped == 0 && receipt.repeated == 0 && receipt.dropped == 0 && receipt.missing == 0);
    cr_assert(receipt.sum[0] != 0 && receipt.sum[1] != 0);
    fixture_next_epoch(r);
    receipt = receipt_of(r);
    cr_assert(receipt.epoch == 6 && receipt.last == 0 && receipt.delivered == 0 && receipt.sum[0] == 0);
    apl_reader_close(r);
    sequence_free(&s);
}

/* It hangs on what was delivered, not on the order. */
Test(reader_receipt, is_the_same_for_the_same_records)
{
    apl_reader_options o = fixture_options(), other = o;
    apl_receipt a = whole_epoch(&o), b;
    other.order = APL_FREE;
    other.threads = 2;
    other.window = 16;
    other.batch_size = 7;
    other.first_epoch = 9;
    b = whole_epoch(&other);
    cr_assert(a.sum[0] == b.sum[0] && a.sum[1] == b.sum[1]);
    other.sequential = 1;
    other.order = APL_STRICT;
    b = whole_epoch(&other);
    cr_assert(a.sum[0] == b.sum[0] && a.sum[1] == b.sum[1]);
    other.seed = 1;
    b = whole_epoch(&other);
    cr_assert(a.sum[0] != b.sum[0] && a.sum[1] != b.sum[1], "keyed");
    o.drop_last = 1;
    b = whole_epoch(&o);
    cr_assert(b.dropped == TRAIN % 16 && b.missing == 0 && b.last == TRAIN - TRAIN % 16);
    cr_assert(a.sum[0] != b.sum[0] && a.sum[1] != b.sum[1], "records are missing");
    o.drop_last = 0;
    o.reuse = 2;
    b = whole_epoch(&o);
    cr_assert(b.delivered == 2 * TRAIN && b.repeated == 0);
    add(a.sum, a.sum);
    cr_assert(a.sum[0] != b.sum[0], "copies have hashes of their own");
}

Test(reader_receipt, of_parts_adds_up)
{
    for (unsigned k = 0; k < 4; k++) {
        apl_reader_options o = fixture_options();
        o.batch_size = 5;
        o.order = k & 1 ? APL_FREE : APL_STRICT;
        o.window = k & 2 ? 16 : 0;
        apl_receipt all = whole_epoch(&o), part;
        uint64_t sum[2] = {0, 0}, delivered = 0, last = 0;
        uint8_t state[256];
        apl_reader *r = fixture_reader(&o);
        for (unsigned i = 0; i < 20; i++) {
            struct sequence s = {0};
            size_t size = sizeof state;
            read_batches(r, &s, 1 + i % 3);
            sequence_free(&s);
            part = receipt_of(r);
            cr_assert_eq(part.first, last);
            last = part.last;
            delivered += part.delivered;
            add(sum, part.sum);
            cr_assert_eq(part.delivered, part.last - part.first);
            cr_assert(part.missing == 0 && part.repeated == 0 && part.dropped == 0);
            cr_assert_eq(apl_reader_state(r, state, &size, NULL), APL_OK);
            apl_reader_close(r);
            o.state = state;
            o.state_size = size;
            r = fixture_reader(&o);
        }
        apl_reader_close(r);
        cr_assert_eq(delivered, TRAIN);
        cr_assert(sum[0] == all.sum[0] && sum[1] == all.sum[1]);
    }
}

/* Of 75 records in batches of 16, 11 are left over; of two ranks in steps of 32, the same 11 for both. */
Test(reader_receipt, drop_last_tells_what_was_left_over)
{
    for (unsigned world = 1; world <= 2; world++) {
        apl_reader_options o = fixture_options();
        struct sequence s = {0};
        o.drop_last = 1;
        o.ranks.world = world;
        o.ranks.rank = world - 1;
        o.threads = 1;
        apl_reader *r = fixture_reader(&o);
        read_batches(r, &s, 1);
        apl_receipt receipt = receipt_of(r);
        cr_assert(receipt.dropped == 0 && receipt.missing == 0 && receipt.delivered == 16);
        read_epoch(r, &s);
        receipt = receipt_of(r);
        cr_assert_eq(receipt.delivered, 64 / world);
        cr_assert(receipt.dropped == 11 && receipt.last == 64, "%d", (int)receipt.dropped);
        cr_assert(receipt.missing == 0 && receipt.repeated == 0 && receipt.skipped == 0);
        fixture_next_epoch(r);
        cr_assert_eq(receipt_of(r).dropped, 0);
        apl_reader_close(r);
        sequence_free(&s);
    }
}

/* No reader has ever lost or repeated a record: what a receipt would say if one did. */
Test(reader_receipt, counts_what_is_missing_and_repeated)
{
    struct epoch_tally t = {.epoch = 3};
    apl_receipt receipt;
    cr_assert_eq(tally_open(&t, 100, 100, NULL), APL_OK);
    t.position = t.shared = 10;
    for (unsigned i = 0; i < 10; i++)
        t.delivered[i / 8] |= (uint8_t)(1u << i % 8);
    tally_receipt(&t, &receipt);
    cr_assert(receipt.missing == 0 && receipt.repeated == 0 && receipt.dropped == 0);
    t.delivered[0] &= (uint8_t)~6u; /* two have never come */
    tally_receipt(&t, &receipt);
    cr_assert(receipt.missing == 2 && receipt.repeated == 0);
    t.repeated = 2; /* others came twice instead */
    tally_receipt(&t, &receipt);
    cr_assert(receipt.missing == 0 && receipt.repeated == 2);
    t.ended = true;
    t.position = 96;
    tally_receipt(&t, &receipt);
    cr_assert_eq(receipt.dropped, 4);
    tally_free(&t);
}

Test(reader_receipt, refuses_what_is_no_receipt)
{
    apl_reader_options o = fixture_options();
    apl_reader *r = fixture_reader(&o);
    apl_receipt receipt;
    cr_assert_eq(apl_reader_receipt(r, &receipt, 0, NULL), APL_E_INVALID);
    receipt.sum[1] = 77;
    cr_assert_eq(apl_reader_receipt(r, &receipt, sizeof receipt - 8, NULL), APL_OK);
    cr_assert_eq(receipt.sum[1], 77, "an older caller's receipt ends before");
    cr_assert_eq(apl_reader_receipt(r, NULL, sizeof receipt, NULL), APL_E_INVALID);
    cr_assert_eq(apl_reader_receipt(NULL, &receipt, sizeof receipt, NULL), APL_E_INVALID);
    apl_reader_close(r);
}
