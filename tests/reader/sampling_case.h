/* Ways to sample, for readers of the fixture's store, and what is to come of them. */
#ifndef SAMPLING_CASE_H
#define SAMPLING_CASE_H

#include "delivery.h"
#include "reader.h"
#include "reader_fixture.h"

#define TRAIN 101
#define BLOCK 8

static void set_up(void)
{
    fixture_make(TRAIN, 9, BLOCK);
}

#define LAWS 6u

static const char *const law_names[LAWS] = {"classes, replacement",
                                            "classes, no replacement",
                                            "records, replacement",
                                            "records, no replacement",
                                            "all alike",
                                            "one class, far too often"};

/* The sampling of a law; its weights live until the next call. */
static const apl_sampling *law(unsigned i)
{
    static apl_sampling laws[LAWS];
    static double classes[CLASSES], records[TRAIN];
    for (unsigned c = 0; c < CLASSES; c++)
        classes[c] = c % 4;
    for (unsigned k = 0; k < TRAIN; k++)
        records[k] = k % 3 ? 1.0 / (1 + k % 7) : 0;
    apl_sampling s = APL_SAMPLING_INIT;
    s.replacement = i == 0 || i == 2;
    if (i < 2) {
        s.field = "label";
        s.weights = classes;
        s.weight_count = CLASSES;
        s.records = i ? 0 : 150;
    } else if (i < 4) {
        s.weights = records;
        s.weight_count = TRAIN;
        s.records = i == 3 ? 33 : 0;
    } else if (i == 4) {
        s.records = 40;
    } else { /* more of a block than any window holds */
        static const double one[CLASSES] = {0, 0, 0, 1};
        s.field = "label";
        s.weights = one;
        s.weight_count = CLASSES;
        s.records = 300;
    }
    laws[i] = s;
    return &laws[i];
}

/* Every way to read: kept slots or not, both orders, threads. */
#define WAYS 12u
static apl_reader_options way(unsigned i, unsigned l)
{
    static const unsigned threads[] = {APL_NO_THREADS, 1, 4};
    apl_reader_options o = fixture_options();
    o.batch_size = 7;
    o.window = i & 1 ? 20 : 0;
    o.order = i & 2 ? APL_FREE : APL_STRICT;
    o.threads = threads[i / 4];
    o.seed = 10 + l;
    o.sampling = law(l);
    return o;
}

/* How often each record comes in the epoch that has been handed out: before the next one begins. */
static void expected_counts(const apl_reader *r, uint32_t *counts)
{
    const uint32_t *first = delivery_sample(&r->spec, r->outlets[0].tally.epoch);
    for (uint32_t i = 0; i < TRAIN; i++)
        counts[i] = first[i + 1] - first[i];
}

static void check_counts(const struct sequence *s, const uint32_t *expected, const char *what)
{
    uint32_t counts[TRAIN] = {0};
    for (size_t i = 0; i < s->count; i++) {
        cr_assert_lt(s->ids[i], TRAIN);
        counts[s->ids[i]]++;
    }
    for (unsigned i = 0; i < TRAIN; i++)
        cr_assert_eq(counts[i], expected[i], "%s: record %u comes %u times, not %u", what, i, counts[i],
                     expected[i]);
}

#endif
