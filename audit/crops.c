/* Sums over all crops, and what follows from them: see crops.h. */
#include "crops.h"

#include "distributions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TESTS 4

/* A sum of products of independent variables, each with mean 0 and variance 1. */
struct products {
    double sum, count;
};

struct crop_sums {
    const struct crop_law *law;
    struct crop_epoch epoch;
    double *seen[CROP_QUANTITIES]; /* of each value */
    float
        *before[CROP_QUANTITIES]; /* of each record: what it had in the epoch before; NAN: it did not come */
    double crops;
    struct products epochs, neighbours, quantities;
};

static void release(struct crop_sums *c)
{
    free(c->epoch.record);
    for (unsigned q = 0; q < CROP_QUANTITIES; q++) {
        free(c->epoch.value[q]);
        free(c->seen[q]);
        free(c->before[q]);
    }
}

static bool make(struct crop_sums *c, const struct audit_sample *s, uint32_t length)
{
    bool ok = (c->epoch.record = malloc(((size_t)length + 1) * sizeof *c->epoch.record)) != NULL;
    for (unsigned q = 0; q < c->law->count && ok; q++) {
        c->epoch.value[q] = malloc(((size_t)length + 1) * sizeof *c->epoch.value[q]);
        c->seen[q] = calloc(c->law->values[q], sizeof *c->seen[q]);
        c->before[q] = malloc((size_t)s->n * sizeof *c->before[q]);
        ok = c->epoch.value[q] && c->seen[q] && c->before[q];
        for (uint32_t i = 0; ok && i < s->n; i++)
            c->before[q][i] = NAN;
    }
    return ok;
}

/* With mean 0 and variance 1, if it is uniform. */
static double standard(const struct crop_sums *c, unsigned q, uint32_t i)
{
    double k = c->law->values[q];
    return (c->epoch.value[q][i] - (k - 1) / 2) / sqrt((k * k - 1) / 12);
}

static void add_product(struct products *p, double a, double b)
{
    p->sum += a * b;
    p->count++;
}

/* One crop, beside its other quantities, the crop before it, and the record's own in the epoch before. */
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
        if (record < s->n && !isnan(c->before[q][record]))
            add_product(&c->epochs, x, c->before[q][record]);
    }
}

static bool take_epoch(struct crop_sums *c, const struct audit_sample *s, const struct crop_source *source,
                       uint64_t epoch)
{
    c->epoch.count = 0;
    if (!source->take(source->user, epoch, &c->epoch))
        return false;
    for (uint32_t i = 0; i < c->epoch.count; i++)
        add_crop(c, s, i);
    for (unsigned q = 0; q < c->law->count; q++) {
        for (uint32_t i = 0; i < s->n; i++)
            c->before[q][i] = NAN;
        for (uint32_t i = 0; i < c->epoch.count; i++)
            if (c->epoch.record[i] < s->n)
                c->before[q][c->epoch.record[i]] = (float)standard(c, q, i);
    }
    c->crops += c->epoch.count;
    return true;
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

static void tell(const struct crop_sums *c, const struct audit_sample *s, struct audit_report *report)
{
    double level = s->level / (report->count + TESTS);
    tell_values(c, level,
                next(report, "crops and flips", "every place of a crop, and either flip, is equally likely",
                     "chi-square of how often each came, both tails"));
    tell_products(&c->epochs, level,
                  next(report, "crops of epochs",
                       "a record's crop says nothing about its crop in the next epoch",
                       "sum of products of the two"));
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
    bool ok = report->count + TESTS <= AUDIT_MOST && make(&c, sample, length);
    for (uint64_t i = 0; ok && i < sample->epochs; i++)
        ok = take_epoch(&c, sample, source, sample->first_epoch + i);
    if (ok && c.crops > 0) {
        tell(&c, sample, report);
        judge_again(report, sample->level);
    }
    release(&c);
    return ok;
}
