/* Readers of some records of a split, which are told by their ids. */
#include "reader_fixture.h"

#include "subset.h"

#define TRAIN 700
#define TEST  40
#define BLOCK 48

static uint64_t chosen[TRAIN];
static size_t chosen_count;

static void make_split(void)
{
    apl_error err = {0};
    apl_split_options o = APL_SPLIT_OPTIONS_INIT;
    o.name = "val";
    o.ratio = 0.3;
    cr_assert_eq(apl_split_make(fx.store, &o, &err), APL_OK, "%s", err.message);
}

/* Two of three records of train-val, from last to first; none of the second block. */
static void set_up(void)
{
    uint64_t ids[TRAIN], n = TRAIN;
    fixture_make(TRAIN, TEST, BLOCK);
    make_split();
    cr_assert_eq(apl_split_ids(fx.store, "train-val", ids, &n, NULL), APL_OK);
    chosen_count = 0;
    for (size_t i = n; i-- > 0;)
        if (i % 3 && ids[i] / BLOCK != 1)
            chosen[chosen_count++] = ids[i];
}

TestSuite(reader_select, .init = set_up, .fini = fixture_free, .timeout = 120);

static apl_reader_options select_options(void)
{
    apl_reader_options o = fixture_options();
    o.split = "train-val";
    o.ids = chosen;
    o.id_count = chosen_count;
    return o;
}

/* Each of the chosen records so often, and no other. */
static void check_chosen(const struct sequence *s, unsigned times)
{
    unsigned seen[TRAIN + TEST] = {0};
    cr_assert_eq(s->count, chosen_count * times, "%zu of %zu", s->count, chosen_count * times);
    for (size_t i = 0; i < s->count; i++)
        seen[s->ids[i]]++;
    for (size_t i = 0; i < chosen_count; i++)
        cr_assert_eq(seen[chosen[i]], times);
}

Test(reader_select, each_chosen_record_once)
{
    for (unsigned mix = 0; mix < 32; mix++) {
        apl_reader_options o = fixture_mix(select_options(), mix, 60);
        apl_reader *r = fixture_reader(&o);
        uint64_t deliveries = chosen_count * o.reuse, whole = o.batch_size;
        cr_assert_eq(apl_reader_batches(r), (deliveries + whole - 1) / whole);
        for (unsigned epoch = 0; epoch < 3; epoch++) {
            struct sequence s = {0};
            read_epoch(r, &s);
            check_chosen(&s, o.reuse);
            sequence_free(&s);
            fixture_next_epoch(r);
        }
        apl_reader_close(r);
    }
}

static struct sequence whole_epoch(const apl_reader_options *o)
{
    struct sequence s = {0};
    apl_reader *r = fixture_reader(o);
    read_epoch(r, &s);
    apl_reader_close(r);
    return s;
}

Test(reader_select, the_order_of_the_ids_changes_nothing)
{
    uint64_t ascending[TRAIN];
    apl_reader_options o = select_options();
    struct sequence a = whole_epoch(&o);
    for (size_t i = 0; i < chosen_count; i++)
        ascending[i] = chosen[chosen_count - 1 - i];
    o.ids = ascending;
    o.threads = 3;
    struct sequence b = whole_epoch(&o);
    check_same(&a, &b);
    sequence_free(&a);
    sequence_free(&b);
    o.sequential = 1;
    a = whole_epoch(&o);
    for (size_t i = 0; i < chosen_count; i++)
        cr_assert_eq(a.ids[i], ascending[i]);
    sequence_free(&a);
}

/* All ids of a split are the split: its order, and its states. */
Test(reader_select, all_ids_are_the_split)
{
    uint64_t ids[TRAIN], n = TRAIN;
    uint8_t state[APL_STATE_BYTES];
    size_t size = sizeof state;
    cr_assert_eq(apl_split_ids(fx.store, "train-val", ids, &n, NULL), APL_OK);
    apl_reader_options o = fixture_options();
    o.split = "train-val";
    struct sequence a = {0}, b = {0};
    apl_reader *r = fixture_reader(&o);
    read_epoch(r, &a);
    fixture_next_epoch(r);
    cr_assert_eq(apl_reader_state(r, state, &size, NULL), APL_OK);
    read_epoch(r, &b);
    apl_reader_close(r);
    o.ids = ids;
    o.id_count = (size_t)n;
    struct sequence c = whole_epoch(&o);
    check_same(&a, &c);
    o.state = state;
    o.state_size = size;
    struct sequence d = whole_epoch(&o);
    check_same(&b, &d);
    sequence_free(&a);
    sequence_free(&b);
    sequence_free(&c);
    sequence_free(&d);
}

static void check_resume(const apl_reader_options *options, size_t batches, const struct sequence *whole)
{
    uint8_t state[APL_STATE_BYTES];
    size_t size = sizeof state;
    struct sequence s = {0};
    apl_reader *r = fixture_reader(options);
    read_batches(r, &s, batches);
    cr_assert_eq(apl_reader_state(r, state, &size, NULL), APL_OK);
    apl_reader_close(r);
    apl_reader_options o = *options;
    o.state = state;
    o.state_size = size;
    o.batch_size = 11;
    r = fixture_reader(&o);
    read_epoch(r, &s);
    check_same(&s, whole);
    apl_reader_close(r);
    sequence_free(&s);
    if (batches > 1)
        return;
    o.id_count--;
    fixture_refused(&o, APL_E_MISMATCH);
    o.ids = NULL;
    o.id_count = 0;
    fixture_refused(&o, APL_E_MISMATCH);
}

Test(reader_select, resumes_at_every_batch_with_the_same_ids)
{
    for (unsigned streaming = 0; streaming < 2; streaming++) {
        apl_reader_options o = select_options();
        o.window = streaming ? 120 : 0;
        o.batch_size = 40;
        struct sequence whole = whole_epoch(&o);
        for (size_t batches = 0; batches <= whole.batches + 1; batches++)
            check_resume(&o, batches, &whole);
        sequence_free(&whole);
    }
}

Test(reader_select, ranks_and_lanes_share_the_ids)
{
    for (unsigned lanes = 1; lanes <= 6; lanes += 5)
        for (unsigned window = 0; window <= 300; window += 300) {
            apl_reader_options o = select_options();
            o.window = window;
            o.ranks.lanes = lanes == 1 ? 0 : lanes;
            struct sequence all = read_ranks(&o, 3);
            check_chosen(&all, 1);
            sequence_free(&all);
        }
}

Test(reader_select, one_record_is_enough)
{
    apl_reader_options o = select_options();
    o.id_count = 1;
    struct sequence s = whole_epoch(&o);
    cr_assert(s.count == 1 && s.ids[0] == chosen[0]);
    sequence_free(&s);
}

Test(reader_select, tells_the_first_bad_id)
{
    uint64_t ids[4] = {chosen[0], chosen[1], chosen[2], chosen[1]}, val[TRAIN], n = TRAIN;
    const char *said;
    apl_reader_options o = select_options();
    o.ids = ids;
    o.id_count = 4;
    said = fixture_refused(&o, APL_E_INVALID);
    cr_assert(strstr(said, "ids[3]") && strstr(said, "more than once"), "%s", said);
    ids[2] = TRAIN + 1; /* of another split of the source */
    said = fixture_refused(&o, APL_E_INVALID);
    cr_assert(strstr(said, "ids[2] is 701") && strstr(said, "train-val"), "%s", said);
    cr_assert_eq(apl_split_ids(fx.store, "val", val, &n, NULL), APL_OK);
    ids[1] = val[0];
    said = fixture_refused(&o, APL_E_INVALID);
    cr_assert(strstr(said, "ids[1]"), "%s", said);
    ids[0] = TRAIN + TEST;
    said = fixture_refused(&o, APL_E_INVALID);
    cr_assert(strstr(said, "ids[0] is 740") && strstr(said, "no record"), "%s", said);
    ids[0] = UINT64_MAX;
    fixture_refused(&o, APL_E_INVALID);
    o.id_count = 0;
    said = fixture_refused(&o, APL_E_INVALID);
    cr_assert(strstr(said, "ids is empty"), "%s", said);
    o.ids = NULL;
    o.id_count = 1;
    said = fixture_refused(&o, APL_E_INVALID);
    cr_assert(strstr(said, "ids is NULL"), "%s", said);
}
