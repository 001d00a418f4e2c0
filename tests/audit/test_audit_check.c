/* The checks of what splits share, and how their classes are balanced: pairs, intervals, and stores of many splits. */
#include "check.h"
#include "distributions.h"
#include "split_fixture.h"
#include "split_tests.h"

#include <math.h>

TestSuite(audit_check, .init = set_up, .fini = tear_down, .timeout = 120);

static const struct checked_pair *pair_of(const struct check_report *r, const char *other, const char *split)
{
    for (size_t i = 0; i < r->pair_count; i++)
        if (strcmp(r->pairs[i].other, other) == 0 && strcmp(r->pairs[i].split, split) == 0)
            return &r->pairs[i];
    cr_assert_fail("no pair %s, %s", other, split);
    return NULL;
}

/* All that come after one of equal inputs in their split, whatever it shares with others. */
static void check_repeats(apl_store *store, const struct check_report *r)
{
    const uint32_t *equal = r->splits.equal;
    size_t found = 0;
    for (unsigned s = 0; s < apl_store_info(store)->splits; s++) {
        const apl_split *split = apl_store_split(store, s);
        const struct repeats *is = found < r->repeats.count ? &r->repeats.splits[found] : NULL;
        size_t at = 0;
        for (uint64_t id = split->first; id < split->first + split->count; id++) {
            uint64_t first = split->first;
            while (equal[first] != equal[id])
                first++;
            if (first == id)
                continue;
            cr_assert(is && strcmp(is->split, split->name) == 0 && is->records == split->count);
            cr_assert(at < is->count && is->list[at].id == id && is->list[at].first == first);
            at++;
        }
        cr_assert(at == 0 || at == is->count);
        found += at > 0;
    }
    cr_assert(found == r->repeats.count && found > 0);
}

Test(audit_check, what_splits_share)
{
    apl_store *store = plain_store(6008, 1000);
    struct check_options o = {.level = 1e-3, .statistics = &split_statistics, .images = true, .near = 12};
    struct check_report report;
    make_split(store, "val", 0.2, NULL, NULL);
    apl_split_options by = split_options("ids", 0.2, NULL);
    by.by = APL_BY_ID;
    OK(apl_split_make(store, &by, &err));
    OK(check_splits(store, &o, &report, &err));
    cr_assert(report.pair_count == 4 && report.image_field == -1 && report.class_field == 1);
    const struct checked_pair *p = pair_of(&report, "train", "test");
    cr_assert(p->in_both == 0 && p->equal == 1 && p->records == 1000 && p->other_records == 6008);
    p = pair_of(&report, "train-val", "val");
    cr_assert(p->in_both == 0 && p->equal == 0 && !p->group && p->grouped == 0);
    p = pair_of(&report, "train-ids", "ids");
    cr_assert(p->in_both == 0 && p->equal > 100);
    p = pair_of(&report, "ids", "val"); /* two of one parent */
    cr_assert(p->in_both > 100 && p->equal >= p->in_both);
    cr_assert_eq(check_failures(&report), 4);
    cr_assert_eq(report.balance_count, 4);
    check_repeats(store, &report);
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
    cr_assert(report.pair_count == 2 && check_failures(&report) == 2);
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
Test(audit_check, intervals)
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
Test(audit_check, many_splits)
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
Test(audit_check, many_splits_by_groups)
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
Test(audit_check, without_statistics)
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
