/* Where single records come, over all epochs: no record may favour a part of the epoch. */
#include "audit.h"
#include "distributions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PARTS 8u

struct places {
    double epochs;
    double size[PARTS];       /* positions in each part of an epoch */
    uint32_t (*count)[PARTS]; /* of each record: how often it came in each part */
};

static unsigned part_of(uint32_t position, uint32_t n)
{
    return (unsigned)((uint64_t)position * PARTS / n);
}

static void *places_begin(const struct audit_sample *s)
{
    struct places *p = calloc(1, sizeof *p);
    if (p)
        p->count = calloc(s->n, sizeof *p->count);
    if (p && !p->count) {
        free(p);
        return NULL;
    }
    for (uint32_t k = 0; p && k < s->n; k++)
        p->size[part_of(k, s->n)]++;
    return p;
}

static void places_add(void *state, const struct audit_sample *s, const struct audit_epoch *e)
{
    struct places *p = state;
    for (uint32_t i = 0; i < s->n; i++)
        p->count[i][part_of(e->place[i], s->n)]++;
    p->epochs++;
}

/* Records that two epochs have in the same part: the sum over all pairs of epochs. */
static double sum_of_pairs(const struct places *p, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        for (unsigned k = 0; k < PARTS; k++)
            sum += (double)p->count[i][k] * (p->count[i][k] - 1.0) / 2;
    return sum;
}

/* Mean and variance of that number for one pair: the diagonal of a table whose two margins are the parts' sizes. */
static void pair_law(const struct places *p, double n, double *mean, double *variance)
{
    double squares = 0, fourth = 0, own = 0;
    for (unsigned k = 0; k < PARTS; k++) {
        double m = p->size[k];
        squares += m * m;
        fourth += m * m * m * m;
        own += m * m * (n - m) * (n - m);
    }
    *mean = squares / n;
    *variance = (own + squares * squares - fourth) / (n * n * (n - 1));
}

/* Pairs of epochs are uncorrelated, so their variances add up; the sum is as far from its mean as a chi-square variable of the same
 * number of standard deviations. Records that come too evenly are as wrong as records that favour a part. */
static void places_finish(void *state, const struct audit_sample *s, double level, struct finding *f)
{
    struct places *p = state;
    double mean, variance, n = s->n, pairs = p->epochs * (p->epochs - 1) / 2, seen = sum_of_pairs(p, s->n);
    pair_law(p, n, &mean, &variance);
    f->hypothesis = "each record comes in every eighth of an epoch equally often";
    f->statistic = "chi-square of records by eighths of an epoch, both tails";
    f->df = (n - 1) * (PARTS - 1);
    if (pairs > 0) {
        f->value = f->df + (seen - pairs * mean) / sqrt(pairs * variance) * sqrt(2 * f->df);
        f->p = fmin(1, 2 * fmin(chi2_upper(f->value, f->df), chi2_lower(f->value, f->df)));
        f->effect = sqrt(chi2_noncentrality(f->df, level / 2, 0.9) / ((p->epochs - 1) * n));
        snprintf(f->detail, sizeof f->detail, "same eighth in two epochs: %.3f%%, %.3f%% expected",
                 100 * seen / pairs / n, 100 * mean / n);
    }
    f->unit = "rms relative error of a record's chance of an eighth";
    free(p->count);
    free(p);
}

const struct audit_test audit_places = {"places of each record", places_begin, places_add, places_finish,
                                        false};
