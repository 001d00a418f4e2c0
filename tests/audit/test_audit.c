/* The battery: a right order passes, wrong ones do not, and its chances are what it says. */
#include "controls.h"
#include "distributions.h"
#include "reader_fixture.h"
#include "reader_orders.h"
#include "windows.h"

#include <math.h>

#define RECORDS 20000u
#define BLOCKED 128u

static uint32_t block[RECORDS], cls[RECORDS];

/* Sorted by class, as the worst of sources are. */
static struct audit_sample sorted(uint64_t seed, uint64_t epochs)
{
    for (uint32_t i = 0; i < RECORDS; i++) {
        block[i] = i / BLOCKED;
        cls[i] = i / (RECORDS / CLASSES);
    }
    return (struct audit_sample){.n = RECORDS,
                                 .block = block,
                                 .blocks = (RECORDS - 1) / BLOCKED + 1,
                                 .cls = cls,
                                 .classes = CLASSES,
                                 .batch = 512,
                                 .seed = seed,
                                 .epochs = epochs,
                                 .level = 1e-6};
}

static const struct finding *finding_called(const struct audit_report *report, const char *name)
{
    for (unsigned i = 0; i < report->count; i++)
        if (strcmp(report->findings[i].name, name) == 0)
            return &report->findings[i];
    return NULL;
}

TestSuite(audit, .timeout = 120);

Test(audit, distributions)
{
    /* Against tables: Abramowitz and Stegun 26.7 and 26.8, Stephens 1970. */
    cr_assert_float_eq(chi2_upper(3.841459, 1), 0.05, 1e-6);
    cr_assert_float_eq(chi2_upper(124.3421, 100), 0.05, 1e-6);
    cr_assert_float_eq(chi2_lower(77.9295, 100), 0.05, 1e-6);
    cr_assert_float_eq(normal_two_sided(-1.959964), 0.05, 1e-6);
    cr_assert_float_eq(normal_upper_quantile(0.025), 1.959964, 1e-6);
    cr_assert_float_eq(kolmogorov_upper(1.358 / 1000, 1e6), 0.05, 1e-3);
    cr_assert_float_eq(poisson_upper(3, 1), 0.0803014, 1e-6);
    cr_assert_float_eq(poisson_lower(0, 1), 0.3678794, 1e-6);
    cr_assert_float_eq(binomial_upper(8, 10, 0.5), 56.0 / 1024, 1e-9);
    cr_assert_float_eq(binomial_lower(2, 10, 0.5), 56.0 / 1024, 1e-9);
    cr_assert_float_eq(chi2_noncentrality(1, 0.05, 0.9), 10.5074, 1e-3);
    cr_assert_float_eq(hypergeometric_at(2, 5, 3, 20), 150.0 / 1140, 1e-12);
    cr_assert(hypergeometric_at(4, 5, 3, 20) == 0 && hypergeometric_at(0, 19, 3, 20) == 0);
    cr_assert(isfinite(chi2_upper(1e300, 5)) && chi2_upper(-1, 5) == 1);
}

/* Against the sum of its chances, and where both are large. */
Test(audit, hypergeometric)
{
    cr_assert_float_eq(hypergeometric_sd(5, 3, 20), sqrt(3 * 0.25 * 0.75 * 17 / 19), 1e-12);
    cr_assert(hypergeometric_sd(0, 3, 20) == 0 && hypergeometric_sd(5, 20, 20) == 0);
    for (unsigned k = 0; k <= 12; k++) {
        double before = 0, at = hypergeometric_at(k, 20, 12, 60);
        for (unsigned i = 0; i < k; i++)
            before += hypergeometric_at(i, 20, 12, 60);
        for (double share = 0.1; share < 1; share += 0.4) {
            double z = hypergeometric_z(k, 20, 12, 60, share), below = before + share * at;
            cr_assert_float_eq(normal_upper_quantile(1 - fmin(below, 1 - 1e-12)), z, 1e-3, "%u: %g", k, z);
        }
    }
    cr_assert_float_eq(hypergeometric_z(500450, 5e6, 1e6, 1e7, 0.5), 450.0 / 474.34, 1e-3);
    cr_assert_lt(hypergeometric_z(0, 5e6, 1e6, 1e7, 0.5), -30);
    cr_assert_gt(hypergeometric_z(1e6, 5e6, 1e6, 1e7, 0.5), 30);
}

Test(audit, a_uniform_permutation_passes)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct audit_sample s = sorted(seed, 10);
        struct order_source source = {audit_right.order, &s};
        struct audit_report report;
        cr_assert(audit_run(&s, &source, &report));
        cr_assert_eq(report.count, 18);
        cr_assert_eq(report.rejected, 0, "seed %llu", (unsigned long long)seed);
        cr_assert(report.map.share && report.map.rows > 1 && report.lag_deviation > 0);
        cr_assert_eq(report.batches.looked_at, 10 * (RECORDS / 512) * CLASSES);
        cr_assert(report.batches.drawn == 512 && report.batches.marked == RECORDS / CLASSES);
        audit_report_free(&report);
    }
}

Test(audit, controls_are_rejected)
{
    for (unsigned i = 0; i < audit_control_count; i++) {
        struct audit_sample s = sorted(3, 20);
        struct order_source source = {audit_controls[i].order, &s};
        struct audit_report report;
        cr_assert(audit_run(&s, &source, &report));
        cr_assert_gt(report.rejected, 0, "%s", audit_controls[i].name);
        audit_report_free(&report);
    }
}

/* However small the split: a power of two, just above one, and sizes between. */
Test(audit, controls_are_rejected_at_all_sizes)
{
    static const uint32_t sizes[] = {AUDIT_LEAST, 129, 500, 512, 4097, 5170};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (unsigned i = 0; i <= audit_control_count; i++) {
            const struct control *control = i ? &audit_controls[i - 1] : &audit_right;
            struct audit_sample s = sorted(6, 100);
            struct audit_report report;
            s.n = sizes[k];
            s.blocks = (s.n - 1) / BLOCKED + 1;
            s.level = 0.01;
            cr_assert(audit_run(&s, &(struct order_source){control->order, &s}, &report));
            bool idle = control->right_of && control->right_of(&s);
            cr_assert_eq(report.rejected > 0, i > 0 && !idle, "%s, %u records", control->name, s.n);
            audit_report_free(&report);
        }
}

/* Each wrong order is found by the test that is meant for it. */
Test(audit, controls_are_rejected_for_what_they_are)
{
    static const char *const by[][2] = {{"uniform bin", "all epochs together"},
                                        {"shuffle buffer", "classes in batches"},
                                        {"page window", "neighbours of one block"},
                                        {"congruential", "remainders of neighbours"},
                                        {"seed + epoch", "one seed and the next"}};
    for (unsigned i = 0; i < audit_control_count; i++) {
        struct audit_sample s = sorted(4, 20);
        struct order_source source = {audit_controls[i].order, &s};
        struct audit_report report;
        cr_assert_str_eq(audit_controls[i].name, by[i][0]);
        cr_assert(audit_run(&s, &source, &report));
        cr_assert(finding_called(&report, by[i][1])->rejected, "%s", by[i][0]);
        audit_report_free(&report);
    }
}

/* Of two records, the first comes twice and the second not at all; then one is missing. */
static bool spoilt(void *user, uint64_t seed, uint64_t epoch, uint32_t *order)
{
    audit_right.order(user, seed, epoch, order);
    if (epoch == 1)
        order[7] = order[8];
    if (epoch == 2)
        order[9] = UINT32_MAX;
    return true;
}

Test(audit, missing_and_repeated_records)
{
    struct audit_sample s = sorted(1, 3);
    struct order_source source = {spoilt, &s};
    struct audit_report report;
    cr_assert(audit_run(&s, &source, &report));
    cr_assert_eq(report.count, 1, "nothing else can be told");
    cr_assert(report.findings[0].rejected && report.findings[0].value == 6);
    cr_assert_str_eq(report.findings[0].detail, "4 missing, 2 repeated in 22 epochs of 20,000");
    audit_report_free(&report);
}

static bool failing(void *user, uint64_t seed, uint64_t epoch, uint32_t *order)
{
    return epoch < 2 && audit_right.order(user, seed, epoch, order);
}

Test(audit, a_source_that_fails)
{
    struct audit_sample s = sorted(1, 5);
    struct order_source source = {failing, &s};
    struct audit_report report;
    cr_assert(!audit_run(&s, &source, &report));
    s.n = AUDIT_LEAST - 1;
    cr_assert(!audit_run(&s, &source, &report));
}

/* At the level 0.05, one in twenty is a false alarm, and p-values are uniform. Seeds are pinned: 200 of them gave 8. */
Test(audit, level_and_p_values)
{
    enum { SEEDS = 200 };
    static double p[AUDIT_MOST][SEEDS];
    unsigned alarms = 0, count = 0;
    for (unsigned k = 0; k < SEEDS; k++) {
        struct audit_sample s = sorted(1000 + 7 * k, 5);
        s.n = 5000;
        s.blocks = (s.n - 1) / BLOCKED + 1;
        s.level = 0.05;
        struct order_source source = {audit_right.order, &s};
        struct audit_report report;
        cr_assert(audit_run(&s, &source, &report));
        alarms += report.rejected > 0;
        count = report.count;
        for (unsigned i = 0; i < count; i++)
            p[i][k] = report.findings[i].p;
        audit_report_free(&report);
    }
    cr_assert(alarms >= 4 && alarms <= 16, "%u alarms", alarms);
    for (unsigned i = 1; i < count; i++) { /* the first leaves nothing to chance */
        double far = 0;
        for (unsigned k = 0; k < SEEDS; k++) {
            double below = 0;
            for (unsigned j = 0; j < SEEDS; j++)
                below += p[i][j] <= p[i][k];
            far = fmax(far, fmax(below / SEEDS - p[i][k], p[i][k] - (below - 1) / SEEDS));
        }
        cr_assert_gt(kolmogorov_upper(far, SEEDS), 1e-3, "p-values of test %u", i);
    }
}

/* ------------------------------------------------------------------------------------------- real readers */

#define TRAIN 3000

static void audit_reader(const apl_reader_options *o, struct audit_report *report, bool load)
{
    struct reader_orders orders;
    struct audit_sample s = {.epochs = 20, .level = 1e-6};
    apl_error err;
    cr_assert_eq(reader_orders_open(fx.store, o, &orders, &s, &err), APL_OK, "%s", err.message);
    cr_assert(s.n == TRAIN && s.blocks > 40 && s.cls);
    orders.load = load;
    orders.delay_us = o->order == APL_FREE ? 100 : 0;
    struct order_source source = {reader_orders_take, &orders};
    cr_assert(audit_run(&s, &source, report), "%s", orders.error.message);
    reader_orders_close(&orders, &s);
}

static void set_up(void)
{
    fixture_make(TRAIN, 0, 64);
}

TestSuite(audit_reader, .init = set_up, .fini = fixture_free, .timeout = 120);

Test(audit_reader, strict_order_passes)
{
    static const unsigned threads[] = {APL_NO_THREADS, 2, 8};
    for (unsigned k = 0; k < 6; k++) {
        apl_reader_options o = fixture_options();
        struct audit_report report;
        o.threads = threads[k % 3];
        o.ranks.world = k < 3 ? 1 : 3;
        o.bins = k % 2 ? 7 : 0;
        o.seed = k;
        audit_reader(&o, &report, k == 1);
        cr_assert_eq(report.rejected, 0, "case %u: %s", k, report.findings[0].detail);
        audit_report_free(&report);
    }
}

/* Small windows are exact once, and are seen not to be uniform; so are lanes of several ranks. */
Test(audit_reader, windows_and_lanes)
{
    for (unsigned k = 0; k < 3; k++) {
        apl_reader_options o = fixture_options();
        struct audit_report report;
        o.window = k == 1 ? 0 : 300;
        o.ranks.world = k ? 2 : 1;
        o.ranks.lanes = k ? 4 : 0;
        audit_reader(&o, &report, false);
        cr_assert(!finding_called(&report, "exactly once")->rejected, "case %u: %s", k,
                  report.findings[0].detail);
        cr_assert_eq(report.count, 18);
        cr_assert(k == 1 || finding_called(&report, "neighbours of one block")->rejected);
        audit_report_free(&report);
    }
}

Test(audit_reader, free_order_is_exact)
{
    apl_reader_options o = fixture_options();
    struct audit_report report;
    o.order = APL_FREE;
    o.threads = 2;
    audit_reader(&o, &report, true);
    cr_assert(!finding_called(&report, "exactly once")->rejected, "%s", report.findings[0].detail);
    audit_report_free(&report);
}

/* Free order is uniform, however many threads race, if its first draw waits until the split stands. */
Test(audit_reader, free_order_that_waits_passes)
{
    static const unsigned threads[] = {APL_NO_THREADS, 2, 8};
    for (unsigned k = 0; k < 6; k++) {
        apl_reader_options o = fixture_options();
        struct audit_report report;
        o.order = APL_FREE;
        o.fill = 1;
        o.threads = threads[k % 3];
        o.window = k < 3 ? 0 : TRAIN;
        audit_reader(&o, &report, k != 1);
        for (unsigned i = 0; i < report.count; i++)
            cr_assert(!report.findings[i].rejected, "case %u: %s: %s", k, report.findings[i].name,
                      report.findings[i].detail);
        audit_report_free(&report);
    }
}

/* The order of the window that 0 stands for is asked of the reader. */
Test(audit_reader, what_a_window_covers)
{
    static const struct {
        uint64_t window;
        bool covers;
    } cases[] = {{0, true}, {TRAIN, true}, {TRAIN + 1, true}, {TRAIN - 1, false}, {300, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        apl_reader_options o = fixture_options();
        struct reader_orders orders;
        struct audit_sample s = {.epochs = 1};
        apl_error err;
        bool covers;
        o.window = cases[i].window;
        cr_assert_eq(reader_orders_open(fx.store, &o, &orders, &s, &err), APL_OK);
        cr_assert_eq(reader_orders_covers(&orders, &covers, &err), APL_OK, "%s", err.message);
        cr_assert_eq(covers, cases[i].covers, "case %zu", i);
        reader_orders_close(&orders, &s);
    }
}

/* Smaller windows mix less, of a store that is sorted by class; one that was shuffled has no trouble. Below the split, blocks are spread
 * so evenly that larger windows have fewer neighbours of one block than a uniform order. */
Test(audit_reader, smaller_windows)
{
    apl_reader_options o = fixture_options();
    struct reader_orders orders;
    struct audit_sample s = {.epochs = 1};
    struct windows w;
    apl_error err;
    cr_assert_eq(reader_orders_open(fx.store, &o, &orders, &s, &err), APL_OK);
    s.batch = 100;
    cr_assert_eq(windows_measure(&orders, &s, &w, &err), APL_OK, "%s", err.message);
    cr_assert(w.count >= 5 && w.points[0].window == 128 && w.points[w.count - 1].window == TRAIN);
    for (unsigned i = 0; i < w.count; i++) {
        const struct window_point *p = &w.points[i];
        cr_assert(p->shuffled.neighbours > 0.9 && p->shuffled.neighbours < 1.1, "%g", p->shuffled.neighbours);
        cr_assert(p->shuffled.classes > 0.8 && p->shuffled.classes < 1.2, "%g", p->shuffled.classes);
        cr_assert(i == 0 || p->window == TRAIN ||
                  p->stored.neighbours < w.points[i - 1].stored.neighbours + 0.1);
    }
    cr_assert(w.points[0].stored.neighbours > 8 && w.points[0].stored.classes > 8);
    cr_assert_float_eq(w.points[w.count - 1].stored.neighbours, 1, 0.1);
    cr_assert_float_eq(w.points[w.count - 1].stored.classes, 1, 0.2);
    reader_orders_close(&orders, &s);
}
