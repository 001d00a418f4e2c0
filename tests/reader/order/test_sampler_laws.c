/* The samples of epochs: each law against its exact probabilities in small cases. */
#include "sample_case.h"

#define MOST 8u /* records of a small case */

/* A vector of counts as one number: of n records, each less than MOST times. */
static uint32_t code_of(const uint32_t *counts, uint32_t n)
{
    uint32_t code = 0;
    for (uint32_t i = 0; i < n; i++)
        code = code * MOST + counts[i];
    return code;
}

struct small_case {
    uint32_t n, records, groups;
    const uint32_t *group;
    const double *weights;
    bool replacement;
};

/* The probability of the records order[0 ... k-1], one after another, and then of every way to go on, is
 * added to that of the counts that come of it. */
static void go_on(const struct small_case *c, uint32_t *counts, uint32_t k, double p, double *law)
{
    double sum = 0, size[MOST] = {0};
    if (k == c->records) {
        law[code_of(counts, c->n)] += p;
        return;
    }
    for (uint32_t i = 0; c->group && i < c->n; i++)
        size[c->group[i]]++;
    for (uint32_t g = 0; c->group && g < c->groups; g++)
        sum += c->weights[g];
    for (uint32_t i = 0; !c->group && i < c->n; i++)
        sum += c->replacement || !counts[i] ? c->weights[i] : 0;
    for (uint32_t i = 0; i < c->n; i++) {
        double w = c->group ? c->weights[c->group[i]] / size[c->group[i]] : c->weights[i];
        if (w == 0 || (!c->replacement && counts[i]))
            continue;
        counts[i]++;
        go_on(c, counts, k + 1, p * w / sum, law);
        counts[i]--;
    }
}

static void check_law(const struct small_case *c, const double *law, uint32_t cells, uint64_t seed)
{
    struct subset subset = made_subset(c->n, 3);
    struct sample_rule rule = {.seed = seed,
                               .records = c->records,
                               .group = c->group,
                               .groups = c->groups,
                               .weights = c->weights,
                               .replacement = c->replacement};
    struct sampler *s = new_sample(&rule, &subset);
    uint32_t *seen = calloc(cells, sizeof *seen), counts[MOST], possible = 0;
    double chi = 0;
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        sampler_draw(s, epoch);
        const uint32_t *first = sampler_cumulative(s, epoch);
        for (uint32_t i = 0; i < c->n; i++)
            counts[i] = first[i + 1] - first[i];
        cr_assert_eq(first[0], 0);
        cr_assert_eq(first[c->n], c->records);
        seen[code_of(counts, c->n)]++;
    }
    for (uint32_t i = 0; i < cells; i++) {
        double expected = law[i] * EPOCHS;
        cr_assert(expected > 0 || seen[i] == 0, "a sample that cannot be: %o", i);
        if (expected == 0)
            continue;
        possible++;
        chi += (seen[i] - expected) * (seen[i] - expected) / expected;
    }
    cr_assert(possible > 1 ? chi < chi_most(possible - 1) : seen[0] < EPOCHS, "%g of %u samples", chi,
              possible);
    free(seen);
    free(subset.block);
    sampler_free(s);
}

static void check_draws(const struct small_case *c, uint64_t seed)
{
    uint32_t cells = 1, counts[MOST] = {0};
    for (uint32_t i = 0; i < c->n; i++)
        cells *= MOST;
    double *law = calloc(cells, sizeof *law);
    go_on(c, counts, 0, 1, law);
    check_law(c, law, cells, seed);
    free(law);
}

static const uint32_t six_in_three[] = {0, 1, 0, 2, 0, 1};

Test(sampler_laws, classes_with_replacement)
{
    const double weights[] = {1, 2.5, 0.25}, last[] = {0, 0, 3};
    check_draws(&(struct small_case){6, 2, 3, six_in_three, weights, true}, 1);
    check_draws(&(struct small_case){6, 3, 3, six_in_three, weights, true}, 2);
    struct subset subset = made_subset(6, 3);
    struct sample_rule rule = {
        .records = 3, .group = six_in_three, .groups = 3, .weights = last, .replacement = true};
    struct sampler *s = new_sample(&rule, &subset);
    sampler_draw(s, 0);
    cr_assert_eq(sampler_cumulative(s, 0)[3], 0);
    cr_assert_eq(sampler_cumulative(s, 0)[4], 3);
    sampler_free(s);
    free(subset.block);
}

Test(sampler_laws, records_with_replacement)
{
    const double weights[] = {0.1, 0, 7, 0.3, 2}, alike[] = {1, 1, 1, 1};
    check_draws(&(struct small_case){5, 3, 0, NULL, weights, true}, 3);
    check_draws(&(struct small_case){4, 4, 0, NULL, alike, true}, 4);
}

Test(sampler_laws, records_without_replacement)
{
    const double weights[] = {0.1, 0, 7, 0.3, 2}, alike[] = {3, 3, 3, 3, 3, 3};
    for (uint32_t records = 1; records <= 3; records++)
        check_draws(&(struct small_case){5, records, 0, NULL, weights, false}, 10 + records);
    check_draws(&(struct small_case){6, 4, 0, NULL, alike, false}, 5);
}

/* Without weights: the same laws as with equal ones, in ways of their own. */
Test(sampler_laws, records_that_are_all_alike)
{
    const double alike[] = {1, 1, 1, 1, 1, 1};
    uint32_t cells = MOST * MOST * MOST * MOST * MOST * MOST, counts[MOST] = {0};
    for (unsigned replacement = 0; replacement < 2; replacement++) {
        double *law = calloc(cells, sizeof *law);
        struct small_case c = {6, 3, 0, NULL, alike, replacement};
        go_on(&c, counts, 0, 1, law);
        c.weights = NULL;
        check_law(&c, law, cells, 6 + replacement);
        free(law);
    }
}

/* Five records of weights 4, 2, 2 : of class 0 the first three, then one, then one. Of 9 deliveries the
 * classes come 4.5, 2.25 and 2.25 times: 5, 2 and 2. The first class's records come 1, 2 and 2 times in some
 * order. */
Test(sampler_laws, classes_without_replacement_are_rounded)
{
    static const uint32_t group[] = {0, 0, 0, 1, 2};
    const double weights[] = {4, 2, 2};
    uint32_t cells = MOST * MOST * MOST * MOST * MOST;
    double *law = calloc(cells, sizeof *law);
    for (unsigned once = 0; once < 3; once++) {
        uint32_t counts[] = {2, 2, 2, 2, 2};
        counts[once] = 1;
        law[code_of(counts, 5)] = 1 / 3.0;
    }
    check_law(&(struct small_case){5, 9, 3, group, weights, false}, law, cells, 7);
    free(law);
}

/* Three classes of 1, 2 and 3 records, all alike, and 7 deliveries: 2 and a third each. Which class has the
 * third one is chance. */
Test(sampler_laws, classes_without_replacement_share_ties)
{
    static const uint32_t group[] = {0, 1, 1, 2, 2, 2};
    uint32_t cells = MOST * MOST * MOST * MOST * MOST * MOST;
    double *law = calloc(cells, sizeof *law);
    for (unsigned i = 0; i < 3; i++) {
        uint32_t a[] = {3, 1, 1, 1, 1, 1}, b[] = {2, 1, 1, 1, 1, 1}, c[] = {2, 1, 1, 1, 1, 1};
        a[3 + i] = 0;
        law[code_of(a, 6)] = 1 / 9.0;
        c[1 + i % 2]++;
        c[3 + i] = 0;
        law[code_of(b, 6)] = 1 / 3.0;
        law[code_of(c, 6)] = 1 / 18.0;
        c[1 + i % 2]--;
        c[2 - i % 2]++;
        law[code_of(c, 6)] = 1 / 18.0;
    }
    check_law(&(struct small_case){6, 7, 3, group, NULL, false}, law, cells, 8);
    free(law);
}
