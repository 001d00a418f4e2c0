/* Tests of one split: see split_tests.h. */
#include "split_tests.h"
#include "distributions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Records that have to be on one side. */
struct group {
    uint32_t first, size; /* its first record; how many it has */
    uint32_t cls;         /* the lowest of its records, or the one that most have: see split_sample.grouped */
    uint32_t stratum;     /* those that are divided by themselves: 0 ... strata-1 */
    double place;         /* of its first record among those of its stratum, 0 ... 1 */
    bool part, torn;      /* the side of its first record; it is on both */
};

struct division {
    const struct split_sample *sample;
    struct group *groups;
    uint32_t count, parts; /* groups in all, and in the part */
    uint32_t strata;
    double level;
    struct split_report *report;
};

static struct finding *next_finding(struct division *d, const char *name)
{
    struct finding *f = &d->report->findings[d->report->count++];
    *f = (struct finding){.name = name, .p = 1, .unit = ""};
    return f;
}

/* A finding that leaves nothing to chance. */
static void certain(struct finding *f, uint64_t wrong, const char *unit)
{
    f->value = (double)wrong;
    f->p = wrong ? 0 : 1;
    f->certain = true;
    f->rejected = wrong > 0;
    f->effect = 1;
    f->unit = unit;
}

/* How many standard deviations a departure must have to be found with probability 0.9. */
static double detectable(double level)
{
    return normal_upper_quantile(level / 2) + normal_upper_quantile(0.1);
}

/* ---------------------------------------------------------------------------------------------- groups */

static uint32_t class_of(const struct split_sample *s, uint32_t i)
{
    return s->cls ? s->cls[i] : 0;
}

/* Groups in the order of their first records. */
static void list_groups(struct division *d, uint32_t *number)
{
    const struct split_sample *s = d->sample;
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->group[i] == i) {
            number[i] = d->count;
            d->groups[d->count++] = (struct group){.first = i, .cls = class_of(s, i), .part = s->part[i]};
            d->parts += s->part[i];
        }
        struct group *g = &d->groups[number[s->group[i]]];
        g->size++;
        g->torn |= g->part != s->part[i];
        g->cls = class_of(s, i) < g->cls ? class_of(s, i) : g->cls;
    }
}

static int by_group_and_class(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Gives each group the class that most of its records have; of several the lowest. */
static bool settle_classes(struct division *d, const uint32_t *number)
{
    const struct split_sample *s = d->sample;
    uint64_t *pairs = malloc((s->n + (size_t)1) * sizeof *pairs);
    for (uint32_t i = 0; pairs && i < s->n; i++)
        pairs[i] = (uint64_t)number[s->group[i]] << 32 | class_of(s, i);
    if (pairs)
        qsort(pairs, s->n, sizeof *pairs, by_group_and_class);
    uint32_t most = 0, last = UINT32_MAX;
    for (uint32_t from = 0, to; pairs && from < s->n; from = to) {
        uint32_t k = (uint32_t)(pairs[from] >> 32);
        for (to = from + 1; to < s->n && pairs[to] == pairs[from]; to++)
            continue;
        if (k != last || to - from > most) {
            most = to - from;
            d->groups[k].cls = (uint32_t)pairs[from];
        }
        last = k;
    }
    free(pairs);
    return pairs != NULL;
}

static int by_stratum(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->stratum != y->stratum)
        return x->stratum < y->stratum ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Where the stratum that begins at `from` ends. */
static uint32_t stratum_end(const struct division *d, uint32_t from)
{
    uint32_t to = from;
    while (to < d->count && d->groups[to].stratum == d->groups[from].stratum)
        to++;
    return to;
}

/* Strata one after another, and each group's place in its own. */
static void place_groups(struct division *d)
{
    for (uint32_t k = 0; k < d->count; k++)
        d->groups[k].stratum = d->sample->stratified || d->sample->skewed ? d->groups[k].cls : 0;
    qsort(d->groups, d->count, sizeof *d->groups, by_stratum);
    for (uint32_t from = 0, to; from < d->count; from = to, d->strata++) {
        to = stratum_end(d, from);
        for (uint32_t k = from; k < to; k++)
            d->groups[k].place = (k - from + 0.5) / (to - from);
    }
}

/* ------------------------------------------------------------------------------------------- the tests */

static void test_whole_groups(struct division *d)
{
    const char *field = d->sample->grouped;
    struct finding *f = next_finding(d, field ? "whole groups" : "equal inputs");
    uint64_t torn = 0, several = 0;
    for (uint32_t k = 0; k < d->count; k++) {
        torn += d->groups[k].torn;
        several += d->groups[k].size > 1;
    }
    f->hypothesis = field ? "records of one group are on the same side"
                          : "records with equal inputs are on the same side";
    f->statistic = field ? "groups that are on both sides"
                         : "groups of records with equal inputs that are on both sides";
    certain(f, torn, "group (nothing is left to chance)");
    snprintf(f->detail, sizeof f->detail, "%llu on both sides, of %llu %s", (unsigned long long)torn,
             (unsigned long long)several,
             field ? "groups of several records" : "inputs that come repeatedly");
}

/* Hashing decides on groups: their number has the binomial law, that of records has it only where all inputs differ. */
static void test_size(struct division *d)
{
    struct finding *f = next_finding(d, "size of the part");
    double n = d->count, ratio = d->sample->ratio;
    f->hypothesis = "each group of equal inputs is in the part with the chance asked for (the binomial law)";
    f->statistic = "binomial: groups in the part";
    f->value = d->parts;
    f->p = fmin(1, 2 * fmin(binomial_lower(d->parts, n, ratio), binomial_upper(d->parts, n, ratio)));
    f->effect = detectable(d->level) * sqrt(ratio * (1 - ratio) / n);
    f->unit = "more or less than the ratio asked for";
    snprintf(f->detail, sizeof f->detail, "%.0f of %.0f, %.0f expected, give or take %.0f", f->value, n,
             ratio * n, sqrt(ratio * (1 - ratio) * n));
}

/* Of each class, the records in the part, all records, and those of its largest group. */
struct class_count {
    double part, all, largest;
};

static struct class_count *count_classes(const struct division *d, bool records)
{
    struct class_count *c = calloc(d->sample->classes, sizeof *c);
    for (uint32_t k = 0; c && k < d->count; k++) {
        const struct group *g = &d->groups[k];
        double size = records ? g->size : 1;
        c[g->cls].all += size;
        c[g->cls].part += g->part ? size : 0;
        c[g->cls].largest = fmax(c[g->cls].largest, size);
    }
    return c;
}

/* Classes too rare for the statistic's limit to hold are put together. */
static void chi_square(const struct division *d, const struct class_count *c, struct finding *f)
{
    double share = (double)d->parts / d->count, lesser = fmin(share, 1 - share), cells = 0;
    double worst = 0, rare_part = 0, rare_all = 0;
    for (uint32_t k = 0; k <= d->sample->classes; k++) {
        bool last = k == d->sample->classes, rare = !last && c[k].all * lesser < 5;
        double part = last ? rare_part : c[k].part, all = last ? rare_all : c[k].all;
        rare_part += rare ? part : 0;
        rare_all += rare ? all : 0;
        if (rare || all == 0)
            continue;
        double off = part - all * share;
        f->value += off * off / (all * share * (1 - share));
        worst = fmax(worst, fabs(part / all - share));
        cells++;
    }
    f->value *= (d->count - 1.0) / d->count;
    f->df = cells - 1;
    f->p = f->df > 0 ? chi2_upper(f->value, f->df) : 1;
    f->effect = f->df > 0 ? sqrt(chi2_noncentrality(f->df, d->level, 0.9) / d->count) : 0;
    f->unit = "rms relative error of a class's share";
    snprintf(f->detail, sizeof f->detail, "a share of %.4f of all; of a class, at most %.4f off", share,
             worst);
}

/* Is a class's part not as large as its rule says? `off` records, before rounding, are missing. Of two sides the part has whole
 * groups, as many as there is room for; of many parts none is ahead of another by two groups, or by two records where groups are
 * of one. */
static bool is_wrong(const struct division *d, const struct class_count *c, double off)
{
    double most = c->largest > 1 ? 2 * c->largest : 1, slight = 1e-6;
    if (d->sample->parts > 0)
        return fabs(off) > most + slight;
    return off < -0.5 - slight || off > c->largest - 0.5 + slight;
}

static void exactness(const struct division *d, const struct class_count *c, struct finding *f)
{
    uint64_t wrong = 0;
    double most = 0;
    for (uint32_t k = 0; k < d->sample->classes; k++) {
        double off = d->sample->ratio * c[k].all - c[k].part;
        wrong += c[k].all > 0 && is_wrong(d, &c[k], off);
        most = fmax(most, fabs(off));
    }
    certain(f, wrong, "class (nothing is left to chance)");
    snprintf(f->detail, sizeof f->detail, "%llu wrong; none is more than %.1f records off",
             (unsigned long long)wrong, most);
}

static bool test_classes(struct division *d)
{
    bool exact = d->sample->stratified;
    struct class_count *c = count_classes(d, exact);
    if (!c)
        return false;
    struct finding *f = next_finding(d, "classes by side");
    f->hypothesis = exact
                        ? "the part has the ratio asked for of each class, to within a group of equal inputs"
                        : "a record's side does not depend on its class";
    f->statistic =
        exact ? "classes whose part is not as large as it should be" : "chi-square of classes by sides";
    if (exact)
        exactness(d, c, f);
    else if (d->parts > 0 && d->parts < d->count)
        chi_square(d, c, f);
    free(c);
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Sorts the groups by place: the last of the tests. Groups at the same place count at once. */
static void test_places(struct division *d)
{
    struct finding *f = next_finding(d, "places of the part");
    double part = 0, rest = 0, parts = d->parts, rests = d->count - parts, far = 0, where = 0;
    double size = parts * rests / d->count;
    f->hypothesis = "a record's side does not depend on where in the store it is";
    f->statistic = "Kolmogorov-Smirnov: places of the part and of the rest";
    f->unit = "more of the part in some stretch of the store";
    if (size == 0)
        return;
    qsort(d->groups, d->count, sizeof *d->groups, by_place);
    for (uint32_t k = 0; k < d->count; k++) {
        part += d->groups[k].part;
        rest += !d->groups[k].part;
        bool tie = k + 1 < d->count && d->groups[k + 1].place == d->groups[k].place;
        if (!tie && fabs(part / parts - rest / rests) > far) {
            far = fabs(part / parts - rest / rests);
            where = d->groups[k].place;
        }
    }
    f->value = far;
    f->p = kolmogorov_upper(far, size);
    f->effect = (sqrt(log(2 / d->level) / 2) + 0.5 * normal_upper_quantile(0.1)) / sqrt(size);
    snprintf(f->detail, sizeof f->detail, "farthest apart by %.4f, at %.0f %% of %s", far, 100 * where,
             d->strata > 1 ? "a class" : "the store");
}

/* Wald and Wolfowitz' runs, within each stratum: mean and variance given how many are on each side. */
static void test_runs(struct division *d)
{
    struct finding *f = next_finding(d, "runs of a side");
    double runs = 0, mean = 0, variance = 0;
    for (uint32_t from = 0, to; from < d->count; from = to) {
        to = stratum_end(d, from);
        double n = to - from, part = 0;
        for (uint32_t k = from; k < to; k++) {
            part += d->groups[k].part;
            runs += k == from || d->groups[k].part != d->groups[k - 1].part;
        }
        double due = 2 * part * (n - part) / n;
        mean += 1 + due;
        variance += n > 1 ? due * (due - 1) / (n - 1) : 0;
    }
    f->hypothesis = "a record's side does not depend on its neighbours' sides";
    f->statistic = "normal: runs of records on the same side";
    f->value = variance > 0 ? (runs - mean) / sqrt(variance) : 0;
    f->p = normal_two_sided(f->value);
    f->effect = detectable(d->level) * sqrt(variance) / mean;
    f->unit = "relative excess of runs";
    snprintf(f->detail, sizeof f->detail, "%.0f runs, %.0f expected", runs, mean);
}

bool split_test(const struct split_sample *sample, double level, struct split_report *report)
{
    struct division d = {.sample = sample, .level = level, .report = report};
    uint32_t *number = calloc(sample->n + (size_t)1, sizeof *number);
    d.groups = calloc(sample->n + (size_t)1, sizeof *d.groups);
    bool ok = number && d.groups;
    report->count = 0;
    if (ok && sample->n > 0) {
        list_groups(&d, number);
        ok = !sample->grouped || settle_classes(&d, number);
        place_groups(&d);
        if (!sample->grouped || *sample->grouped)
            test_whole_groups(&d);
        if (!sample->stratified && !sample->skewed)
            test_size(&d);
        ok = ok && (!sample->cls || sample->skewed || test_classes(&d));
        test_runs(&d);
        test_places(&d);
    }
    free(number);
    free(d.groups);
    return ok;
}
