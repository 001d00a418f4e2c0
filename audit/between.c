/* Tests between orders: of one epoch and the next, of all epochs with each other, of seeds and epochs near and far. */
#include "audit.h"
#include "distributions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Spearman's correlation of two permutations, given as the places of the records. */
static double correlation(const uint32_t *a, const uint32_t *b, uint32_t n)
{
    double middle = (n - 1) / 2.0, sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += (a[i] - middle) * (b[i] - middle);
    return sum / ((double)n * ((double)n * n - 1) / 12);
}

/* Correlations, each in units of its standard deviation by chance. */
struct pairs {
    double squares, count, worst;
};

static void *pairs_begin(const struct audit_sample *s)
{
    (void)s;
    return calloc(1, sizeof(struct pairs));
}

static void compare(struct pairs *p, const uint32_t *a, const uint32_t *b, uint32_t n)
{
    if (!b)
        return;
    double rho = correlation(a, b, n);
    p->squares += rho * rho * (n - 1);
    p->worst = fabs(rho) > fabs(p->worst) ? rho : p->worst;
    p->count++;
}

static void judge_pairs(struct pairs *p, const struct audit_sample *s, double level, struct finding *f)
{
    f->df = p->count;
    f->value = p->squares;
    f->p = p->count > 0 ? chi2_upper(f->value, f->df) : 1;
    f->effect = p->count > 0 ? sqrt(chi2_noncentrality(f->df, level, 0.9) / (p->count * (s->n - 1))) : 0;
    f->unit = "correlation, the same in all pairs";
    snprintf(f->detail, sizeof f->detail, "%.0f pairs, the largest correlation %+.4f", p->count, p->worst);
    free(p);
}

/* ------------------------------------------------------------------------------------------ consecutive */

static void epochs_add(void *state, const struct audit_sample *s, const struct audit_epoch *e)
{
    compare(state, e->place, e->previous, s->n);
}

static void epochs_finish(void *state, const struct audit_sample *s, double level, struct finding *f)
{
    f->hypothesis = "where a record comes in one epoch says nothing about where it comes in the next";
    f->statistic = "chi-square of the rank correlations of consecutive epochs";
    judge_pairs(state, s, level, f);
}

const struct audit_test audit_epochs = {"one epoch and the next", pairs_begin, epochs_add, epochs_finish,
                                        false};

/* The next seed's order of the same epoch, and of the epoch before: seed and epoch must not simply be added. */
static void seeds_add(void *state, const struct audit_sample *s, const struct audit_epoch *e)
{
    compare(state, e->place, e->neighbour, s->n);
    compare(state, e->place, e->diagonal, s->n);
}

static void seeds_finish(void *state, const struct audit_sample *s, double level, struct finding *f)
{
    f->hypothesis = "the orders of one seed say nothing about those of the next";
    f->statistic = "chi-square of the rank correlations of neighbouring seeds";
    judge_pairs(state, s, level, f);
}

const struct audit_test audit_seeds = {"one seed and the next", pairs_begin, seeds_add, seeds_finish, false};

/* Seeds that differ in one high bit, and epochs beyond those audited: a period must not hide behind what is looked at. */
static void distant_add(void *state, const struct audit_sample *s, const struct audit_epoch *e)
{
    compare(state, e->place, e->first, s->n);
}

static void distant_finish(void *state, const struct audit_sample *s, double level, struct finding *f)
{
    f->hypothesis = "the first order says nothing about those of distant seeds and later epochs";
    f->statistic = "chi-square of the rank correlations with the first order";
    judge_pairs(state, s, level, f);
}

const struct audit_test audit_distant = {"distant seeds and epochs", pairs_begin, distant_add, distant_finish,
                                         false};

/* ------------------------------------------------------------------------------------------- all of them */

/* The sum over records of (the sum over epochs of their places)^2 holds the correlations of all pairs of epochs. */
struct all {
    double epochs;
    double *sum;
};

static void *all_begin(const struct audit_sample *s)
{
    struct all *a = calloc(1, sizeof *a);
    if (a)
        a->sum = calloc(s->n, sizeof *a->sum);
    if (a && !a->sum) {
        free(a);
        a = NULL;
    }
    return a;
}

static void all_add(void *state, const struct audit_sample *s, const struct audit_epoch *e)
{
    struct all *a = state;
    double middle = (s->n - 1) / 2.0;
    for (uint32_t i = 0; i < s->n; i++)
        a->sum[i] += e->place[i] - middle;
    a->epochs++;
}

static void all_finish(void *state, const struct audit_sample *s, double level, struct finding *f)
{
    struct all *a = state;
    double n = s->n, variance = n * (n * n - 1) / 12, total = 0, pairs = a->epochs * (a->epochs - 1) / 2;
    for (uint32_t i = 0; i < s->n; i++)
        total += a->sum[i] * a->sum[i];
    double mean = pairs > 0 ? (total / variance - a->epochs) / 2 / pairs : 0; /* correlation of two epochs */
    f->hypothesis = "no record comes early, or late, more often than others";
    f->statistic = "normal: mean rank correlation of all pairs of epochs";
    f->value = mean * sqrt(pairs * (n - 1));
    f->p = normal_two_sided(f->value);
    f->effect = pairs > 0
                    ? (normal_upper_quantile(level / 2) + normal_upper_quantile(0.1)) / sqrt(pairs * (n - 1))
                    : 0;
    f->unit = "mean correlation";
    char count[32];
    snprintf(f->detail, sizeof f->detail, "mean correlation %+.2e over %s pairs", mean,
             audit_count_text(count, pairs));
    free(a->sum);
    free(a);
}

const struct audit_test audit_all_epochs = {"all epochs together", all_begin, all_add, all_finish, false};
