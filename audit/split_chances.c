/*
 * Tests of one split that chance has a part in. Given how many groups of a stratum are in the part, their number
 * in any piece of the stratum, of any class, and the number of runs that they come in are all hypergeometric. So
 * every test is exact, however small the part: each count becomes a standard normal variable by its own law given
 * the counts before it, the chance of the very count that was seen being divided by a drawn number (Rosenblatt,
 * 1952), and these are independent of each other.
 */
#include "distributions.h"
#include "generator.h"
#include "split_tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE, CLASSES, RUNS, PLACES };

/* Randomises a test, independently of the split's own hash. */
static struct generator draws_of(const struct division *d, uint64_t test)
{
    return generator_keyed(d->sample->key, test);
}

static double draw(struct generator *g)
{
    return (double)(generator_draw(g) >> 11) * 0x1p-53;
}

/* How many standard deviations a departure must have to be found with probability 0.9. */
static double detectable(double level)
{
    return normal_upper_quantile(level / 2) + normal_upper_quantile(0.1);
}

/* ------------------------------------------------------------------------------------------------ counts */

/* Counts of several strata as one standard normal variable: each weighs as much as it varies. */
struct pooled {
    double sum, variance;
};

static void pool(struct pooled *p, double k, double marked, double drawn, double n, struct generator *g)
{
    double sd = hypergeometric_sd(marked, drawn, n), share = draw(g);
    if (sd > 0)
        p->sum += sd * hypergeometric_z(k, marked, drawn, n, share);
    p->variance += sd * sd;
}

static double pooled_z(const struct pooled *p)
{
    return p->variance > 0 ? p->sum / sqrt(p->variance) : 0;
}

/* ------------------------------------------------------------------------------------------------ size */

/* Hashing decides on groups: their number has the binomial law, that of records has it only where all inputs
 * differ. */
static void test_size(struct division *d)
{
    struct finding *f = split_finding(d, "size of the part");
    struct generator g = draws_of(d, SIZE);
    double n = d->count, ratio = d->sample->ratio;
    f->hypothesis = "each group of equal inputs is in the part with the chance asked for (the binomial law)";
    f->statistic = "binomial: groups in the part (randomised p)";
    f->value = d->parts;
    f->p = audit_two_sided(binomial_lower(d->parts, n, ratio), binomial_upper(d->parts, n, ratio), draw(&g));
    f->effect = detectable(d->level) * sqrt(ratio * (1 - ratio) / n);
    f->unit = "more or less than the ratio asked for";
    snprintf(f->detail, sizeof f->detail, "%.0f of %.0f, %.0f expected, give or take %.0f", f->value, n,
             ratio * n, sqrt(ratio * (1 - ratio) * n));
}

/* --------------------------------------------------------------------------------------------- classes */

/* Groups of a class in the part, and in all; of classes too rare to be seen one by one, together. */
struct class_groups {
    double part, all;
};

static struct class_groups *count_classes(const struct division *d)
{
    struct class_groups *c = calloc(d->sample->classes + (size_t)1, sizeof *c), *rare;
    double share = (double)d->parts / d->count, lesser = fmin(share, 1 - share);
    for (uint32_t k = 0; c && k < d->count; k++) {
        c[d->groups[k].cls].all++;
        c[d->groups[k].cls].part += d->groups[k].part;
    }
    for (uint32_t k = 0; c && k < d->sample->classes; k++)
        if (c[k].all * lesser < 1) {
            rare = &c[d->sample->classes];
            *rare = (struct class_groups){rare->part + c[k].part, rare->all + c[k].all};
            c[k] = (struct class_groups){0, 0};
        }
    return c;
}

/* Class after class: of what the classes before have left of the part, and of all. */
static void chi_square(const struct division *d, const struct class_groups *c, struct finding *f)
{
    struct generator g = draws_of(d, CLASSES);
    double part = d->parts, all = d->count, share = part / all, worst = 0;
    for (uint32_t k = 0; k <= d->sample->classes; k++) {
        double one = draw(&g);
        if (hypergeometric_sd(c[k].all, part, all) > 0) {
            double z = hypergeometric_z(c[k].part, c[k].all, part, all, one);
            f->value += z * z;
            f->df++;
        }
        worst = c[k].all > 0 ? fmax(worst, fabs(c[k].part / c[k].all - share)) : worst;
        part -= c[k].part;
        all -= c[k].all;
    }
    f->p = f->df > 0 ? chi2_upper(f->value, f->df) : 1;
    f->effect = f->df > 0 ? sqrt(chi2_noncentrality(f->df, d->level, 0.9) / d->count) : 0;
    f->unit = "rms relative error of a class's share";
    snprintf(f->detail, sizeof f->detail, "a share of %.4f of all; of a class, at most %.4f off", share,
             worst);
}

static bool test_classes(struct division *d)
{
    struct class_groups *c = count_classes(d);
    if (!c)
        return false;
    struct finding *f = split_finding(d, "classes by side");
    f->hypothesis = "a record's side does not depend on its class";
    f->statistic = "chi-square of classes, each by the hypergeometric law (randomised p)";
    if (d->parts > 0 && d->parts < d->count)
        chi_square(d, c, f);
    free(c);
    return true;
}

/* ------------------------------------------------------------------------------------------------ runs */

/* Of k groups in the part and m that are not, runs of the part are as many as there are gaps among the m + 1 that
 * have any of the k: hypergeometric (Stevens, 1939). */
static void test_runs(struct division *d)
{
    struct finding *f = split_finding(d, "runs of a side");
    struct generator g = draws_of(d, RUNS);
    struct pooled p = {0, 0};
    double all = 0, mean = 0;
    for (uint32_t s = 0; s < d->strata; s++) {
        double n = d->begin[s + 1] - d->begin[s], part = 0, runs = 0;
        for (uint32_t k = d->begin[s]; k < d->begin[s + 1]; k++) {
            part += d->groups[k].part;
            runs += d->groups[k].part && (k == d->begin[s] || !d->groups[k - 1].part);
        }
        pool(&p, runs, n - part + 1, part, n, &g);
        all += runs;
        mean += part * (n - part + 1) / n;
    }
    f->hypothesis = "a record's side does not depend on its neighbours' sides";
    f->statistic = "hypergeometric: runs of records in the part (randomised p)";
    f->value = pooled_z(&p);
    f->p = normal_two_sided(f->value);
    f->effect = mean > 0 ? detectable(d->level) * sqrt(p.variance) / mean : 0;
    f->unit = "relative excess of runs";
    snprintf(f->detail, sizeof f->detail, "%.0f runs, %.0f expected", all, mean);
}

/* ---------------------------------------------------------------------------------------------- places */

#define MOST_LEVELS 6u

/* Halves of the store, halves of the halves, and so on: as far as the part has a few groups in each piece. */
static uint32_t levels_of(const struct division *d)
{
    uint32_t lesser = d->parts < d->count - d->parts ? d->parts : d->count - d->parts, levels = 1;
    while (levels < MOST_LEVELS && lesser >> (levels + 1) >= 2)
        levels++;
    return levels;
}

/* Of piece `i` of `pieces` of each stratum, how much of its part is in its first half. before[k]: groups of the
 * part among the first k. */
static struct pooled halve(const struct division *d, const uint32_t *before, uint64_t i, uint64_t pieces,
                           struct generator *g)
{
    struct pooled p = {0, 0};
    for (uint32_t s = 0; s < d->strata; s++) {
        uint64_t from = d->begin[s], n = d->begin[s + 1] - from;
        uint64_t a = from + n * i / pieces, b = from + n * (2 * i + 1) / (2 * pieces),
                 c = from + n * (i + 1) / pieces;
        pool(&p, before[b] - before[a], before[c] - before[a], (double)(b - a), (double)(c - a), g);
    }
    return p;
}

struct level {
    double chi2, df, p, worst; /* the piece whose halves differ most, 0 ... pieces-1 */
};

static struct level test_level(const struct division *d, const uint32_t *before, uint32_t level,
                               struct generator *g)
{
    struct level l = {.p = 1};
    double far = 0;
    for (uint64_t i = 0; i < (uint64_t)1 << level; i++) {
        struct pooled p = halve(d, before, i, (uint64_t)1 << level, g);
        double z = pooled_z(&p);
        l.chi2 += z * z;
        l.df += p.variance > 0;
        l.worst = fabs(z) > far ? (double)i : l.worst;
        far = fmax(far, fabs(z));
    }
    l.p = l.df > 0 ? chi2_upper(l.chi2, l.df) : 1;
    return l;
}

/* The levels are independent, so the least of their p-values has a known distribution. */
static void judge_levels(struct division *d, const uint32_t *before, struct finding *f)
{
    struct generator g = draws_of(d, PLACES);
    uint32_t levels = levels_of(d), worst = 0;
    struct level least = {.p = 2};
    for (uint32_t k = 0; k < levels; k++) {
        struct level l = test_level(d, before, k, &g);
        worst = l.p < least.p ? k : worst;
        least = l.p < least.p ? l : least;
    }
    double parts = d->parts, n = d->count, pieces = exp2(worst);
    f->value = least.chi2;
    f->df = least.df;
    f->p = -expm1(levels * log1p(-least.p));
    f->effect = detectable(d->level / levels) * sqrt((n - parts) / (4 * n * parts));
    snprintf(f->detail, sizeof f->detail,
             "the least even of %u scales: pieces of 1/%.0f of %s, from %.0f %% on", levels, 2 * pieces,
             d->strata > 1 ? "a class" : "the store", 100 * least.worst / pieces);
}

static bool test_places(struct division *d)
{
    struct finding *f = split_finding(d, "places of the part");
    uint32_t *before = malloc((d->count + (size_t)1) * sizeof *before);
    f->hypothesis = "a record's side does not depend on where in the store it is";
    f->statistic =
        "chi-square: how pieces of the store share the part, on the scale of least p (randomised p)";
    f->unit = "more of the part in one half of the store";
    if (!before)
        return false;
    before[0] = 0;
    for (uint32_t k = 0; k < d->count; k++)
        before[k + 1] = before[k] + d->groups[k].part;
    if (d->parts > 0 && d->parts < d->count)
        judge_levels(d, before, f);
    free(before);
    return true;
}

static bool chances(struct division *d)
{
    const struct split_sample *s = d->sample;
    if (!s->stratified && !s->skewed)
        test_size(d);
    if (s->cls && !s->stratified && !s->skewed && !test_classes(d))
        return false;
    test_runs(d);
    return test_places(d);
}

const struct split_statistics split_statistics = {chances, binomial_interval};
