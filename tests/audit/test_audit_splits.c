/* The audit of splits: right ones pass, wrong ones do not, and its chances are what it says. */
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
