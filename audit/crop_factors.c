/* Tables of crops by group, and what follows from them: see crop_factors.h. */
#include "crop_factors.h"

#include "distributions.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_CLASSES 4096u /* more share groups */

/* ---------------------------------------------------------------------------------------------- counting */

static bool make_table(struct crop_table *t, const struct crop_law *law, uint64_t groups)
{
    t->groups = (uint32_t)groups;
    bool ok = (t->crops = calloc(groups, sizeof *t->crops)) != NULL;
    for (unsigned q = 0; q < law->count && ok; q++)
        ok = (t->seen[q] = calloc(groups * law->values[q], sizeof *t->seen[q])) != NULL;
    return ok;
}

static void free_table(struct crop_table *t)
{
    free(t->crops);
    for (unsigned q = 0; q < CROP_QUANTITIES; q++)
        free(t->seen[q]);
}

static void count_crop(struct crop_table *t, const struct crop_law *law, uint64_t group,
                       const struct crop_epoch *e, uint32_t i)
{
    t->crops[group]++;
    for (unsigned q = 0; q < law->count; q++)
        t->seen[q][group * law->values[q] + e->value[q][i]]++;
}

bool crop_factors_make(struct crop_factors *f, const struct audit_sample *s, const struct crop_law *law,
                       const uint64_t *ids)
{
    *f = (struct crop_factors){.law = law, .sample = s, .ids = ids};
    uint32_t classes = s->classes < MOST_CLASSES ? s->classes : MOST_CLASSES;
    bool ok = make_table(&f->halves, law, 2) && make_table(&f->epochs, law, s->epochs);
    if (ok && s->cls && classes > 1)
        ok = make_table(&f->classes, law, classes);
    for (unsigned m = 0; m < CROP_MODULI && ok; m++)
        ok = make_table(&f->remainders[m], law, m + 2);
    ok = ok && (f->count = calloc(s->n, sizeof *f->count)) != NULL;
    for (unsigned q = 0; q < law->count && ok; q++)
        ok = (f->sum[q] = calloc(s->n, sizeof *f->sum[q])) != NULL;
    return ok;
}

void crop_factors_release(struct crop_factors *f)
{
    free_table(&f->classes);
    free_table(&f->halves);
    free_table(&f->epochs);
    for (unsigned m = 0; m < CROP_MODULI; m++)
        free_table(&f->remainders[m]);
    for (unsigned q = 0; q < CROP_QUANTITIES; q++)
        free(f->sum[q]);
    free(f->count);
}

static void count_record(struct crop_factors *f, const struct crop_epoch *e, uint32_t i)
{
    uint32_t record = e->record[i];
    uint64_t id = f->ids ? f->ids[record] : record;
    count_crop(&f->halves, f->law, record >= f->sample->n / 2, e, i);
    if (f->classes.groups)
        count_crop(&f->classes, f->law, f->sample->cls[record] % f->classes.groups, e, i);
    for (unsigned m = 0; m < CROP_MODULI; m++)
        count_crop(&f->remainders[m], f->law, id % (m + 2), e, i);
    f->count[record]++;
    for (unsigned q = 0; q < f->law->count; q++)
        f->sum[q][record] += (float)crop_score(f->law, q, e->value[q][i]);
}

void crop_factors_add(struct crop_factors *f, uint64_t index, const struct crop_epoch *e)
{
    for (uint32_t i = 0; i < e->count; i++) {
        count_crop(&f->epochs, f->law, index, e, i);
        if (e->record[i] < f->sample->n)
            count_record(f, e, i);
    }
}

/* --------------------------------------------------------------------------------------------- statistics */

/* A statistic whose mean and variance are known, compared with the multiple of a chi-square variable that has both. */
struct spread {
    double value, mean, variance;
};

static double spread_p(const struct spread *s)
{
    if (s->mean <= 0 || s->variance <= 0)
        return 1;
    return chi2_upper(s->value * 2 * s->mean / s->variance, 2 * s->mean * s->mean / s->variance);
}

/* Of Pearson's chi-square of n values, each of k equally likely (Haldane, 1937). */
static double pearson_variance(double k, double n)
{
    return 2 * (k - 1) * (1 - 1 / n);
}

static double squares_of(const double *seen, uint32_t k)
{
    double sum = 0;
    for (uint32_t v = 0; v < k; v++)
        sum += seen[v] * seen[v];
    return sum;
}

/* Pearson's chi-square of each group, together, less that of all crops: what groups differ by. */
static struct spread table_spread(const struct crop_table *t, uint32_t k, unsigned q)
{
    struct spread s = {0};
    double all = 0, groups = 0, squares = 0;
    for (uint32_t g = 0; g < t->groups; g++)
        all += t->crops[g];
    for (uint32_t g = 0; g < t->groups; g++) {
        double n = t->crops[g];
        if (n == 0)
            continue;
        groups++;
        s.value += k * squares_of(&t->seen[q][(size_t)g * k], k) / n;
        s.variance += pearson_variance(k, n) * (1 - 2 * n / all);
    }
    for (uint32_t v = 0; v < k && all > 0; v++) {
        double seen = 0;
        for (uint32_t g = 0; g < t->groups; g++)
            seen += t->seen[q][(size_t)g * k + v];
        squares += seen * seen;
    }
    s.value -= all > 0 ? k * squares / all : 0;
    s.variance += all > 0 ? pearson_variance(k, all) : 0;
    s.mean = (groups - 1) * (k - 1);
    return s;
}

/* Squares of each record's sum, over its crops: 1 each, on average, with the variance 2 + excess / crops. */
static struct spread record_spread(const struct crop_factors *f, unsigned q)
{
    double k = f->law->values[q], excess = -1.2 * (k * k + 1) / (k * k - 1);
    struct spread s = {0};
    for (uint32_t i = 0; i < f->sample->n; i++) {
        double n = f->count[i], sum = (double)f->sum[q][i];
        if (n == 0)
            continue;
        s.value += sum * sum / n;
        s.mean++;
        s.variance += 2 + excess / n;
    }
    return s;
}

/* --------------------------------------------------------------------------------------------- findings */

/* The quantity that departs most. As quantities are independent, the least of `count` p-values, p, is worth 1 - (1-p)^count. */
struct least {
    struct spread spread;
    double p;
    unsigned quantity;
};

static void take_least(struct least *l, unsigned q, struct spread s)
{
    double p = spread_p(&s);
    if (q == 0 || p < l->p)
        *l = (struct least){s, p, q};
}

static double worth(double p, unsigned count)
{
    return -expm1(count * log1p(-p));
}

static struct least least_of_table(const struct crop_law *law, const struct crop_table *t)
{
    struct least l = {{0}, 1, 0};
    for (unsigned q = 0; q < law->count; q++)
        take_least(&l, q, table_spread(t, law->values[q], q));
    l.p = worth(l.p, law->count);
    return l;
}

static struct finding *tell_least(const struct crop_factors *f, const struct least *l, double level,
                                  struct audit_report *report)
{
    struct finding *to = &report->findings[report->count++];
    double crops = 0;
    for (uint32_t e = 0; e < f->epochs.groups; e++)
        crops += f->epochs.crops[e];
    *to = (struct finding){.value = l->spread.value, .df = l->spread.mean, .p = l->p, .any_order = true};
    to->effect = l->spread.mean > 0
                     ? 100 * sqrt(chi2_noncentrality(l->spread.mean, level / f->law->count, 0.9) / crops)
                     : 0;
    to->unit = "percent, as a standard deviation between groups";
    snprintf(to->detail, sizeof to->detail, "%s: %.5g, where %.5g is due", f->law->names[l->quantity],
             l->spread.value, l->spread.mean);
    return to;
}

static void tell_table(const struct crop_factors *f, const struct crop_table *t, double level,
                       const char *name, const char *hypothesis, struct audit_report *report)
{
    struct least l = least_of_table(f->law, t);
    struct finding *to = tell_least(f, &l, level, report);
    to->name = name;
    to->hypothesis = hypothesis;
    to->statistic = "chi-square of values by groups, of the quantity that departs most";
}

/* Tables of the same crops depend on each other, so that their chances add up at most. */
static void tell_remainders(const struct crop_factors *f, double level, struct audit_report *report)
{
    struct least worst = {{0}, 2, 0};
    unsigned modulus = 0;
    for (unsigned m = 0; m < CROP_MODULI; m++) {
        struct least l = least_of_table(f->law, &f->remainders[m]);
        if (l.p < worst.p) {
            worst = l;
            modulus = m + 2;
        }
    }
    worst.p = fmin(1, CROP_MODULI * worst.p);
    struct finding *to = tell_least(f, &worst, level / CROP_MODULI, report);
    to->name = "crops by remainder";
    to->hypothesis = "the remainder of a record's id by 2 to 16 says nothing about its crops";
    to->statistic = "chi-square of values by groups, of the quantity and number that depart most";
    snprintf(to->detail, sizeof to->detail, "%s, ids by %u: %.5g, where %.5g is due",
             f->law->names[worst.quantity], modulus, worst.spread.value, worst.spread.mean);
}

static void tell_records(const struct crop_factors *f, double level, struct audit_report *report)
{
    struct least l = {{0}, 1, 0};
    for (unsigned q = 0; q < f->law->count; q++)
        take_least(&l, q, record_spread(f, q));
    l.p = worth(l.p, f->law->count);
    struct finding *to = tell_least(f, &l, level, report);
    to->name = "crops by record";
    to->hypothesis = "no record has crops of its own: over all epochs, their means vary as chance has it";
    to->statistic = "sum of squares of each record's mean, of the quantity that departs most";
}

void crop_factors_tell(const struct crop_factors *f, double level, struct audit_report *report)
{
    if (f->classes.groups)
        tell_table(f, &f->classes, level, "crops by class", "a record's class says nothing about its crops",
                   report);
    tell_table(f, &f->halves, level, "crops by half", "records of both halves of the split are cropped alike",
               report);
    tell_remainders(f, level, report);
    tell_records(f, level, report);
    if (f->epochs.groups > 1)
        tell_table(f, &f->epochs, level, "crops by epoch", "crops are distributed alike in all epochs",
                   report);
}
