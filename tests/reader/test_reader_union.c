/* Readers of several stores: one order over the records of them all. */
#include "union_fixture.h"

#include "hash.h"

#include <math.h>
#include <sys/wait.h>

TestSuite(reader_union, .init = union_set_up, .fini = union_tear_down, .timeout = 180);

/* --------------------------------------------------------------------------------------------- exactly once */

static void check_mix(unsigned mix)
{
    apl_reader_options o = fixture_mix(union_options(), mix, 250);
    apl_reader *r = fixture_reader(&o);
    for (unsigned epoch = 0; epoch < 3; epoch++) {
        struct sequence s = {0};
        apl_receipt receipt;
        read_epoch(r, &s);
        check_union(&s, o.reuse);
        cr_assert_eq(apl_reader_receipt(r, &receipt, sizeof receipt, NULL), APL_OK);
        cr_assert(receipt.delivered == s.count && receipt.missing == 0 && receipt.repeated == 0);
        sequence_free(&s);
        fixture_next_epoch(r);
    }
    apl_reader_close(r);
}

Test(reader_union, each_record_of_all_stores_once)
{
    for (unsigned mix = 0; mix < 32; mix++)
        check_mix(mix);
}

Test(reader_union, ranks_and_lanes_share_the_stores)
{
    for (unsigned lanes = 0; lanes <= 6; lanes += 6)
        for (unsigned window = 0; window <= 600; window += 600) {
            apl_reader_options o = union_options();
            o.window = window;
            o.ranks.lanes = lanes;
            struct sequence all = read_ranks(&o, 3);
            check_union(&all, 1);
            sequence_free(&all);
        }
}

Test(reader_union, a_list_of_ids_may_be_of_any_of_them)
{
    uint64_t ids[] = {THIRD + 99, 3, SECOND, SECOND + 299, 499, THIRD};
    apl_reader_options o = union_options();
    o.ids = ids;
    o.id_count = COUNT(ids);
    for (unsigned n = COUNT(ids); n > 0; n--) {
        o.id_count = n;
        struct sequence s = whole_epoch(&o);
        cr_assert_eq(s.count, n);
        for (unsigned i = 0; i < n; i++) {
            unsigned seen = 0;
            for (unsigned k = 0; k < n; k++)
                seen += s.ids[k] == ids[i];
            cr_assert_eq(seen, 1);
        }
        sequence_free(&s);
    }
    ids[0] = SECOND + 300; /* of its test */
    o.id_count = 2;
    const char *said = fixture_refused(&o, APL_E_INVALID);
    cr_assert(strstr(said, "/second") && strstr(said, "ids[0] is 860"), "%s", said);
    ids[0] = ALL;
    fixture_refused(&o, APL_E_INVALID);
}

/* ------------------------------------------------------------------------------------------------ the order */

Test(reader_union, strict_order_never_changes)
{
    static const uint64_t digests[2] = {0xfe7c95de42c611d0, 0x7e637671f7ea2c59};
    for (unsigned streaming = 0; streaming < 2; streaming++)
        for (unsigned threads = 0; threads < 5; threads += 1 + threads / 2) {
            apl_reader_options o = union_options();
            o.seed = 11;
            o.window = streaming ? 150 : 0;
            o.threads = threads ? threads : APL_NO_THREADS;
            check_digest(&o, digests[streaming]);
        }
}

/* How many of the second store come in the first half of an epoch: 150 of 300 are to be expected, with a variance of
 * 300/900 * 600/900 * 450 * 450/899 = 50. */
Test(reader_union, is_one_permutation_of_them_all)
{
    double sum = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        apl_reader_options o = union_options();
        o.seed = seed;
        unsigned early = 0;
        struct sequence s = whole_epoch(&o);
        for (size_t i = 0; i < RECORDS / 2; i++)
            early += s.ids[i] >= SECOND && s.ids[i] < SECOND + 300;
        cr_assert(fabs((double)early - 150) < 5 * sqrt(50), "%u", early);
        sum += early;
        sequence_free(&s);
    }
    cr_assert(fabs(sum / 40 - 150) < 4 * sqrt(50.0 / 40), "%f", sum / 40);
}

Test(reader_union, sequential_goes_from_store_to_store)
{
    apl_reader_options o = union_options();
    o.sequential = 1;
    o.threads = 2;
    struct sequence s = whole_epoch(&o);
    check_union(&s, 1);
    for (size_t i = 1; i < s.count; i++)
        cr_assert_lt(s.ids[i - 1], s.ids[i]);
    sequence_free(&s);
}

/* A reader without a mix is one of one store, whose states stay valid. */
Test(reader_union, none_mixed_in_is_the_store_alone)
{
    apl_reader_options o = fixture_options();
    struct sequence a = whole_epoch(&o);
    o.mix.sources = &(apl_source){0};
    o.mix.count = 0;
    struct sequence b = whole_epoch(&o);
    check_same(&a, &b);
    sequence_free(&a);
    sequence_free(&b);
}

/* ------------------------------------------------------------------------------------------------- resuming */

static size_t save(apl_reader *r, uint8_t *state, size_t room)
{
    apl_error err = {0};
    cr_assert_eq(apl_reader_state(r, state, &room, &err), APL_OK, "%s", err.message);
    return room;
}

static void check_resume(const apl_reader_options *options, size_t batches, const struct sequence *whole)
{
    uint8_t state[1024];
    struct sequence s = {0};
    apl_reader *r = fixture_reader(options);
    bool over = !read_batches(r, &s, batches);
    apl_reader_options o = *options;
    o.state_size = save(r, state, sizeof state);
    o.state = state;
    o.batch_size = 13;
    o.threads = batches % 3 ? (unsigned)(batches % 3) : APL_NO_THREADS;
    apl_reader_close(r);
    r = fixture_reader(&o);
    if (over)
        cr_assert_null(fixture_next(r));
    read_epoch(r, &s);
    if (whole)
        check_same(&s, whole);
    check_union(&s, 1);
    apl_reader_close(r);
    sequence_free(&s);
}

Test(reader_union, resumes_at_every_batch)
{
    for (unsigned streaming = 0; streaming < 2; streaming++) {
        apl_reader_options o = union_options();
        o.window = streaming ? 200 : 0;
        o.batch_size = 40;
        struct sequence whole = whole_epoch(&o);
        for (size_t batches = 0; batches <= whole.batches + 1; batches++)
            check_resume(&o, batches, &whole);
        sequence_free(&whole);
        o.order = APL_FREE;
        for (size_t batches = 0; batches <= 24; batches += 3)
            check_resume(&o, batches, NULL);
    }
}

Test(reader_union, a_state_belongs_to_the_stores_and_their_order)
{
    uint8_t state[APL_STATE_BYTES], alone[APL_STATE_BYTES];
    apl_source swapped[] = {{.size = sizeof(apl_source), .store = third},
                            {.size = sizeof(apl_source), .store = second}},
               other[] = {{.size = sizeof(apl_source), .store = second, .split = "test"},
                          {.size = sizeof(apl_source), .store = third}};
    apl_reader_options o = union_options(), single = fixture_options();
    apl_reader *r = fixture_reader(&o);
    o.state_size = save(r, state, sizeof state);
    o.state = state;
    apl_reader_close(r);
    apl_reader_close(fixture_reader(&o));
    o.mix.sources = swapped;
    const char *said = fixture_refused(&o, APL_E_MISMATCH);
    cr_assert(strstr(said, "order"), "%s", said);
    o.mix.sources = other;
    fixture_refused(&o, APL_E_MISMATCH);
    o.mix.count = 1;
    fixture_refused(&o, APL_E_MISMATCH);
    o.mix.count = 0;
    fixture_refused(&o, APL_E_MISMATCH);
    r = fixture_reader(&single);
    cr_assert_eq(save(r, alone, sizeof alone), sizeof alone);
    apl_reader_close(r);
    o = union_options();
    o.state = alone;
    o.state_size = sizeof alone;
    fixture_refused(&o, APL_E_MISMATCH);
}

/* ---------------------------------------------------------------------------------------------------- whose */

Test(reader_union, tells_whose_a_record_is)
{
    static const struct {
        uint64_t id, own;
        size_t source;
    } cases[] = {{0, 0, 0},           {559, 559, 0}, {SECOND, 0, 1},
                 {THIRD - 1, 319, 1}, {THIRD, 0, 2}, {ALL - 1, 99, 2}};
    apl_reader_options o = union_options();
    apl_reader *r = fixture_reader(&o);
    apl_error err = {0};
    size_t source = 9;
    uint64_t own = 9;
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_assert_eq(apl_reader_source(r, cases[i].id, &source, &own, &err), APL_OK);
        cr_assert(source == cases[i].source && own == cases[i].own);
    }
    cr_assert_eq(apl_reader_source(r, ALL, &source, &own, &err), APL_E_NOTFOUND);
    cr_assert(err.first_record == ALL && err.records == 1);
    cr_assert_eq(apl_reader_source(r, UINT64_MAX, &source, &own, &err), APL_E_NOTFOUND);
    cr_assert_eq(apl_reader_source(NULL, 0, &source, &own, &err), APL_E_INVALID);
    cr_assert_eq(apl_reader_source(r, 0, NULL, &own, &err), APL_E_INVALID);
    cr_assert_eq(apl_reader_source(r, 0, &source, NULL, &err), APL_E_INVALID);
    apl_reader_close(r);
}

/* The same store twice: each record comes under two ids. */
Test(reader_union, a_store_may_come_twice)
{
    apl_source again[] = {{.size = sizeof(apl_source), .store = fx.store, .split = "train"}};
    static const char *const label[] = {"label"};
    apl_reader_options o = fixture_options();
    unsigned seen[2][560] = {{0}};
    apl_batch *b;
    o.mix.sources = again;
    o.mix.count = 1;
    o.threads = 2;
    o.fields = label;
    o.field_count = 1;
    apl_reader *r = fixture_reader(&o);
    while ((b = fixture_next(r))) {
        const uint8_t *labels = apl_batch_column(b, FIELD_LABEL)->data;
        for (size_t i = 0; i < apl_batch_rows(b); i++) {
            size_t source;
            uint64_t own;
            cr_assert_eq(apl_reader_source(r, apl_batch_ids(b)[i], &source, &own, NULL), APL_OK);
            cr_assert_eq(labels[i], fixture_label(own));
            seen[source][own]++;
        }
        apl_batch_release(b);
    }
    for (unsigned i = 0; i < 2 * 560; i++)
        cr_assert_eq(seen[i / 560][i % 560], i % 560 < 500);
    apl_reader_close(r);
}

/* ------------------------------------------------------------------------------------------------- lifetime */

Test(reader_union, stores_may_be_closed_before_the_reader)
{
    for (unsigned threads = 0; threads < 3; threads++) {
        apl_store *kept[3] = {fx.store, second, third};
        apl_reader_options o = union_options();
        struct sequence s = {0};
        o.threads = threads ? threads : APL_NO_THREADS;
        o.window = 150;
        apl_reader *r = fixture_reader(&o);
        for (unsigned i = 0; i < 3; i++)
            apl_store_close(kept[i]);
        open_store("db", APL_IO_READ, &fx.store);
        open_store("second", APL_IO_READ, &second);
        open_store("third", APL_IO_MAP, &third);
        read_epoch(r, &s);
        check_union(&s, 1);
        apl_reader_close(r);
        sequence_free(&s);
    }
}

Test(reader_union, a_child_is_told)
{
    apl_reader_options o = union_options();
    o.threads = 2;
    apl_reader *r = fixture_reader(&o);
    pid_t child = fork();
    if (child == 0) {
        apl_batch *b;
        apl_status status = apl_reader_next(r, &b, NULL);
        apl_reader_close(r);
        _exit(status == APL_E_FORKED ? 0 : 1);
    }
    int status = 0;
    cr_assert(child > 0 && waitpid(child, &status, 0) == child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    struct sequence s = {0};
    read_epoch(r, &s);
    check_union(&s, 1);
    apl_reader_close(r);
    sequence_free(&s);
}
