/* Readers of several stores with weights: how often each store comes, and each of its records. */
#include "union_fixture.h"

#include <limits.h>
#include <math.h>

TestSuite(reader_weights, .init = union_set_up, .fini = union_tear_down, .timeout = 120);

#define STORES 3u
static const unsigned sizes[STORES] = {500, 300, 100};

static unsigned store_of(uint64_t id)
{
    return id < SECOND ? 0 : id < THIRD ? 1 : 2;
}

static apl_reader_options weighted(double first, double next, double last)
{
    apl_reader_options o = union_options();
    apl_source *mix = (apl_source *)o.mix.sources;
    o.mix.weight = first;
    mix[0].weight = next;
    mix[1].weight = last;
    return o;
}

struct counts {
    unsigned stores[STORES], records[ALL], most[STORES], least[STORES];
};

static struct counts count(const struct sequence *s)
{
    struct counts c = {.least = {UINT_MAX, UINT_MAX, UINT_MAX}};
    for (size_t i = 0; i < s->count; i++) {
        cr_assert(s->ids[i] < ALL && is_train(s->ids[i]));
        c.stores[store_of(s->ids[i])]++;
        c.records[s->ids[i]]++;
    }
    for (uint64_t id = 0; id < ALL; id++) {
        unsigned k = store_of(id), n = c.records[id];
        if (!is_train(id))
            continue;
        c.most[k] = n > c.most[k] ? n : c.most[k];
        c.least[k] = n < c.least[k] ? n : c.least[k];
    }
    return c;
}

/* Each store so often, and its records equally often but for some that come once more. */
static void check_shares(const struct sequence *s, const unsigned *shares)
{
    struct counts c = count(s);
    for (unsigned k = 0; k < STORES; k++) {
        cr_assert_eq(c.stores[k], shares[k], "store %u: %u", k, c.stores[k]);
        cr_assert_eq(c.least[k], shares[k] / sizes[k]);
        cr_assert_eq(c.most[k], (shares[k] + sizes[k] - 1) / sizes[k]);
    }
}

Test(reader_weights, stores_come_in_proportion)
{
    static const unsigned shares[][STORES] = {{300, 300, 300}, {100, 200, 600}, {450, 225, 225}};
    for (unsigned i = 0; i < 12; i++) {
        const unsigned *share = shares[i % 3];
        apl_reader_options o = weighted(share[0] / 100.0, share[1] / 100.0, share[2] / 100.0);
        o.seed = i;
        o.window = i & 1 ? 250 : 0;
        o.order = i & 2 ? APL_FREE : APL_STRICT;
        o.threads = i & 4 ? 3 : APL_NO_THREADS;
        apl_reader *r = fixture_reader(&o);
        for (unsigned epoch = 0; epoch < 3; epoch++) {
            struct sequence s = {0};
            read_epoch(r, &s);
            check_shares(&s, share);
            sequence_free(&s);
            fixture_next_epoch(r);
        }
        apl_reader_close(r);
    }
}

/* Which records of the large store come is drawn again. */
Test(reader_weights, epochs_differ)
{
    apl_reader_options o = weighted(1, 1, 1);
    struct sequence s[2] = {{0}};
    apl_reader *r = fixture_reader(&o);
    read_epoch(r, &s[0]);
    fixture_next_epoch(r);
    read_epoch(r, &s[1]);
    struct counts a = count(&s[0]), b = count(&s[1]);
    unsigned both = 0;
    for (unsigned id = 0; id < sizes[0]; id++)
        both += a.records[id] && b.records[id];
    /* 300 of 500, and again: 180 in common are to be expected, with a variance of 28.9 */
    cr_assert(both > 145 && both < 215, "%u", both);
    apl_reader_close(r);
    sequence_free(&s[0]);
    sequence_free(&s[1]);
}

Test(reader_weights, an_epoch_is_as_long_as_asked_for)
{
    apl_sampling sampling = APL_SAMPLING_INIT;
    sampling.records = 2000;
    apl_reader_options o = weighted(1, 2, 1);
    o.sampling = &sampling;
    o.batch_size = 300;
    apl_reader *r = fixture_reader(&o);
    struct sequence s = {0};
    cr_assert_eq(apl_reader_batches(r), 7);
    read_epoch(r, &s);
    check_shares(&s, (const unsigned[]){500, 1000, 500});
    apl_reader_close(r);
    sequence_free(&s);
    sampling.records = 10; /* 2.5, 5 and 2.5: chance decides about the remainders */
    o.batch_size = 16;
    unsigned first[4] = {0};
    for (o.first_epoch = 0; o.first_epoch < 60; o.first_epoch++) {
        s = (struct sequence){0};
        r = fixture_reader(&o);
        read_epoch(r, &s);
        struct counts c = count(&s);
        cr_assert(s.count == 10 && c.stores[1] == 5 && c.stores[0] >= 2 && c.stores[0] <= 3);
        first[c.stores[0]]++;
        apl_reader_close(r);
        sequence_free(&s);
    }
    cr_assert(first[2] > 8 && first[3] > 8, "%u %u", first[2], first[3]);
}

/* Stores 1 : 4 : 5 in 20 epochs of 900 draws. Binomial: within 5 deviations; records of a store are alike. */
Test(reader_weights, draws_are_independent_with_replacement)
{
    static const double weights[STORES] = {0.1, 0.4, 0.5};
    apl_sampling sampling = APL_SAMPLING_INIT;
    sampling.replacement = 1;
    apl_reader_options o = weighted(0.1, 0.4, 0.5);
    o.sampling = &sampling;
    o.threads = 2;
    struct sequence s = {0};
    apl_reader *r = fixture_reader(&o);
    for (unsigned epoch = 0; epoch < 20; epoch++) {
        read_epoch(r, &s);
        fixture_next_epoch(r);
    }
    apl_reader_close(r);
    cr_assert_eq(s.count, 20 * 900);
    struct counts c = count(&s);
    for (unsigned k = 0; k < STORES; k++) {
        double n = 18000, expected = n * weights[k], squares = 0, each = expected / sizes[k];
        double deviation = sqrt(expected * (1 - weights[k]));
        cr_assert(fabs(c.stores[k] - expected) < 5 * deviation, "store %u: %u", k, c.stores[k]);
        for (uint64_t id = 0; id < ALL; id++)
            if (is_train(id) && store_of(id) == k)
                squares += (c.records[id] - each) * (c.records[id] - each) / each;
        cr_assert(fabs(squares - sizes[k]) < 6 * sqrt(2.0 * sizes[k]), "store %u: chi square %f", k, squares);
    }
    sequence_free(&s);
}

Test(reader_weights, any_number_of_threads_and_ranks)
{
    apl_reader_options o = weighted(1, 3, 2);
    o.seed = 3;
    struct sequence s = whole_epoch(&o), all = {0};
    for (o.threads = 1; o.threads < 5; o.threads++) {
        struct sequence again = whole_epoch(&o);
        check_same(&s, &again);
        sequence_free(&again);
    }
    o.ranks.world = 3;
    for (o.ranks.rank = 0; o.ranks.rank < 3; o.ranks.rank++) {
        apl_reader *r = fixture_reader(&o);
        read_epoch(r, &all);
        apl_reader_close(r);
    }
    check_shares(&all, (const unsigned[]){150, 450, 300});
    sequence_free(&all);
    sequence_free(&s);
}

static void check_resume(apl_reader_options o, size_t batches, const struct sequence *whole)
{
    uint8_t state[APL_STATE_BYTES];
    struct sequence s = {0};
    apl_reader *r = fixture_reader(&o);
    read_batches(r, &s, batches);
    o.state_size = sizeof state;
    cr_assert_eq(apl_reader_state(r, state, &o.state_size, NULL), APL_OK);
    apl_reader_close(r);
    o.state = state;
    o.batch_size = 17;
    o.threads = 2;
    r = fixture_reader(&o);
    read_epoch(r, &s);
    check_same(&s, whole);
    apl_reader_close(r);
    sequence_free(&s);
    o.mix.weight = 1.25;
    fixture_refused(&o, APL_E_MISMATCH);
}

Test(reader_weights, resumes_at_every_batch)
{
    apl_reader_options o = weighted(1, 3, 2);
    for (o.window = 0; o.window <= 200; o.window += 200) {
        o.batch_size = 50;
        struct sequence whole = whole_epoch(&o);
        for (size_t batches = 0; batches <= whole.batches; batches++)
            check_resume(o, batches, &whole);
        sequence_free(&whole);
    }
}

/* ----------------------------------------------------------------------------------- classes of all stores */

/* A store whose first field is the label, where the others have it second; of classes 0 and 1. */
static apl_store *labels_first(void)
{
    char path[128];
    apl_store *store;
    apl_writer *w = NULL;
    static const char *const classes[CLASSES] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    int64_t shape[3] = {3, SIDE, SIDE};
    snprintf(path, sizeof path, "%s/labels", fx.place);
    cr_assert_eq(apl_writer_open(path, NULL, &w, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "label", APL_U8, APL_TARGET, 0, NULL, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 3, shape, NULL), APL_OK);
    cr_assert_eq(apl_writer_set_classes(w, "label", classes, CLASSES, NULL), APL_OK);
    cr_assert_eq(apl_writer_begin_member(w, "m", "train", 0, NULL), APL_OK);
    for (unsigned i = 0; i < 400; i++) {
        uint8_t image[IMAGE_BYTES], label = i & 1;
        fixture_image(i, image);
        cr_assert_eq(apl_writer_append(w, (apl_value[]){{&label, NULL}, {image, NULL}}, NULL), APL_OK);
    }
    cr_assert_eq(apl_writer_commit(w, NULL), APL_OK);
    apl_writer_close(w);
    open_store("labels", APL_IO_AUTO, &store);
    return store;
}

Test(reader_weights, classes_are_those_of_all_stores)
{
    static const char *const label[] = {"label"};
    apl_store *labels = labels_first();
    apl_source mix = {.size = sizeof(apl_source), .store = labels};
    apl_sampling sampling = APL_SAMPLING_INIT;
    apl_reader_options o = fixture_options();
    unsigned seen[CLASSES] = {0}, of_labels = 0;
    sampling.field = "label";
    o.mix.sources = &mix;
    o.mix.count = 1;
    o.sampling = &sampling;
    o.fields = label;
    o.field_count = 1;
    apl_reader *r = fixture_reader(&o);
    for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b))
        for (size_t i = 0; i < apl_batch_rows(b); i++) {
            uint64_t id = apl_batch_ids(b)[i];
            uint8_t value = ((const uint8_t *)apl_batch_column(b, FIELD_LABEL)->data)[i];
            cr_assert_eq(value, id < SECOND ? fixture_label(id) : (id - SECOND) & 1);
            seen[value]++;
            of_labels += id >= SECOND;
        }
    for (unsigned c = 0; c < CLASSES; c++)
        cr_assert_eq(seen[c], 90);
    cr_assert(of_labels > 100 && of_labels < 180, "two classes of ten, and four fifths of these: %u",
              of_labels);
    apl_reader_close(r);
    mix.weight = o.mix.weight = 1;
    const char *said = fixture_refused(&o, APL_E_INVALID);
    cr_assert(strstr(said, "exclude each other"), "%s", said);
    apl_store_close(labels);
}

/* The field that is sampled by must be the same everywhere, wanted or not. */
Test(reader_weights, a_sampled_field_must_be_alike)
{
    static const char *const image[] = {"image"};
    apl_sampling sampling = APL_SAMPLING_INIT;
    apl_store *labels = labels_first(), *first = fx.store;
    apl_source mix = {.size = sizeof(apl_source), .store = first};
    apl_reader_options o = fixture_options();
    sampling.field = "track";
    o.mix.sources = &mix;
    o.mix.count = 1;
    o.sampling = &sampling;
    o.fields = image;
    o.field_count = 1;
    fixture_refused(&o, APL_E_INVALID);
    mix.store = labels;
    const char *said = fixture_refused(&o, APL_E_MISMATCH);
    cr_assert(strstr(said, "has no field track"), "%s", said);
    fx.store = labels;
    mix.store = first;
    fixture_refused(&o, APL_E_NOTFOUND);
    fx.store = first;
    apl_store_close(labels);
}

/* --------------------------------------------------------------------------------------------------- misuse */

static void refused(const apl_reader_options *o, const char *words)
{
    const char *said = fixture_refused(o, APL_E_INVALID);
    cr_assert(strstr(said, words), "%s", said);
}

Test(reader_weights, what_is_no_weight)
{
    static const double bad[] = {0, -1, NAN, INFINITY, -INFINITY};
    apl_reader_options o;
    for (size_t i = 0; i < COUNT(bad); i++) {
        o = weighted(1, bad[i], 1);
        refused(&o, "/second: its weight");
        o = weighted(1, 1, bad[i]);
        refused(&o, "/third: its weight");
        o = weighted(i ? bad[i] : 0, 1, 1);
        refused(&o, "/db: its weight");
    }
    o = fixture_options();
    o.mix.weight = 1;
    refused(&o, "there is no mix");
}

Test(reader_weights, what_weights_exclude)
{
    static const double one[] = {1};
    uint64_t ids[] = {1, SECOND + 1};
    apl_sampling sampling = APL_SAMPLING_INIT;
    apl_reader_options o = weighted(1, 1, 1);
    o.reuse = 2;
    refused(&o, "reuse");
    o.reuse = 0;
    o.sequential = 1;
    refused(&o, "sequential");
    o.sequential = 0;
    o.ids = ids;
    o.id_count = COUNT(ids);
    refused(&o, "/third: has a weight");
    sampling.weights = one;
    sampling.weight_count = 1;
    o.ids = NULL;
    o.id_count = 0;
    o.sampling = &sampling;
    refused(&o, "");
    sampling.weights = NULL;
    sampling.weight_count = 0;
    sampling.size = 1;
    refused(&o, "size");
}
