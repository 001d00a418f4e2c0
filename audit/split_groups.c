/* Tests of one split: its groups, and what leaves nothing to chance. See split_tests.h. */
#include "split_tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct finding *split_finding(struct division *d, const char *name)
{
    struct finding *f = &d->report->findings[d->report->count++];
    *f = (struct finding){.name = name, .p = 1, .unit = ""};
    return f;
}

static void certain(struct finding *f, uint64_t wrong, const char *unit)
{
    f->value = (double)wrong;
    f->p = wrong ? 0 : 1;
    f->certain = true;
    f->rejected = wrong > 0;
    f->effect = 1;
    f->unit = unit;
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
            d->groups[d->count++] =
                (struct split_group){.first = i, .cls = class_of(s, i), .part = s->part[i]};
            d->parts += s->part[i];
        }
        struct split_group *g = &d->groups[number[s->group[i]]];
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

/* Gives each group the class of most of its records; on a tie, the lowest. */
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

static bool same_stratum(const struct split_group *x, const struct split_group *y)
{
    return x->cls == y->cls && x->size_class == y->size_class;
}

static int by_stratum(const void *a, const void *b)
{
    const struct split_group *x = a, *y = b;
    if (x->cls != y->cls)
        return x->cls < y->cls ? -1 : 1;
    if (x->size_class != y->size_class)
        return x->size_class < y->size_class ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static uint32_t log2_floor(uint32_t n)
{
    return n > 0 ? 31 - (uint32_t)__builtin_clz(n) : 0;
}

/* Whether the next group of a class still has room depends on its size, so that groups of one class are alike
 * only where they are about as large. */
static bool make_strata(struct division *d)
{
    const struct split_sample *s = d->sample;
    bool by_class = s->stratified || s->skewed;
    for (uint32_t k = 0; s->stratified && k < d->count; k++)
        d->groups[k].size_class = log2_floor(d->groups[k].size);
    if (by_class)
        qsort(d->groups, d->count, sizeof *d->groups, by_stratum);
    d->begin = malloc((d->count + (size_t)1) * sizeof *d->begin);
    if (!d->begin)
        return false;
    for (uint32_t k = 0; k < d->count; k++)
        if (k == 0 || (by_class && !same_stratum(&d->groups[k - 1], &d->groups[k])))
            d->begin[d->strata++] = k;
    d->begin[d->strata] = d->count;
    return true;
}

/* ------------------------------------------------------------------------------------------- the tests */

static void test_whole_groups(struct division *d)
{
    const char *field = d->sample->grouped;
    struct finding *f = split_finding(d, field ? "whole groups" : "equal inputs");
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

/* Of each class, the records in the part, all records, and those of its largest group. */
struct class_count {
    double part, all, largest;
};

/* Is a class's part not as large as its rule says? `off` records, before rounding, are missing. Of two sides
 * the part has whole groups, as many as there is room for; of many parts none is ahead of another by two groups,
 * or by two records where groups are of one. */
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

static bool test_exactness(struct division *d)
{
    struct class_count *c = calloc(d->sample->classes + (size_t)1, sizeof *c);
    if (!c)
        return false;
    for (uint32_t k = 0; k < d->count; k++) {
        const struct split_group *g = &d->groups[k];
        c[g->cls].all += g->size;
        c[g->cls].part += g->part ? g->size : 0;
        c[g->cls].largest = fmax(c[g->cls].largest, g->size);
    }
    struct finding *f = split_finding(d, "classes by side");
    f->hypothesis = "the part has the ratio asked for of each class, to within a group of equal inputs";
    f->statistic = "classes whose part is not as large as it should be";
    exactness(d, c, f);
    free(c);
    return true;
}

static bool run_tests(struct division *d, uint32_t *number, const struct split_statistics *statistics)
{
    const struct split_sample *s = d->sample;
    list_groups(d, number);
    if ((s->grouped && !settle_classes(d, number)) || !make_strata(d))
        return false;
    if (!s->grouped || *s->grouped)
        test_whole_groups(d);
    if (s->stratified && s->cls && !test_exactness(d))
        return false;
    return !statistics || statistics->chances(d);
}

bool split_test(const struct split_sample *sample, double level, const struct split_statistics *statistics,
                struct split_report *report)
{
    struct division d = {.sample = sample, .level = level, .report = report};
    uint32_t *number = calloc(sample->n + (size_t)1, sizeof *number);
    d.groups = calloc(sample->n + (size_t)1, sizeof *d.groups);
    report->count = 0;
    bool ok = number && d.groups && (sample->n == 0 || run_tests(&d, number, statistics));
    free(number);
    free(d.groups);
    free(d.begin);
    return ok;
}
