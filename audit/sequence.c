/* Tests of one epoch's order as a sequence: neighbours, serial correlation, inversions, fixed points, cycles. */
#include "audit.h"
#include "distributions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sum of independent deviations, each in units of its standard deviation. */
struct deviations {
    double sum, squares, count, mean; /* mean: of what was seen, not of deviations */
    uint32_t *scratch;
};

static void deviate(struct deviations *d, double seen, double expected, double variance)
{
    double z = variance > 0 ? (seen - expected) / sqrt(variance) : 0;
    d->sum += z;
    d->squares += z * z;
    d->count++;
    d->mean += (seen - d->mean) / d->count;
}

static void *begin(const struct audit_sample *s)
{
    struct deviations *d = calloc(1, sizeof *d);
    if (d)
        d->scratch = calloc((size_t)s->n + 1, sizeof *d->scratch);
    if (d && !d->scratch) {
        free(d);
        d = NULL;
    }
    return d;
}

static void end(struct deviations *d)
{
    free(d->scratch);
    free(d);
}

/* How far a mean deviation must be off to be found, in standard deviations of one epoch. */
static double detectable(const struct deviations *d, double level)
{
    return (normal_upper_quantile(level / 2) + normal_upper_quantile(0.1)) / sqrt(d->count);
}

/* -------------------------------------------------------------------------------------------- neighbours */

/* Records in kinds: each position is compared with the next. */
struct neighbours {
    struct deviations *d;
    uint32_t *kind, kinds;
    double mean, variance; /* of adjacent positions of one kind, in an epoch */
};

/* Mean and variance of the number of adjacent positions whose records are of the same kind, in a uniform permutation of n. */
static void adjacency_law(struct neighbours *a, const double *size, double n)
{
    double two = 0, three = 0, four = 0;
    for (uint32_t b = 0; b < a->kinds; b++) {
        double m = size[b], pairs = m * (m - 1);
        two += pairs;
        three += pairs * (m - 2);
        four += pairs * (m - 2) * (m - 3) -
                pairs * pairs; /* of the same kind; then of two different ones, below */
    }
    four += two * two;
    double p2 = two / (n * (n - 1)), p3 = three / (n * (n - 1) * (n - 2));
    double p4 = four / (n * (n - 1) * (n - 2) * (n - 3));
    a->mean = (n - 1) * p2;
    a->variance = (n - 1) * p2 + 2 * (n - 2) * p3 + (n - 2) * (n - 3) * p4 - a->mean * a->mean;
}

static void neighbours_free(struct neighbours *a)
{
    if (a && a->d)
        end(a->d);
    if (a)
        free(a->kind);
    free(a);
}

/* Takes over `kind`, of each record 0 ... kinds-1. */
static void *neighbours_new(const struct audit_sample *s, uint32_t *kind, uint32_t kinds)
{
    struct neighbours *a = calloc(1, sizeof *a);
    double *size = calloc(kinds, sizeof *size);
    if (a)
        *a = (struct neighbours){.d = begin(s), .kind = kind, .kinds = kinds};
    bool ok = a && a->d && kind && size;
    for (uint32_t i = 0; ok && i < s->n; i++)
        size[kind[i]]++;
    if (ok)
        adjacency_law(a, size, s->n);
    free(size);
    if (!a)
        free(kind);
    if (!ok)
        neighbours_free(a);
    return ok ? a : NULL;
}

static void *blocks_begin(const struct audit_sample *s)
{
    uint32_t *kind = malloc(s->n * sizeof *kind);
    if (kind)
        memcpy(kind, s->block, s->n * sizeof *kind);
    return neighbours_new(s, kind, s->blocks);
}

static void neighbours_add(void *state, const struct audit_sample *s, const struct audit_epoch *e)
{
    struct neighbours *a = state;
    double same = 0;
    for (uint32_t k = 0; k + 1 < s->n; k++)
        if (e->order[k] < s->n && e->order[k + 1] < s->n)
            same += a->kind[e->order[k]] == a->kind[e->order[k + 1]];
    deviate(a->d, same, a->mean, a->variance);
}

/* The binomial law with the mean and the variance that the number has (of which few are rare, so that it is close to
 * Poisson's, and many common, so that it is close to normal). */
static double neighbours_p(const struct audit_sample *s, const char *test, double seen, double mean,
                           double variance)
{
    double chance = mean > 0 ? 1 - variance / mean : 0, draws = chance > 0 ? floor(mean / chance + 0.5) : 0;
    if (mean == 0)
        return 1;
    if (chance < 1e-6)
        return audit_count_p(s, test, poisson_lower(seen, mean), poisson_upper(seen, mean));
    return audit_count_p(s, test, binomial_lower(seen, draws, mean / draws),
                         binomial_upper(seen, draws, mean / draws));
}

static void neighbours_tell(struct neighbours *a, const struct audit_sample *s, double level,
                            struct finding *f)
{
    struct deviations *d = a->d;
    f->value = floor(d->mean * d->count + 0.5);
    f->p = neighbours_p(s, f->name, f->value, d->count * a->mean, d->count * a->variance);
    f->effect = a->mean > 0 ? detectable(d, level) * sqrt(a->variance) / a->mean : 0;
    f->unit = "relative excess of such pairs";
    snprintf(f->detail, sizeof f->detail, "%.1f pairs an epoch, %.1f expected", d->mean, a->mean);
    neighbours_free(a);
}

static void blocks_finish(void *state, const struct audit_sample *s, double level, struct finding *f)
{
    f->hypothesis = "records of the same stored block follow each other no more often than chance has it";
    f->statistic = "binomial: adjacent positions of the same block, in all epochs (randomised p)";
    neighbours_tell(state, s, level, f);
}

const struct audit_test audit_neighbours = {"neighbours of one block", blocks_begin, neighbours_add,
                                            blocks_finish, false};

/* Generators modulo a power of two have short periods in their lowest bits. */
#define REMAINDERS 8u

static void *remainders_begin(const struct audit_sample *s)
{
    uint32_t *kind = malloc(s->n * sizeof *kind);
    for (uint32_t i = 0; kind && i < s->n; i++)
        kind[i] = i % REMAINDERS;
    return neighbours_new(s, kind, REMAINDERS);
}

static void remainders_finish(void *state, const struct audit_sample *s, double level, struct finding *f)
{
    f->hypothesis = "records whose numbers differ by a multiple of eight follow each other as chance has it";
    f->statistic = "binomial: adjacent positions of the same remainder by 8, in all epochs (randomised p)";
    neighbours_tell(state, s, level, f);
}

const struct audit_test audit_remainders = {"remainders of neighbours", remainders_begin, neighbours_add,
                                            remainders_finish, false};

/* ------------------------------------------------------------------------------------- serial correlation */

#define LAGS 64u

struct serial {
    double sum[LAGS]; /* of z */
    double epochs;
    float *x;
};

static void *serial_begin(const struct audit_sample *s)
{
    struct serial *r = calloc(1, sizeof *r);
    if (r)
        r->x = calloc(s->n, sizeof *r->x);
    if (r && !r->x) {
        free(r);
        r = NULL;
    }
    return r;
}

static double product(const float *a, const float *b, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n;) {
        float part = 0; /* per run, short enough for single precision */
        uint32_t to = n - i < 256 ? n : i + 256;
        for (; i < to; i++)
            part += a[i] * b[i];
        sum += part;
    }
    return sum;
}

static void serial_add(void *state, const struct audit_sample *s, const struct audit_epoch *e)
{
    struct serial *r = state;
    double middle = (s->n - 1) / 2.0, n = s->n;
    for (uint32_t k = 0; k < s->n; k++)
        r->x[k] = (float)((e->order[k] - middle) / n);
    double squares = product(r->x, r->x, s->n);
    for (unsigned lag = 1; lag <= LAGS && lag < s->n; lag++) {
        double pairs = n - lag, expected = -pairs * squares / (n * (n - 1));
        double deviation = sqrt(pairs) * squares / n;
        r->sum[lag - 1] += (product(r->x, r->x + lag, s->n - lag) - expected) / deviation;
    }
    r->epochs++;
}

static void serial_finish(void *state, const struct audit_sample *s, double level, struct finding *f)
{
    struct serial *r = state;
    unsigned worst = 0;
    for (unsigned i = 0; i < LAGS; i++) {
        f->value += r->sum[i] * r->sum[i] / r->epochs;
        worst = fabs(r->sum[i]) > fabs(r->sum[worst]) ? i : worst;
    }
    f->hypothesis = "where a record is stored says nothing about where the records some places on are stored";
    f->statistic = "chi-square of the serial correlations at lags 1 to 64";
    f->df = LAGS;
    f->p = chi2_upper(f->value, LAGS);
    f->effect = sqrt(chi2_noncentrality(LAGS, level, 0.9) / (r->epochs * s->n));
    f->unit = "correlation, at one lag";
    snprintf(f->detail, sizeof f->detail, "largest at lag %u: %+.5f", worst + 1,
             r->sum[worst] / (r->epochs * sqrt(s->n)));
    free(r->x);
    free(r);
}

const struct audit_test audit_serial = {"serial correlation", serial_begin, serial_add, serial_finish, false};

void audit_lags(const void *state, const struct audit_sample *s, double *lags, double *deviation)
{
    const struct serial *r = state;
    for (unsigned i = 0; i < LAGS; i++)
        lags[i] = r->sum[i] / (r->epochs * sqrt(s->n));
    *deviation = 1 / sqrt(r->epochs * s->n);
}

/* --------------------------------------------------------------------------------------------- inversions */

/* Pairs of which the later stored comes first; by a tree of counts (Fenwick). */
static double inversions(const uint32_t *order, uint32_t n, uint32_t *tree)
{
    double count = 0;
    for (uint32_t i = 0; i <= n; i++)
        tree[i] = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (order[k] >= n)
            continue;
        uint32_t smaller = 0;
        for (uint32_t i = order[k]; i > 0; i &= i - 1)
            smaller += tree[i];
        count += k - smaller;
        for (uint32_t i = order[k] + 1; i <= n; i += i & -i)
            tree[i]++;
    }
    return count;
}

static void inversions_add(void *state, const struct audit_sample *s, const struct audit_epoch *e)
{
    struct deviations *d = state;
    double n = s->n, seen = inversions(e->order, s->n, d->scratch);
    deviate(d, seen, n * (n - 1) / 4, n * (n - 1) * (2 * n + 5) / 72);
}

static void inversions_finish(void *state, const struct audit_sample *s, double level, struct finding *f)
{
    struct deviations *d = state;
    double n = s->n;
    f->hypothesis = "of two records, the one that is stored later comes first half of the time";
    f->statistic = "chi-square of the numbers of inversions, an epoch each";
    f->df = d->count;
    f->value = d->squares;
    f->p = fmin(1, 2 * fmin(chi2_upper(f->value, f->df), chi2_lower(f->value, f->df)));
    f->effect = detectable(d, level) * sqrt((2 * n + 5) / (18 * n * (n - 1)));
    f->unit = "of a half, the same in all epochs";
    snprintf(f->detail, sizeof f->detail, "%.5f of all pairs", d->mean / (n * (n - 1) / 2));
    end(d);
}

const struct audit_test audit_inversions = {"inversions", begin, inversions_add, inversions_finish, false};

/* ---------------------------------------------------------------------------------- fixed points, cycles */

static void fixed_add(void *state, const struct audit_sample *s, const struct audit_epoch *e)
{
    struct deviations *d = state;
    double fixed = 0;
    for (uint32_t k = 0; k < s->n; k++)
        fixed += e->order[k] == k;
    deviate(d, fixed, 1, 1);
}

static void fixed_finish(void *state, const struct audit_sample *s, double level, struct finding *f)
{
    struct deviations *d = state;
    double seen = floor(d->mean * d->count + 0.5), mean = d->count;
    f->hypothesis = "one record an epoch, on average, comes at the position at which it is stored";
    f->statistic = "Poisson: fixed points of all epochs (randomised p)";
    f->value = seen;
    f->p = audit_count_p(s, f->name, poisson_lower(seen, mean), poisson_upper(seen, mean));
    f->effect = detectable(d, level);
    f->unit = "more or fewer an epoch";
    char fixed[32], epochs[32];
    snprintf(f->detail, sizeof f->detail, "%s in %s epochs", audit_count_text(fixed, seen),
             audit_count_text(epochs, mean));
    end(d);
}

const struct audit_test audit_fixed_points = {"fixed points", begin, fixed_add, fixed_finish, false};

static double cycles(const uint32_t *order, uint32_t n, uint32_t *seen)
{
    double count = 0;
    for (uint32_t i = 0; i < n; i++)
        seen[i] = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (seen[i])
            continue;
        count++;
        for (uint32_t at = i; at < n && !seen[at]; at = order[at])
            seen[at] = 1;
    }
    return count;
}

static void cycles_law(uint32_t n, double *mean, double *variance)
{
    *mean = *variance = 0;
    for (uint32_t k = n; k >= 1; k--) {
        double i = k;
        *mean += 1 / i;
        *variance += 1 / i - 1 / (i * i);
    }
}

static void cycles_add(void *state, const struct audit_sample *s, const struct audit_epoch *e)
{
    struct deviations *d = state;
    double mean, variance;
    cycles_law(s->n, &mean, &variance);
    deviate(d, cycles(e->order, s->n, d->scratch), mean, variance);
}

/* A sum of independent indicators with the probabilities 1, 1/2, 1/3, ... is close to a Poisson variable that is shifted so
 * that mean and variance are right (translated Poisson approximation). */
static void cycles_finish(void *state, const struct audit_sample *s, double level, struct finding *f)
{
    struct deviations *d = state;
    double mean, variance, epochs = d->count, seen = d->mean * d->count;
    cycles_law(s->n, &mean, &variance);
    double shift = floor(epochs * (mean - variance)), k = floor(seen + 0.5) - shift,
           poisson = epochs * mean - shift;
    f->hypothesis = "the order has as many cycles, as a permutation, as chance gives it";
    f->statistic = "translated Poisson: cycles of all epochs (randomised p)";
    f->value = seen;
    f->p = audit_count_p(s, f->name, poisson_lower(k, poisson), poisson_upper(k, poisson));
    f->effect = detectable(d, level) * sqrt(variance);
    f->unit = "more or fewer an epoch";
    snprintf(f->detail, sizeof f->detail, "%.2f an epoch, %.2f expected", d->mean, mean);
    end(d);
}

const struct audit_test audit_cycles = {"cycles", begin, cycles_add, cycles_finish, false};
