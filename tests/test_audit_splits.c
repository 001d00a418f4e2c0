/* The audit of splits: right ones pass, wrong ones do not, and its chances are what it says. */
#include "check.h"
#include "distributions.h"
#include "inputs.h"
#include "split_fixture.h"
#include "split_tests.h"
#include "store_splits.h"

#include <math.h>

#define RECORDS 10000u
#define LEVEL   1e-6

static uint8_t part[RECORDS];
static uint32_t group[RECORDS], cls[RECORDS];

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* A number between 0 and 1 for each record and seed. */
static double chance(uint64_t seed, uint32_t i)
{
    return (double)(mix(mix(seed + 1) + i) >> 11) / 9007199254740992.0;
}

/* Sorted by class, a fifth in the part by chance, and of any ten records the last two alike. */
static struct split_sample divided(uint64_t seed)
{
    for (uint32_t i = 0; i < RECORDS; i++) {
        group[i] = i % 10 == 9 ? i - 1 : i;
        cls[i] = i / (RECORDS / CLASSES);
        part[i] = chance(seed, group[i]) < 0.2;
    }
    return (struct split_sample){.n = RECORDS,
                                 .part = part,
                                 .group = group,
                                 .cls = cls,
                                 .classes = CLASSES,
                                 .ratio = 0.2,
                                 .key = seed};
}

static const struct finding *finding_called(const struct split_report *report, const char *name)
{
    for (unsigned i = 0; i < report->count; i++)
        if (strcmp(report->findings[i].name, name) == 0)
            return &report->findings[i];
    return NULL;
}

static double p_of(const struct split_sample *s, const char *name)
{
    struct split_report report;
    cr_assert(split_test(s, LEVEL, &split_statistics, &report));
    const struct finding *f = finding_called(&report, name);
    cr_assert_not_null(f, "%s", name);
    return f->p;
}

TestSuite(audit_splits, .timeout = 120);

/* Each wrong split is found by the test that is meant for it. */
Test(audit_splits, wrong_ones)
{
    struct split_sample s = divided(1);
    for (uint32_t i = 0; i < RECORDS; i++)
        part[i] = group[i] < RECORDS / 5;
    cr_assert_lt(p_of(&s, "places of the part"), LEVEL);
    cr_assert_lt(p_of(&s, "classes by side"), LEVEL);
    for (uint32_t i = 0; i < RECORDS; i++)
        part[i] = group[i] % 5 == 0;
    cr_assert_gt(p_of(&s, "places of the part"), LEVEL);
    cr_assert_lt(p_of(&s, "runs of a side"), LEVEL);
    for (uint32_t i = 0; i < RECORDS; i++)
        part[i] = chance(3, group[i]) < (cls[i] < 2 ? 0.3 : 0.175);
    cr_assert_gt(p_of(&s, "size of the part"), LEVEL);
    cr_assert_lt(p_of(&s, "classes by side"), LEVEL);
    s = divided(2);
    s.ratio = 0.25;
    cr_assert_lt(p_of(&s, "size of the part"), LEVEL);
    s = divided(2);
    part[19] = !part[18];
    cr_assert_eq(p_of(&s, "equal inputs"), 0);
}

/* Of each class exactly a fifth, in whole groups. */
Test(audit_splits, stratified)
{
    struct split_sample s = divided(1);
    s.stratified = true;
    for (uint32_t i = 0; i < RECORDS; i++)
        part[i] = i / 10 % 5 == 2;
    cr_assert_eq(p_of(&s, "classes by side"), 1);
    part[20] = 0;
    cr_assert_eq(p_of(&s, "classes by side"), 1, "short by less than a group of two");
    part[21] = 0;
    cr_assert_eq(p_of(&s, "classes by side"), 0);
    part[20] = part[21] = part[0] = 1;
    cr_assert_eq(p_of(&s, "classes by side"), 0, "more than its share");
    struct split_report report;
    cr_assert(split_test(&s, LEVEL, &split_statistics, &report));
    cr_assert_null(finding_called(&report, "size of the part"));
}

/* Parts of many: of each class as many as another, give or take a group; skewed ones need only be drawn by chance. */
Test(audit_splits, many_parts)
{
    struct split_sample s = divided(1);
    struct split_report report;
    s.stratified = true;
    s.parts = 5;
    for (uint32_t i = 0; i < RECORDS; i++)
        part[i] = i / 10 % 5 == 2;
    part[30] = part[31] = 1;
    cr_assert_eq(p_of(&s, "classes by side"), 1);
    part[32] = part[33] = part[34] = 1;
    cr_assert_eq(p_of(&s, "classes by side"), 0);
    s.stratified = false;
    s.skewed = true;
    for (uint32_t i = 0; i < RECORDS; i++)
        part[i] = chance(9, group[i]) < 0.05 * cls[i];
    cr_assert(split_test(&s, 0.01, &split_statistics, &report));
    cr_assert_null(finding_called(&report, "classes by side"));
    cr_assert_gt(p_of(&s, "places of the part"), 1e-3);
    cr_assert_gt(p_of(&s, "runs of a side"), 1e-3);
}

Test(audit_splits, small_and_one_sided)
{
    struct split_report report;
    for (uint32_t n = 0; n < 20; n++)
        for (unsigned side = 0; side < 3; side++) {
            struct split_sample s = divided(n);
            s.n = n;
            for (uint32_t i = 0; i < n && side < 2; i++)
                part[i] = (uint8_t)side;
            s.stratified = n % 2;
            cr_assert(split_test(&s, 0.01, &split_statistics, &report));
            for (unsigned k = 0; k < report.count; k++)
                cr_assert(report.findings[k].p >= 0 && report.findings[k].p <= 1, "%s",
                          report.findings[k].name);
        }
}

#define SEEDS 400

/* Are p-values uniform (or larger), and the small ones no more than are due? */
static void assert_law(const double *p, bool uniform, const char *what, double ratio)
{
    double far = 0, small = 0;
    for (unsigned k = 0; k < SEEDS; k++) {
        double below = 0;
        for (unsigned j = 0; j < SEEDS; j++)
            below += p[j] <= p[k];
        far = fmax(far, below / SEEDS - p[k]);
        far = uniform ? fmax(far, p[k] - (below - 1) / SEEDS) : far;
        small += p[k] <= 0.01;
        cr_assert_gt(p[k], 1e-6, "%s, %g: %g", what, ratio, p[k]);
    }
    cr_assert_gt(kolmogorov_upper(far, SEEDS), 1e-3, "%s, %g", what, ratio);
    cr_assert_leq(small, 11, "%s, %g: %.0f, 4 are due", what, ratio, small);
}

/* p-values of right splits are uniform, however small the part: seeds are pinned. Runs and places are stratified
 * for the second half. Of 2,000 records, the least ratio puts 4 in the part: often too few to tell anything. */
Test(audit_splits, p_values)
{
    static const double ratios[] = {0.5, 0.2, 0.02, 0.002};
    static const char *const names[] = {"size of the part", "classes by side", "runs of a side",
                                        "places of the part"};
    static double p[SEEDS];
    for (unsigned r = 0; r < 4; r++)
        for (unsigned t = 0; t < 4; t++) {
            for (unsigned k = 0; k < SEEDS; k++) {
                struct split_sample s = divided(500 + k);
                s.n = 2000;
                s.ratio = ratios[r];
                s.stratified = t >= 2 && k % 2;
                for (uint32_t i = 0; i < s.n; i++) {
                    cls[i] = i / 200;
                    part[i] = chance(500 + k, group[i]) < s.ratio;
                }
                p[k] = p_of(&s, names[t]);
            }
            assert_law(p, r < 3, names[t], ratios[r]);
        }
}

/* Parts of a few records that are not drawn by chance are found as well. */
Test(audit_splits, small_wrong_ones)
{
    struct split_sample s = divided(1);
    s.ratio = 28.0 / RECORDS;
    for (uint32_t i = 0; i < RECORDS; i++)
        group[i] = i, part[i] = i >= 5000 && i < 5028;
    cr_assert_lt(p_of(&s, "places of the part"), LEVEL);
    cr_assert_lt(p_of(&s, "runs of a side"), LEVEL);
    cr_assert_lt(p_of(&s, "classes by side"), LEVEL);
    for (uint32_t i = 0; i < RECORDS; i++)
        part[i] = i % 500 == 0;
    cr_assert_gt(p_of(&s, "places of the part"), LEVEL);
    for (uint32_t i = 0; i < RECORDS; i++)
        part[i] = i / 2 % 357 == 0; /* in pairs */
    cr_assert_lt(p_of(&s, "runs of a side"), LEVEL);
    for (uint32_t i = 0; i < RECORDS; i++)
        part[i] = cls[i] == 3 && i % 36 == 0;
    cr_assert_lt(p_of(&s, "classes by side"), LEVEL);
    for (uint32_t i = 0; i < RECORDS; i++)
        part[i] = i % 100 == 0;
    cr_assert_lt(p_of(&s, "size of the part"), LEVEL);
}

/* ------------------------------------------------------------------------------------------------ stores */

TestSuite(audit_store_splits, .init = set_up, .fini = tear_down, .timeout = 120);

Test(audit_store_splits, equal_inputs)
{
    enum { TRAIN = 1000, ALL = 1210 };
    apl_store *store = plain_store(TRAIN, ALL - TRAIN);
    uint32_t equal[ALL];
    OK(inputs_equal(store, equal, &err));
    for (uint32_t i = 0; i < ALL; i++) {
        uint32_t lowest = i; /* the first record that has this one's inputs */
        while (lowest > 0 && input_of(lowest - 1) >= input_of(i))
            lowest--;
        while (input_of(lowest) != input_of(i))
            lowest++;
        cr_assert_eq(equal[i], lowest, "record %u", i);
    }
    apl_store_close(store);
}

/* Honest divisions into many small parts, of pinned seeds: none is rejected at the level that stands for one in
 * a hundred. */
Test(audit_store_splits, small_parts_stand)
{
    static const struct {
        unsigned parts;
        double ratio, concentration;
    } ways[] = {{0, 0.003, 0}, {0, 0.01, 0}, {10, 0, 0}, {60, 0, 0.3}, {200, 0, 0}};
    apl_store *store = plain_store(6008, 100);
    unsigned rejected = 0;
    for (unsigned k = 0; k < 5; k++)
        for (uint64_t seed = 1000; seed < (ways[k].parts > 10 ? 1001 : 1008); seed++) {
            struct splits_report report;
            apl_split_options o = split_options("part", ways[k].ratio, NULL);
            o.seed = seed;
            if (ways[k].parts)
                OK(apl_split_parts(store, &o, ways[k].parts, ways[k].concentration, &err));
            else
                OK(apl_split_make(store, &o, &err));
            OK(splits_audit(store, 0.01, &split_statistics, &report, &err));
            cr_assert_eq(report.count, ways[k].parts ? ways[k].parts : 1);
            rejected += report.rejected > 0;
            splits_report_free(&report);
            shell("rm '%s'/*.split", db);
        }
    cr_assert_eq(rejected, 0, "%u of 26 divisions are rejected", rejected);
    apl_store_close(store);
}

static const struct shared_inputs *shared_by(const struct splits_report *r, const char *a, const char *b)
{
    for (unsigned i = 0; i < r->shared_count; i++)
        if (strcmp(r->shared[i].name, a) == 0 && strcmp(r->shared[i].other, b) == 0)
            return &r->shared[i];
    return NULL;
}

/* A whole store, with splits of splits; one record of "train" comes again in "test". */
Test(audit_store_splits, a_store)
{
    apl_store *store = plain_store(6008, 1000);
    struct splits_report report;
    make_split(store, "val", 0.2, NULL, NULL);
    make_split(store, "dev", 0.3, "train-val", "label");
    shell("printf junk >'%s/junk.split'", db);
    apl_split_options folds = split_options("cv", 0, NULL), clients = split_options("skew", 0, "train-val");
    folds.stratify = "label";
    OK(apl_split_parts(store, &folds, 4, 0, &err));
    folds.stratify = NULL;
    folds.name = "plain";
    OK(apl_split_parts(store, &folds, 3, 0, &err));
    OK(apl_split_parts(store, &clients, 5, 0.3, &err));
    OK(splits_audit(store, 1e-3, &split_statistics, &report, &err));
    cr_assert(report.count == 2 + 4 + 3 + 5 && report.unusable == 1);
    cr_assert_eq(report.findings, 6 + 5 + 4 * 5 + 3 * 6 + 5 * 4);
    cr_assert_eq(report.rejected, 0);
    cr_assert_eq(shared_by(&report, "train", "test")->records, 1);
    cr_assert_eq(shared_by(&report, "train", "train")->records, 6000 / 20 * 2 + 60 + 1);
    cr_assert_eq(shared_by(&report, "test", "test")->count, 1000);
    splits_report_free(&report);
    apl_store_close(store);
}

/* Splits by ids, keys and groups are what their rules say, though equal inputs are torn apart. */
Test(audit_store_splits, other_units)
{
    apl_store *store = plain_store(6000, 100);
    struct splits_report report;
    apl_split_options o = split_options("ids", 0.2, NULL);
    o.by = APL_BY_ID;
    OK(apl_split_make(store, &o, &err));
    o.name = "keys";
    o.by = APL_BY_KEY;
    o.stratify = "label";
    OK(apl_split_make(store, &o, &err));
    o = split_options("names", 0.2, NULL);
    o.group = "name";
    OK(apl_split_make(store, &o, &err));
    o.name = "labels";
    o.group = "label";
    o.ratio = 0.5;
    OK(apl_split_make(store, &o, &err));
    OK(splits_audit(store, 1e-3, &split_statistics, &report, &err));
    cr_assert_eq(report.count, 4);
    for (unsigned i = 0; i < 4; i++) {
        const struct split_report *r = &report.splits[i].report;
        cr_assert_null(finding_called(r, "equal inputs"));
        cr_assert_eq(finding_called(r, "whole groups") != NULL, report.splits[i].file->group != NULL);
    }
    cr_assert_eq(report.rejected, 0);
    splits_report_free(&report);
    OK(splits_audit_named(store, (const char *const[]){"train-keys", "none"}, 2, 1e-3, &split_statistics,
                          &report, &err));
    cr_assert(report.count == 1 && strcmp(report.splits[0].file->name, "keys") == 0);
    splits_report_free(&report);
    apl_store_close(store);
}

/* A class is settled by most of a group's records; by the lowest, a stratified split by groups would seem wrong. */
Test(audit_splits, groups_of_mixed_classes)
{
    struct split_sample s = divided(3);
    struct split_report report;
    for (uint32_t i = 0; i < RECORDS; i++) {
        group[i] = i - i % 10;
        cls[i] = i % 10 < 4 ? 0 : 1 + i / (RECORDS / 5);
        part[i] = i / 10 % 5 == 0;
    }
    s.classes = 6;
    s.stratified = true;
    s.grouped = "patient";
    cr_assert(split_test(&s, LEVEL, &split_statistics, &report));
    cr_assert_eq(finding_called(&report, "classes by side")->p, 1);
    cr_assert_eq(finding_called(&report, "whole groups")->p, 1);
    part[5] = !part[5];
    cr_assert(split_test(&s, LEVEL, &split_statistics, &report));
    cr_assert_eq(finding_called(&report, "whole groups")->p, 0);
}

/* ------------------------------------------------------------------------------------------------ checks */

static const struct checked_pair *pair_of(const struct check_report *r, const char *other, const char *split)
{
    for (size_t i = 0; i < r->pair_count; i++)
        if (strcmp(r->pairs[i].other, other) == 0 && strcmp(r->pairs[i].split, split) == 0)
            return &r->pairs[i];
    cr_assert_fail("no pair %s, %s", other, split);
    return NULL;
}

Test(audit_store_splits, what_splits_share)
{
    apl_store *store = plain_store(6008, 1000);
    struct check_options o = {.level = 1e-3, .statistics = &split_statistics, .images = true, .near = 12};
    struct check_report report;
    make_split(store, "val", 0.2, NULL, NULL);
    apl_split_options by = split_options("ids", 0.2, NULL);
    by.by = APL_BY_ID;
    OK(apl_split_make(store, &by, &err));
    OK(check_splits(store, &o, &report, &err));
    cr_assert(report.pair_count == 3 && report.image_field == -1 && report.class_field == 1);
    const struct checked_pair *p = pair_of(&report, "train", "test");
    cr_assert(p->in_both == 0 && p->equal == 1 && p->records == 1000 && p->other_records == 6008);
    p = pair_of(&report, "train-val", "val");
    cr_assert(p->in_both == 0 && p->equal == 0 && !p->group && p->grouped == 0);
    p = pair_of(&report, "train-ids", "ids");
    cr_assert(p->in_both == 0 && p->equal > 100);
    cr_assert_eq(check_failures(&report), 2);
    cr_assert_eq(report.balance_count, 4);
    check_report_free(&report);

    o.names = (const char *const[]){"train-val", "ids"};
    o.count = 2;
    o.group = "label";
    OK(check_splits(store, &o, &report, &err));
    cr_assert(report.pair_count == 1 && report.splits.count == 2 && report.balance_count == 2);
    cr_assert(report.pairs[0].in_both > 500 && report.pairs[0].grouped == report.pairs[0].records);
    check_report_free(&report);

    o.count = 1;
    o.names = (const char *const[]){"val"};
    o.group = NULL;
    OK(check_splits(store, &o, &report, &err));
    cr_assert(report.pair_count == 1 && check_failures(&report) == 0);
    check_report_free(&report);
    o.names = (const char *const[]){"nothing"};
    FAILS(APL_E_NOTFOUND, "no split nothing", check_splits(store, &o, &report, &err));
    check_report_free(&report);
    o.names = (const char *const[]){"val"};
    o.group = "nothing";
    FAILS(APL_E_NOTFOUND, "no such field", check_splits(store, &o, &report, &err));
    check_report_free(&report);
    apl_store_close(store);
}

/* The intervals hold what is expected as often as they promise, and an unbalanced split is seen. */
Test(audit_store_splits, intervals)
{
    double low, high;
    binomial_interval(0, 10, 0.05, &low, &high);
    cr_assert(low == 0 && fabs(high - 0.30849710) < 1e-7, "%.9f", high);
    binomial_interval(3, 10, 0.05, &low, &high);
    cr_assert(fabs(low - 0.06673951) < 1e-7 && fabs(high - 0.65245285) < 1e-7, "%.9f %.9f", low, high);
    binomial_interval(10, 10, 0.05, &low, &high);
    cr_assert(high == 1 && fabs(low - 0.69150290) < 1e-7);

    apl_store *store = plain_store(6000, 0);
    static const char *const names[] = {"val"};
    struct check_options o = {.level = 0.05, .statistics = &split_statistics, .names = names, .count = 1};
    struct check_report report;
    unsigned outside = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        apl_split_options s = split_options("val", 0.2, NULL);
        s.seed = seed;
        s.replace = 1;
        s.by = APL_BY_ID;
        OK(apl_split_make(store, &s, &err));
        OK(check_splits(store, &o, &report, &err));
        outside += report.balances[0].outside > 0;
        check_report_free(&report);
    }
    cr_assert_leq(outside, 8, "%u of 40, 2 expected", outside);
    apl_split_options s = split_options("val", 0.3, NULL);
    s.group = "label";
    s.replace = 1;
    OK(apl_split_make(store, &s, &err));
    OK(check_splits(store, &o, &report, &err));
    cr_assert_eq(report.balances[0].outside, CLASSES, "all of a class or nothing");
    check_report_free(&report);
    apl_store_close(store);
}

/* ------------------------------------------------------------------------------------------- many splits */

/* A store of many splits, three records each, of which number k has the inputs 3k ... 3k+2; but every split's last record
 * has the same inputs as that of the split `apart` before it. */
static apl_store *store_of_splits(uint32_t splits, uint32_t apart)
{
    static const int64_t shape[1] = {VALUE};
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    apl_writer *w;
    apl_store *store;
    OK(apl_writer_open(db, &o, &w, &err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 1, shape, &err));
    OK(apl_writer_add_field(w, "patient", APL_U8, APL_TARGET, 0, NULL, &err));
    for (uint32_t s = 0; s < splits; s++) {
        char name[24];
        snprintf(name, sizeof name, "s%u", s);
        OK(apl_writer_begin_member(w, name, name, s, &err));
        for (uint32_t i = 0; i < 3; i++) {
            uint8_t value[VALUE] = {0}, patient = (uint8_t)(s % 250);
            uint32_t input = 3 * (i == 2 && s >= apart ? s - apart : s) + i;
            memcpy(value, &input, sizeof input);
            OK(apl_writer_append(w, (apl_value[]){{value, NULL}, {&patient, NULL}}, &err));
        }
    }
    OK(apl_writer_commit(w, &err));
    apl_writer_close(w);
    OK(apl_store_open(db, NULL, &store, &err));
    return store;
}

/* Of few splits every pair is listed; of many, those that share something, up to a limit, and how many more do. */
Test(audit_store_splits, many_splits)
{
    static const struct {
        uint32_t splits, apart, listed, more;
    } cases[] = {{10, 6, 45, 0}, {500, 400, 100, 0}, {5000, 3000, OVERLAPS_MOST, 1000}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        uint32_t splits = cases[k].splits, apart = cases[k].apart;
        apl_store *store = store_of_splits(splits, apart);
        struct check_options o = {.level = 0.01, .statistics = &split_statistics};
        struct check_report report;
        OK(check_splits(store, &o, &report, &err));
        cr_assert_eq(report.pair_count, cases[k].listed, "%zu pairs", report.pair_count);
        cr_assert(report.more == cases[k].more && !report.more_at_least);
        cr_assert_eq(report.own_pairs, (uint64_t)splits * (splits - 1) / 2);
        cr_assert_eq(check_failures(&report), splits - apart);
        for (size_t i = 0; i < report.pair_count; i++) {
            const struct checked_pair *p = &report.pairs[i];
            bool apart_so = (uint32_t)atoi(p->split + 1) - (uint32_t)atoi(p->other + 1) == apart;
            cr_assert(p->equal == apart_so && p->in_both == 0 && p->own && p->records == 3);
        }
        check_report_free(&report);
        o.names = (const char *const[]){"s1"};
        o.count = 1;
        OK(check_splits(store, &o, &report, &err));
        cr_assert_eq(report.own_pairs, splits - 1);
        cr_assert_eq(check_failures(&report), 1);
        check_report_free(&report);
        apl_store_close(store);
        shell("rm -r '%s'", db);
    }
}

/* Pairs that share groups are found as those are that share inputs. */
Test(audit_store_splits, many_splits_by_groups)
{
    apl_store *store = store_of_splits(600, 600);
    struct check_options o = {.level = 0.01, .group = "patient"};
    struct check_report report;
    OK(check_splits(store, &o, &report, &err));
    uint64_t pairs =
        250 + 100 + 100; /* s and s + 250; of those below 100 s and s + 500, and s + 250 and s + 500 */
    cr_assert_eq(report.pair_count + report.more, pairs, "%zu", report.pair_count);
    cr_assert_eq(check_failures(&report), pairs);
    cr_assert(report.balance_count == 0 && report.class_field == -1);
    check_report_free(&report);
    apl_store_close(store);
}

/* Without statistics, what leaves nothing to chance is tested all the same. */
Test(audit_store_splits, without_statistics)
{
    apl_store *store = plain_store(6008, 1000);
    struct check_options o = {.level = 1e-3};
    struct check_report report;
    make_split(store, "val", 0.2, NULL, "label");
    OK(check_splits(store, &o, &report, &err));
    cr_assert_eq(report.splits.findings, 3);
    for (unsigned i = 0; i < 3; i++)
        cr_assert(report.splits.splits[0].report.findings[i].certain);
    cr_assert(report.balance_count == 0 && report.pair_count == 2 && check_failures(&report) == 1);
    check_report_free(&report);
    apl_store_close(store);
}
