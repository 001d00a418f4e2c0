/* Samples that are known to be wrong, and right ones: see sampling_audit.h. */
#include "generator.h"
#include "sampling_audit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------- samplers */

/* A group by its weight, at a number from 0 to 1. */
static uint32_t group_at(const struct sampling_law *law, double number)
{
    double sum = 0, x;
    for (uint32_t i = 0; i < law->groups; i++)
        sum += law->weights[i];
    x = number * sum;
    uint32_t last = 0;
    for (uint32_t i = 0; i < law->groups; i++) {
        if (law->weights[i] == 0)
            continue;
        last = i;
        if (x < law->weights[i])
            return i;
        x -= law->weights[i];
    }
    return last;
}

static uint32_t group_size(const struct sampling_case *c, uint32_t group)
{
    return c->start[group + 1] - c->start[group];
}

/* A number below n: uniform, or biased as by taking remainders. */
typedef uint32_t below_function(struct generator *g, uint32_t n);

/* Of 5 n / 2 numbers, three fall on each of the lower half of n, and two on each of the upper. */
static uint32_t below_by_modulo(struct generator *g, uint32_t n)
{
    return (uint32_t)(generator_draw(g) % ((uint64_t)n * 5 / 2) % n);
}

/* Where groups have a record each, bias can be in their choice alone. */
static uint32_t pick_group(const struct sampling_case *c, struct generator *g, below_function *below)
{
    if (c->law->groups == c->sample->n)
        return group_at(c->law, below(g, 1u << 31) * 0x1p-31);
    return group_at(c->law, (double)(generator_draw(g) >> 11) * 0x1p-53);
}

static void draw_again(const struct sampling_case *c, struct generator *g, below_function *below,
                       uint32_t *order)
{
    for (uint32_t k = 0; k < c->law->records; k++) {
        uint32_t group = pick_group(c, g, below);
        order[k] = c->list[c->start[group] + below(g, group_size(c, group))];
    }
}

/* How often each group comes without replacement: rounded by largest remainders, equal ones by chance. */
static bool round_groups(const struct sampling_law *law, struct generator *g, uint64_t *times)
{
    double sum = 0, *rest = malloc(law->groups * sizeof *rest);
    uint64_t left = law->records;
    for (uint32_t i = 0; i < law->groups; i++)
        sum += law->weights[i];
    for (uint32_t i = 0; rest && i < law->groups; i++) {
        double due = law->records * (law->weights[i] / sum);
        times[i] = (uint64_t)(due + 1e-9 + 1e-12 * due);
        rest[i] = due - (double)times[i] + 1e-9 * (double)(generator_draw(g) >> 11) * 0x1p-53;
        left -= times[i];
    }
    for (; rest && left > 0; left--) {
        uint32_t largest = 0;
        for (uint32_t i = 1; i < law->groups; i++)
            largest = rest[i] > rest[largest] ? i : largest;
        times[largest]++;
        rest[largest] = -1;
    }
    free(rest);
    return rest != NULL;
}

/* The records of a sample without replacement, group by group. */
static bool draw_evenly(const struct sampling_case *c, struct generator *g, below_function *below,
                        uint32_t *order)
{
    const struct sampling_law *law = c->law;
    uint32_t *list = malloc(c->sample->n * sizeof *list), at = 0;
    uint64_t *times = calloc(law->groups, sizeof *times);
    bool ok = list && times && round_groups(law, g, times);
    if (ok)
        memcpy(list, c->list, c->sample->n * sizeof *list);
    for (uint32_t group = 0; ok && group < law->groups; group++) {
        uint32_t *of = list + c->start[group], n = group_size(c, group);
        for (uint32_t i = 0; i < n; i++) { /* Fisher and Yates, from the front */
            uint32_t j = i + below(g, n - i), item = of[i];
            of[i] = of[j];
            of[j] = item;
        }
        for (uint64_t i = 0; n > 0 && i < times[group]; i++) /* without records, it has no weight */
            order[at++] = of[i % n];
    }
    free(list);
    free(times);
    return ok;
}

static bool draw(const struct sampling_case *c, bool replacement, below_function *below, struct generator *g,
                 uint32_t *order)
{
    if (!replacement)
        return draw_evenly(c, g, below, order);
    draw_again(c, g, below, order);
    return true;
}

static bool sample(void *user, bool other_law, below_function *below, uint64_t seed, uint64_t epoch,
                   uint32_t *order)
{
    const struct sampling_case *c = user;
    struct generator g = generator_keyed(seed, epoch);
    bool ok = draw(c, c->law->replacement != other_law, below, &g, order);
    if (ok)
        generator_shuffle(&g, order, c->law->records);
    return ok;
}

static bool right(void *user, uint64_t seed, uint64_t epoch, uint32_t *order)
{
    return sample(user, false, generator_below, seed, epoch, order);
}

static bool other_law(void *user, uint64_t seed, uint64_t epoch, uint32_t *order)
{
    return sample(user, true, generator_below, seed, epoch, order);
}

static bool modulo(void *user, uint64_t seed, uint64_t epoch, uint32_t *order)
{
    return sample(user, false, below_by_modulo, seed, epoch, order);
}

/* One sample for all epochs, in an order that is right. */
static bool same_sample(void *user, uint64_t seed, uint64_t epoch, uint32_t *order)
{
    const struct sampling_case *c = user;
    struct generator g = generator_keyed(seed, 0), h = generator_keyed(seed, epoch);
    bool ok = draw(c, c->law->replacement, generator_below, &g, order);
    if (ok)
        generator_shuffle(&h, order, c->law->records);
    return ok;
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static bool as_stored(void *user, uint64_t seed, uint64_t epoch, uint32_t *order)
{
    const struct sampling_case *c = user;
    bool ok = right(user, seed, epoch, order);
    qsort(order, ok ? c->law->records : 0, sizeof *order, ascending);
    return ok;
}

/* -------------------------------------------------------------------------------------------- the list */

const struct sampling_control sampling_right = {"right", "what the law says", true, true, false, right};

const struct sampling_control sampling_controls[] = {
    {"replacement", "independent draws, where the law says that none are: some records come too often", false,
     true, false, other_law},
    {"no replacement", "shares, where the law says that draws are independent: what comes is too even", true,
     false, false, other_law},
    {"modulo", "a random number modulo the number of records: those of the lower half come more often", true,
     true, true, modulo},
    {"same sample", "one sample, put into another order each epoch: what did not come will never come", true,
     true, true, same_sample},
    {"as stored", "a right sample in the order in which it is stored", true, true, false, as_stored},
};
const unsigned sampling_control_count = sizeof sampling_controls / sizeof *sampling_controls;

/* ---------------------------------------------------------------------------------------------- trying */

/* Is anything left to chance but the order? */
static bool has_chance(const struct sampling_case *c)
{
    double sum = 0;
    for (uint32_t g = 0; g < c->law->groups; g++)
        sum += c->law->weights[g];
    for (uint32_t g = 0; g < c->law->groups; g++)
        if (fmod(c->law->records * (c->law->weights[g] / sum) + 1e-9, group_size(c, g)) > 1e-6)
            return true;
    return c->law->replacement;
}

static bool list_groups(const struct audit_sample *s, const struct sampling_law *law, uint32_t *list,
                        uint32_t *start)
{
    uint32_t *at = calloc(law->groups, sizeof *at);
    if (!at)
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        start[law->group[i] + 1]++;
    for (uint32_t g = 0; g < law->groups; g++)
        start[g + 1] += start[g];
    for (uint32_t i = 0; i < s->n; i++)
        list[start[law->group[i]] + at[law->group[i]]++] = i;
    free(at);
    return true;
}

bool sampling_try(const struct audit_sample *sample, const struct sampling_law *law,
                  const struct sampling_control *control, bool *applies, struct audit_report *report)
{
    uint32_t *list = malloc(((size_t)sample->n + 1) * sizeof *list),
             *start = calloc((size_t)law->groups + 1, sizeof *start);
    struct sampling_case c = {sample, law, list, start};
    bool ok = list && start && list_groups(sample, law, list, start);
    *report = (struct audit_report){.count = 0};
    *applies =
        ok && (law->replacement ? control->with : control->without) && (!control->chance || has_chance(&c));
    if (*applies)
        ok = sampling_audit(sample, law, &(struct order_source){control->order, &c}, report);
    free(list);
    free(start);
    return ok;
}
