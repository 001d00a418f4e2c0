/* Sides of records: in proportion, equal inputs together, and the same whatever holds the records. */
#include "split_fixture.h"

#include <math.h>

TestSuite(split_divide, .init = set_up, .fini = tear_down);

#define TRAIN 6000u
#define TEST  500u

/* The records of train, but for those whose inputs have come before. */
static uint32_t groups_below(uint32_t n)
{
    uint32_t groups = 0;
    for (uint32_t i = 0; i < n; i++)
        groups += input_of(i) == i;
    return groups;
}

Test(split_divide, ratios_are_binomial)
{
    static const double ratios[] = {0.001, 0.1, 0.25, 0.5, 0.9, 0.999};
    apl_store *store = plain_store(TRAIN, TEST);
    for (size_t r = 0; r < sizeof ratios / sizeof *ratios; r++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            apl_split_options o = split_options("part", ratios[r], NULL);
            o.seed = seed;
            o.replace = 1;
            OK(apl_split_make(store, &o, &err));
            uint64_t n, rest;
            uint8_t *has = records_of(store, "part", TRAIN);
            uint32_t groups = 0;
            for (uint32_t i = 0; i < TRAIN; i++)
                groups += has[i] && input_of(i) == i;
            double all = groups_below(TRAIN), mean = all * ratios[r];
            /* six standard deviations, and a little where those are small */
            cr_assert(fabs(groups - mean) < 6 * sqrt(mean * (1 - ratios[r])) + 2, "%g: %u of %g", ratios[r],
                      groups, all);
            free(has);
            OK(apl_split_ids(store, "part", NULL, &n, &err));
            OK(apl_split_ids(store, "train-part", NULL, &rest, &err));
            cr_assert_eq(n + rest, TRAIN);
        }
    apl_store_close(store);
}

static void check_equals_together(const uint8_t *has)
{
    for (uint32_t i = 0; i < TRAIN; i++)
        cr_assert_eq(has[i], has[input_of(i)], "record %u and its like, %u", i, input_of(i));
}

Test(split_divide, equal_inputs_stay_together)
{
    apl_store *store = plain_store(TRAIN, TEST);
    make_split(store, "val", 0.3, NULL, NULL);
    make_split(store, "strat", 0.3, NULL, "label");
    uint8_t *val = records_of(store, "val", TRAIN), *strat = records_of(store, "strat", TRAIN);
    check_equals_together(val);
    check_equals_together(strat);
    free(val);
    free(strat);
    apl_store_close(store);
}

Test(split_divide, growth_moves_no_record)
{
    apl_store *small = plain_store(1500, 100);
    make_split(small, "val", 0.2, NULL, NULL);
    uint8_t *before = records_of(small, "val", 1500);
    apl_store_close(small);
    shell("mv '%s' '%s/small'", db, place);
    apl_store *large = plain_store(TRAIN, TEST);
    make_split(large, "val", 0.2, NULL, NULL);
    uint8_t *after = records_of(large, "val", TRAIN);
    cr_assert_eq(memcmp(before, after, 1500), 0);
    free(before);
    free(after);
    apl_store_close(large);
}

/* A larger part holds the smaller one, and another seed is another split. */
Test(split_divide, ratio_and_seed)
{
    apl_store *store = plain_store(TRAIN, TEST);
    make_split(store, "small", 0.1, NULL, NULL);
    make_split(store, "large", 0.4, NULL, NULL);
    apl_split_options o = split_options("other", 0.1, NULL);
    o.seed = 1;
    OK(apl_split_make(store, &o, &err));
    uint8_t *small = records_of(store, "small", TRAIN), *large = records_of(store, "large", TRAIN),
            *other = records_of(store, "other", TRAIN);
    uint32_t in_small = 0, in_both = 0;
    for (uint32_t i = 0; i < TRAIN; i++) {
        cr_assert(large[i] || !small[i]);
        in_small += small[i];
        in_both += small[i] && other[i];
    }
    cr_assert(in_both < in_small / 4, "%u of %u", in_both, in_small);
    free(small);
    free(large);
    free(other);
    apl_store_close(store);
}

/* Digests of the sides, record by record. They never change: a split made by any version is the same. */
static void check_pinned(const uint8_t *has, uint64_t low, uint64_t high)
{
    struct hash128 digest = hash_xxh3_128(has, TRAIN);
    cr_assert(digest.low == low && digest.high == high, "0x%016llx, 0x%016llx",
              (unsigned long long)digest.low, (unsigned long long)digest.high);
}

/* Whatever holds the records, and however many threads divide them. */
Test(split_divide, same_sides_everywhere)
{
    static const unsigned threads[] = {1, 2, 3, 8, 32};
    for (unsigned k = 0; k < 5; k++) {
        struct kind kind = {TRAIN, TEST, APL_WRITER_OPTIONS_INIT, k == 1};
        kind.options.block_records = (uint32_t[]){64, 1, 1000, 128, 37}[k];
        kind.options.codec = (const char *[]){NULL, "raw", "zstd", NULL, "delta"}[k];
        kind.options.shuffle = k >= 3;
        kind.options.shuffle_seed = k;
        kind.options.replace = 1;
        apl_store *store;
        make_store(db, &kind);
        OK(apl_store_open(db, NULL, &store, &err));
        apl_split_options o = split_options("val", 0.1, NULL);
        o.seed = 7;
        o.threads = threads[k];
        o.replace = 1;
        OK(apl_split_make(store, &o, &err));
        o.name = "strat";
        o.stratify = "label";
        OK(apl_split_make(store, &o, &err));
        uint8_t *val = records_of(store, "val", TRAIN), *strat = records_of(store, "strat", TRAIN);
        check_pinned(val, 0x1bb7b770dc1f5caf, 0xcb993b6358619e51);
        check_pinned(strat, 0xa949abda436816f3, 0xb433a60e88f39de2);
        OK(apl_split_verify(store, "val", threads[4 - k], &err));
        OK(apl_split_verify(store, "strat", threads[4 - k], &err));
        free(val);
        free(strat);
        apl_store_close(store);
    }
}

/* Groups with several labels count as one of the lowest. */
static uint8_t class_of_group(uint32_t i, const uint8_t *least)
{
    return least[input_of(i)];
}

Test(split_divide, stratified_to_within_a_group)
{
    static const double ratios[] = {0.01, 0.1, 0.3, 0.5, 0.97};
    uint8_t *least = malloc(TRAIN);
    memset(least, 255, TRAIN);
    for (uint32_t i = 0; i < TRAIN; i++)
        least[input_of(i)] = label_of(i) < least[input_of(i)] ? label_of(i) : least[input_of(i)];
    apl_store *store = plain_store(TRAIN, TEST);
    for (size_t r = 0; r < sizeof ratios / sizeof *ratios; r++) {
        apl_split_options o = split_options("part", ratios[r], NULL);
        o.stratify = "label";
        o.replace = 1;
        OK(apl_split_make(store, &o, &err));
        uint8_t *has = records_of(store, "part", TRAIN);
        uint32_t all[CLASSES] = {0}, in[CLASSES] = {0};
        for (uint32_t i = 0; i < TRAIN; i++) {
            all[class_of_group(i, least)]++;
            in[class_of_group(i, least)] += has[i];
        }
        for (unsigned c = 0; c < CLASSES; c++) { /* groups have up to three records */
            double due = floor(ratios[r] * all[c] + 0.5);
            cr_assert(in[c] <= due && in[c] > due - 3, "%g, class %u: %u, due %g", ratios[r], c, in[c], due);
        }
        free(has);
    }
    free(least);
    apl_store_close(store);
}

/* Is a split by hash independent of the label? On records without equals, at a pinned seed. */
Test(split_divide, classes_do_not_matter)
{
    apl_store *store = plain_store(TRAIN, TEST);
    make_split(store, "val", 0.3, NULL, NULL);
    uint8_t *has = records_of(store, "val", TRAIN);
    double in[CLASSES][2] = {{0}}, sides[2] = {0}, all = 0, chi2 = 0;
    for (uint32_t i = 0; i < TRAIN; i++) {
        if (input_of(i) != i)
            continue;
        in[label_of(i)][has[i]]++;
        sides[has[i]]++;
        all++;
    }
    for (unsigned c = 0; c < CLASSES; c++)
        for (unsigned s = 0; s < 2; s++) {
            double due = (in[c][0] + in[c][1]) * sides[s] / all;
            chi2 += (in[c][s] - due) * (in[c][s] - due) / due;
        }
    cr_assert(chi2 < 44.8, "chi-square %g with 9 degrees of freedom", chi2); /* one in a million is above */
    free(has);
    apl_store_close(store);
}

Test(split_divide, nested)
{
    apl_store *store = plain_store(TRAIN, TEST);
    make_split(store, "val", 0.2, NULL, NULL);
    make_split(store, "dev", 0.25, "train-val", NULL); /* the same seed is as good as another */
    make_split(store, "half", 0.5, "val", "label");
    make_split(store, "tiny", 0.1, "train-val-dev", NULL);
    uint8_t *val = records_of(store, "val", TRAIN), *dev = records_of(store, "dev", TRAIN),
            *rest = records_of(store, "train-val-dev", TRAIN), *half = records_of(store, "half", TRAIN),
            *other = records_of(store, "val-half", TRAIN), *tiny = records_of(store, "tiny", TRAIN);
    uint32_t in_dev = 0, in_rest = 0;
    for (uint32_t i = 0; i < TRAIN; i++) {
        cr_assert_eq(val[i] + dev[i] + rest[i], 1);
        cr_assert_eq(half[i] + other[i], val[i]);
        cr_assert(rest[i] || !tiny[i]);
        in_dev += dev[i];
        in_rest += rest[i];
    }
    cr_assert(in_dev * 3.0 > in_rest * 0.85 && in_dev * 3.0 < in_rest * 1.15, "%u, %u", in_dev, in_rest);
    /* once replaced, a parent no longer fits, nor a parent's parent; but a file needs no other: its parent can go */
    OK(apl_split_verify(store, "dev", 2, &err));
    apl_split_options o = split_options("val", 0.3, NULL);
    o.replace = 1;
    OK(apl_split_make(store, &o, &err));
    FAILS(APL_E_MISMATCH, "dev.split: split val, which it comes from, has been replaced since",
          apl_split_verify(store, "dev", 2, &err));
    FAILS(APL_E_MISMATCH, "half.split: split val", apl_split_verify(store, "half", 2, &err));
    FAILS(APL_E_MISMATCH, "tiny.split: split val", apl_split_verify(store, "tiny", 2, &err));
    shell("rm -f '%s/val.split'", db);
    uint8_t *again = records_of(store, "train-val-dev", TRAIN);
    cr_assert_eq(memcmp(rest, again, TRAIN), 0);
    OK(apl_split_verify(store, "dev", 2, &err));
    OK(apl_split_verify(store, "half", 2, &err));
    uint8_t *all[] = {val, dev, rest, half, other, tiny, again};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    apl_store_close(store);
}

Test(split_divide, empty_sides_and_parents)
{
    apl_store *store = plain_store(3, 0);
    uint64_t n, ids[3];
    make_split(store, "few", 1e-15, NULL, NULL);
    OK(apl_split_ids(store, "few", ids, (n = 3, &n), &err));
    cr_assert_eq(n, 0);
    OK(apl_split_ids(store, "train-few", ids, (n = 3, &n), &err));
    cr_assert(n == 3 && ids[0] == 0 && ids[2] == 2);
    make_split(store, "most", 1 - 1e-15, NULL, NULL);
    OK(apl_split_ids(store, "train-most", NULL, &n, &err));
    cr_assert_eq(n, 0);
    make_split(store, "of-nothing", 0.5, "few", NULL);
    make_split(store, "nothing-by-class", 0.5, "few", "label");
    make_split(store, "empty", 0.5, "test", NULL);
    OK(apl_split_ids(store, "empty", NULL, &n, &err));
    cr_assert_eq(n, 0);
    OK(apl_split_verify(store, "empty", 0, &err));
    OK(apl_split_verify(store, "few", 0, &err));
    OK(apl_split_verify(store, "nothing-by-class", 0, &err));
    apl_reader *reader;
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    o.split = "few";
    FAILS(APL_E_INVALID, "the split few is empty", apl_reader_open(store, &o, &reader, &err));
    apl_store_close(store);
}
