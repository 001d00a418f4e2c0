/* Samples against their laws: see sampling_audit.h. */
#include "distributions.h"
#include "sampling_sums.h"

#include <math.h>
#include <stdio.h>

#define COUNTS 25 /* the fewest expected coincidences for which their sum is tested */

/* --------------------------------------------------------------------------------------------- findings */

struct judged {
    struct audit_report *report;
    double level; /* of one test alone */
};

static struct finding *next(struct judged *j, const char *name, const char *hypothesis, const char *statistic)
{
    struct finding *f = &j->report->findings[j->report->count++];
    *f = (struct finding){
        .name = name, .hypothesis = hypothesis, .statistic = statistic, .p = 1, .unit = "", .effect = 0};
    return f;
}

/* A statistic with that mean and variance, by the multiple of a chi-square variable that has them too
 * (Satterthwaite, 1946); of the counts of n deliveries. */
static void judge_sum(const struct judged *j, struct finding *f, double value, double mean, double variance,
                      double n)
{
    double scale = variance / (2 * mean);
    f->value = value / scale;
    f->df = mean / scale;
    f->p = fmin(1, 2 * fmin(chi2_upper(f->value, f->df), chi2_lower(f->value, f->df)));
    f->effect = 100 * sqrt(scale * chi2_noncentrality(f->df, j->level, 0.9) / n);
    f->unit = "percent, as a standard deviation from what is expected";
    snprintf(f->detail, sizeof f->detail, "departures from what is expected are %.4g times those of chance",
             sqrt(value / mean));
}

static void judge_normal(const struct judged *j, struct finding *f, double z)
{
    f->value = z;
    f->p = normal_two_sided(z);
    f->effect = normal_upper_quantile(j->level / 2) + normal_upper_quantile(0.1);
}

static void few(struct finding *f)
{
    snprintf(f->detail, sizeof f->detail, "too few are due to tell");
}

static void tell_deliveries(struct judged *j, const struct sampling_sums *r)
{
    char text[32], epochs[32];
    struct finding *f =
        next(j, "deliveries", "each epoch delivers as many records of the split as were asked for",
             "positions without a record of the split");
    f->value = r->missing;
    f->p = r->missing == 0;
    f->effect = 1;
    f->certain = true;
    f->unit = "record (nothing is left to chance)";
    snprintf(f->detail, sizeof f->detail, "%s missing in %s epochs of %u", audit_count_text(text, r->missing),
             audit_count_text(epochs, r->epochs), r->law->records);
    if (r->missing > 0)
        return;
    f = next(j, "what cannot be",
             r->law->replacement ? "no record comes whose class has no weight"
                                 : "classes and records come as often as they must, but for one more",
             "deliveries too many or too few");
    f->value = r->unlawful;
    f->p = r->unlawful == 0;
    f->effect = 1;
    f->certain = true;
    f->unit = "record (nothing is left to chance)";
    snprintf(f->detail, sizeof f->detail, "%s that the law excludes", audit_count_text(text, r->unlawful));
}

/* Pearson's statistic of n draws has the mean k - 1 and this variance (Haldane, 1937), where item i has the
 * chance p_i. */
static double pearson_variance(double k, double inverse, double n)
{
    return 2 * (k - 1) + (inverse - k * k - 2 * k + 2) / n;
}

/* What is due to records, or to groups: how many there are, the sum of 1/p, and the sum of due^2 of an epoch.
 */
struct dues {
    double k, inverse, same;
};

static struct dues dues_of(const struct sampling_sums *r, bool records)
{
    struct dues d = {0};
    for (uint32_t g = 0; g < r->law->groups; g++) {
        double of = records ? r->size[g] : 1;
        if (r->due[g] == 0)
            continue;
        d.k += of;
        d.inverse += of * of * r->law->records / r->due[g];
        d.same += r->due[g] * r->due[g] / of;
    }
    return d;
}

static double sum_of_squares(const double *x, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

static void tell_chances(struct judged *j, const struct sampling_sums *r, bool records, double value)
{
    double all = r->epochs * r->law->records;
    struct dues d = dues_of(r, records);
    struct finding *f = next(j, records ? "records" : "classes",
                             records ? "over all epochs, records come by their chances"
                                     : "over all epochs, classes come by their weights",
                             "Pearson's chi-square");
    if (all * all / 2 * d.same / r->law->records / r->law->records < COUNTS)
        few(f);
    else
        judge_sum(j, f, value, d.k - 1, pearson_variance(d.k, d.inverse, all), all);
}

static void tell_spread(struct judged *j, const struct sampling_sums *r, bool records, double value)
{
    struct dues d = dues_of(r, records);
    struct finding *f =
        next(j, records ? "spread of records" : "spread of classes",
             "within an epoch, draws are independent: what comes is neither more even than that, nor less",
             "sum of the epochs' chi-squares");
    if (r->epochs * d.same / 2 < COUNTS)
        few(f);
    else
        judge_sum(j, f, value, r->epochs * (d.k - 1),
                  r->epochs * pearson_variance(d.k, d.inverse, r->law->records), r->epochs * r->law->records);
}

static void tell_draws(struct judged *j, const struct sampling_sums *r)
{
    double groups = 0;
    for (uint32_t g = 0; g < r->law->groups; g++) {
        double off = r->groups[g] - r->epochs * r->due[g];
        groups += r->due[g] > 0 ? off * off / (r->epochs * r->due[g]) : 0;
    }
    if (dues_of(r, false).k > 1) {
        tell_chances(j, r, false, groups);
        tell_spread(j, r, false, r->group_spread);
    }
    if (r->possible > 1) {
        tell_chances(j, r, true, sum_of_squares(r->sum, r->sample->n) / r->epochs);
        tell_spread(j, r, true, r->spread);
    }
}

/* Uniform subsets, independent from epoch to epoch: the sum of squares of n summed residuals has the mean n -
 * 1 and the variance 2 (n - 1) (1 - 1 / epochs). */
static void tell_subsets(struct judged *j, const struct sampling_sums *r, struct finding *f, double value,
                         double df, double coincidences)
{
    if (r->epochs < 2 || coincidences < COUNTS)
        few(f);
    else
        judge_sum(j, f, value, df, 2 * df * (1 - 1 / r->epochs), r->epochs * r->law->records);
}

static void tell_ties(struct judged *j, const struct sampling_sums *r)
{
    double n = r->ties, share = r->ties_up / n, variance = share * (1 - share) * n / (n - 1), x = 0;
    for (uint32_t g = 0; g < r->law->groups; g++)
        if (r->up[g] == 2)
            x += (r->groups[g] - r->epochs * share) * (r->groups[g] - r->epochs * share) / variance;
    struct finding *f =
        next(j, "rounding of classes", "which of classes with equal remainders come once more is chance",
             "chi-square of how often each did");
    tell_subsets(j, r, f, x / r->epochs, n - 1,
                 r->epochs * r->epochs / 2 * n * pow(fmin(share, 1 - share), 2));
}

static void tell_shares(struct judged *j, const struct sampling_sums *r)
{
    if (r->ties > r->ties_up)
        tell_ties(j, r);
    if (r->df == 0)
        return;
    struct finding *f =
        next(j, "records", "in each epoch, chance decides which records of a class come once more",
             "chi-square of how often each did");
    tell_subsets(j, r, f, sum_of_squares(r->sum, r->sample->n) / r->epochs, r->df,
                 r->epochs / 2 * r->product_due);
}

static void tell_epochs(struct judged *j, const struct sampling_sums *r)
{
    if (r->product_variance == 0)
        return;
    struct finding *f = next(j, "epochs", "what comes in one epoch says nothing about what comes in the next",
                             "sum of products of the two epochs' departures");
    if (r->product_due < COUNTS) {
        few(f);
        return;
    }
    judge_normal(j, f, r->product / sqrt(r->product_variance));
    f->effect /= sqrt(r->product_variance);
    f->unit = "as a correlation";
    snprintf(f->detail, sizeof f->detail, "correlation %.2g", r->product / r->product_variance);
}

static void tell_positions(struct judged *j, const struct sampling_sums *r)
{
    double m = r->law->records, x = 0, rows = 0;
    for (unsigned row = 0; row < r->rows; row++) {
        double all = 0;
        for (unsigned c = 0; c < r->columns; c++)
            all += r->table[row * r->columns + c];
        rows += all > 0;
        for (unsigned c = 0; all > 0 && c < r->columns; c++) {
            /* position k is in column floor(k columns / m) */
            double from = ceil(c * m / r->columns), to = ceil((c + 1) * m / r->columns);
            double due = all * (to - from) / m, off = r->table[row * r->columns + c] - due;
            x += due > 0 ? off * off / due : 0;
        }
    }
    double df = (rows - 1) * (r->columns - 1);
    if (df <= 0 || m < r->columns)
        return;
    struct finding *f = next(j, "positions", "wherever records are stored, every position is equally likely",
                             "chi-square of parts of the split by parts of the epoch");
    judge_sum(j, f, x * (m - 1) / m, df, 2 * df, r->epochs * m);
}

static void tell_neighbours(struct judged *j, const struct sampling_sums *r)
{
    double due = r->neighbours_due;
    if (r->neighbours_variance < 1e-9)
        return;
    struct finding *f =
        next(j, "neighbours", "records of one block follow each other no more often than by chance",
             "pairs of one block");
    if (due < 100) {
        f->value = r->neighbours;
        f->p = audit_count_p(r->sample, f->name, poisson_lower(r->neighbours, due),
                             poisson_upper(r->neighbours, due));
        f->effect = 0;
    } else {
        judge_normal(j, f, (r->neighbours - due) / sqrt(r->neighbours_variance));
        f->effect *= 100 * sqrt(r->neighbours_variance) / due;
        f->unit = "percent more or fewer";
    }
    snprintf(f->detail, sizeof f->detail, "%.4g times as many as are due", r->neighbours / due);
}

/* ------------------------------------------------------------------------------------------- the whole */

static void tell(const struct sampling_sums *r, struct audit_report *report)
{
    struct judged j = {report, r->sample->level / 8};
    struct finding *all[AUDIT_MOST];
    tell_deliveries(&j, r);
    if (r->missing == 0) {
        if (r->law->replacement)
            tell_draws(&j, r);
        else
            tell_shares(&j, r);
        tell_epochs(&j, r);
        if (r->law->ordered) {
            tell_positions(&j, r);
            tell_neighbours(&j, r);
        }
    }
    for (unsigned i = 0; i < report->count; i++)
        all[i] = &report->findings[i];
    report->rejected = audit_judge(all, report->count, r->sample->level);
}

bool sampling_audit(const struct audit_sample *sample, const struct sampling_law *law,
                    const struct order_source *source, struct audit_report *report)
{
    struct sampling_sums r;
    *report = (struct audit_report){.count = 0};
    bool ok = sampling_sums_make(&r, sample, law);
    for (uint64_t i = 0; ok && i < sample->epochs; i++)
        ok = sampling_sums_take(&r, source, i);
    if (ok)
        tell(&r, report);
    sampling_sums_release(&r);
    return ok;
}
