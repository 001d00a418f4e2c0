/* Sums over all crops, and what follows from them: see crops.h. */
#include "crops.h"

#include "crop_factors.h"
#include "distributions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TESTS 6

/* Seeds that an epoch is compared with: they differ in one bit each. */
static const unsigned seed_bits[] = {0, 1, 8, 16, 31, 32, 48, 63};
#define SEEDS (sizeof seed_bits / sizeof *seed_bits + 1) /* and the next seed's epoch before */

/* A sum of products of independent variables, each with mean 0 and variance 1. */
struct products {
    double sum, count;
};

struct crop_sums {
    const struct crop_law *law;
    struct crop_factors factors;
    struct crop_epoch epoch;
    double *seen[CROP_QUANTITIES]; /* of each value */
    /* Of each record, standard scores; NAN: it did not come. In the epoch before, and in this one so far; of another seed. */
    float *before[CROP_QUANTITIES], *now[CROP_QUANTITIES], *other[CROP_QUANTITIES];
    double crops;
    struct products epochs, neighbours, quantities, copies, seeds[SEEDS];
};

static void release(struct crop_sums *c)
{
    crop_factors_release(&c->factors);
    free(c->epoch.record);
    for (unsigned q = 0; q < CROP_QUANTITIES; q++) {
        free(c->epoch.value[q]);
        free(c->seen[q]);
        free(c->before[q]);
        free(c->now[q]);
        free(c->other[q]);
    }
}

static void forget(const struct crop_sums *c, const struct audit_sample *s, float *const *scores)
{
    for (unsigned q = 0; q < c->law->count; q++)
        for (uint32_t i = 0; i < s->n; i++)
            scores[q][i] = NAN;
}

static bool make(struct crop_sums *c, const struct audit_sample *s, uint32_t length, const uint64_t *ids)
{
    bool ok = crop_factors_make(&c->factors, s, c->law, ids) &&
              (c->epoch.record = malloc(((size_t)length + 1) * sizeof *c->epoch.record)) != NULL;
    for (unsigned q = 0; q < c->law->count && ok; q++) {
        c->epoch.value[q] = malloc(((size_t)length + 1) * sizeof *c->epoch.value[q]);
        c->seen[q] = calloc(c->law->values[q], sizeof *c->seen[q]);
        c->before[q] = malloc((size_t)s->n * sizeof *c->before[q]);
        c->now[q] = malloc((size_t)s->n * sizeof *c->now[q]);
        c->other[q] = malloc((size_t)s->n * sizeof *c->other[q]);
        ok = c->epoch.value[q] && c->seen[q] && c->before[q] && c->now[q] && c->other[q];
    }
    if (ok)
        forget(c, s, c->before);
    return ok;
}

static double standard(const struct crop_sums *c, unsigned q, uint32_t i)
{
    return crop_score(c->law, q, c->epoch.value[q][i]);
}

static void add_product(struct products *p, double a, double b)
{
    if (isnan(a) || isnan(b))
        return;
    p->sum += a * b;
    p->count++;
}

/* One crop, beside its other quantities, the crop before it, and the record's own: the last in this epoch, and in the one before. */
static void add_crop(struct crop_sums *c, const struct audit_sample *s, uint32_t i)
{
    uint32_t record = c->epoch.record[i];
    for (unsigned q = 0; q < c->law->count; q++) {
        double x = standard(c, q, i);
        c->seen[q][c->epoch.value[q][i]]++;
        for (unsigned other = 0; other < q; other++)
            add_product(&c->quantities, x, standard(c, other, i));
        if (i > 0)
            add_product(&c->neighbours, x, standard(c, q, i - 1));
        if (record >= s->n)
            continue;
        add_product(&c->epochs, x, (double)c->before[q][record]);
        add_product(&c->copies, x, (double)c->now[q][record]);
        c->now[q][record] = (float)x;
    }
}

static void add_records(const struct crop_sums *c, const struct audit_sample *s, float *const *a,
                        float *const *b, struct products *to)
{
    for (unsigned q = 0; q < c->law->count; q++)
        for (uint32_t i = 0; i < s->n; i++)
            add_product(to, (double)a[q][i], (double)b[q][i]);
}

/* ------------------------------------------------------------------------------------------------ taking */

static bool take_seed(struct crop_sums *c, const struct crop_source *source, uint64_t seed, uint64_t epoch)
{
    c->epoch.count = 0;
    return source->take(source->user, seed, epoch, &c->epoch);
}

/* Another seed's crops of the epoch, into `other`. */
static bool take_other(struct crop_sums *c, const struct audit_sample *s, const struct crop_source *source,
                       uint64_t seed, uint64_t epoch)
{
    if (!take_seed(c, source, seed, epoch))
        return false;
    forget(c, s, c->other);
    for (unsigned q = 0; q < c->law->count; q++)
        for (uint32_t i = 0; i < c->epoch.count; i++)
            if (c->epoch.record[i] < s->n)
                c->other[q][c->epoch.record[i]] = (float)standard(c, q, i);
    return true;
}

/* The first epoch by other seeds; `other` is left with the next seed's, which the second epoch is compared with: a key made of
 * seed + epoch would give it again. */
static bool compare_seeds(struct crop_sums *c, const struct audit_sample *s, const struct crop_source *source)
{
    for (size_t i = 0; i + 1 < SEEDS; i++) {
        if (!take_other(c, s, source, s->seed ^ UINT64_C(1) << seed_bits[i], s->first_epoch))
            return false;
        add_records(c, s, c->before, c->other, &c->seeds[i]);
    }
    return take_other(c, s, source, s->seed + 1, s->first_epoch);
}

static bool take_epoch(struct crop_sums *c, const struct audit_sample *s, const struct crop_source *source,
                       uint64_t index)
{
    if (!take_seed(c, source, s->seed, s->first_epoch + index))
        return false;
    forget(c, s, c->now);
    for (uint32_t i = 0; i < c->epoch.count; i++)
        add_crop(c, s, i);
    crop_factors_add(&c->factors, index, &c->epoch);
    c->crops += c->epoch.count;
    for (unsigned q = 0; q < c->law->count; q++) {
        float *now = c->now[q];
        c->now[q] = c->before[q];
        c->before[q] = now;
    }
    if (index == 1)
        add_records(c, s, c->before, c->other, &c->seeds[SEEDS - 1]);
    return index > 0 || compare_seeds(c, s, source);
}

/* --------------------------------------------------------------------------------------------- findings */

static struct finding *next(struct audit_report *report, const char *name, const char *hypothesis,
                            const char *statistic)
{
    struct finding *f = &report->findings[report->count++];
    *f = (struct finding){.name = name,
                          .hypothesis = hypothesis,
                          .statistic = statistic,
                          .p = 1,
                          .unit = "",
                          .any_order = true};
    return f;
}

static void tell_values(const struct crop_sums *c, double level, struct finding *f)
{
    size_t at = 0;
    for (unsigned q = 0; q < c->law->count; q++) {
        double due = c->crops / c->law->values[q], value = 0;
        for (uint32_t v = 0; v < c->law->values[q]; v++)
            value += (c->seen[q][v] - due) * (c->seen[q][v] - due) / due;
        f->value += value;
        f->df += c->law->values[q] - 1;
        if (at < sizeof f->detail)
            at += (size_t)snprintf(f->detail + at, sizeof f->detail - at, "%s%s: %u values", q ? ", " : "",
                                   c->law->names[q], c->law->values[q]);
    }
    f->p = fmin(1, 2 * fmin(chi2_upper(f->value, f->df), chi2_lower(f->value, f->df)));
    f->effect = 100 * sqrt(chi2_noncentrality(f->df, level / 2, 0.9) / c->crops);
    f->unit = "percent, as a standard deviation from what is expected";
}

static void tell_products(const struct products *p, double level, struct finding *f)
{
    if (p->count == 0) {
        snprintf(f->detail, sizeof f->detail, "there is nothing to compare");
        return;
    }
    f->value = p->sum / sqrt(p->count);
    f->p = normal_two_sided(f->value);
    f->effect = (normal_upper_quantile(level / 2) + normal_upper_quantile(0.1)) / sqrt(p->count);
    f->unit = "as a correlation";
    snprintf(f->detail, sizeof f->detail, "correlation %.2g", p->sum / p->count);
}

/* Of each seed by itself: where one is the same as another, the others need not be. */
static void tell_seeds(const struct crop_sums *c, double level, struct finding *f)
{
    double least = 0;
    for (size_t i = 0; i < SEEDS; i++) {
        const struct products *p = &c->seeds[i];
        if (p->count == 0)
            continue;
        f->value += p->sum * p->sum / p->count;
        f->df++;
        least = least == 0 || p->count < least ? p->count : least;
    }
    if (f->df == 0)
        return;
    f->p = chi2_upper(f->value, f->df);
    f->effect = sqrt(chi2_noncentrality(f->df, level, 0.9) / least);
    f->unit = "as a correlation with one of them";
    snprintf(f->detail, sizeof f->detail, "%.5g, where %.0f is due, of %zu seeds that differ in one bit",
             f->value, f->df, SEEDS - 1);
}

static void tell_places(const struct crop_sums *c, double level, struct audit_report *report)
{
    tell_values(c, level,
                next(report, "crops and flips", "every place of a crop, and either flip, is equally likely",
                     "chi-square of how often each came, both tails"));
    tell_products(&c->neighbours, level,
                  next(report, "crops of neighbours",
                       "a record's crop says nothing about that of the next record",
                       "sum of products of the two"));
    if (c->law->count > 1)
        tell_products(
            &c->quantities, level,
            next(report, "across, down, flipped",
                 "how far across a crop lies says nothing about how far down, or whether it is flipped",
                 "sum of products of any two"));
}

/* Of one record's crops. */
static void tell_again(const struct crop_sums *c, double level, struct audit_report *report)
{
    tell_products(&c->epochs, level,
                  next(report, "crops of epochs",
                       "a record's crop says nothing about its crop in the next epoch",
                       "sum of products of the two"));
    tell_seeds(c, level,
               next(report, "crops of seeds", "a record's crop says nothing about its crop by another seed",
                    "chi-square of the sums of products, a seed each"));
    if (c->copies.count > 0)
        tell_products(&c->copies, level,
                      next(report, "crops of copies",
                           "a record that comes again in an epoch is cropped independently",
                           "sum of products of the two"));
}

static void tell(const struct crop_sums *c, const struct audit_sample *s, struct audit_report *report)
{
    double level = s->level / (report->count + TESTS + CROP_FACTORS);
    tell_places(c, level, report);
    tell_again(c, level, report);
    crop_factors_tell(&c->factors, level, report);
}

static void judge_again(struct audit_report *report, double level)
{
    struct finding *all[AUDIT_MOST];
    for (unsigned i = 0; i < report->count; i++)
        all[i] = &report->findings[i];
    report->rejected = audit_judge(all, report->count, level);
}

bool crops_audit(const struct audit_sample *sample, uint32_t length, const struct crop_law *law,
                 const struct crop_source *source, struct audit_report *report)
{
    struct crop_sums c = {.law = law};
    bool ok = report->count + TESTS + CROP_FACTORS <= AUDIT_MOST && make(&c, sample, length, source->ids);
    for (uint64_t i = 0; ok && i < sample->epochs; i++)
        ok = take_epoch(&c, sample, source, i);
    if (ok && c.crops > 0) {
        tell(&c, sample, report);
        judge_again(report, sample->level);
    }
    release(&c);
    return ok;
}
