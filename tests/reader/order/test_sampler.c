/* The samples of epochs: what holds of every one, of the weights behind them, and of plans of them. */
#include "sample_case.h"

#include "bins.h"
#include "weights.h"

/* ------------------------------------------------------------------------------------- of every sample */

/* A rule of each kind, for n records. */
#define RULES 6u
static struct sample_rule rule_of(unsigned kind, uint32_t n, uint32_t *group, double *weights)
{
    struct sample_rule rule = {.seed = 100 + kind, .records = n / 2, .replacement = kind % 2};
    for (uint32_t i = 0; i < n; i++) {
        group[i] = i * i % 7;
        weights[i] = i % 5 ? 1.0 / (1 + i % 13) : 0;
    }
    rule.group = kind < 2 ? group : NULL;
    rule.groups = kind < 2 ? 7 : 0;
    rule.weights = kind == 2 || kind == 3 ? weights : NULL;
    return rule;
}

static uint64_t hash_of(const struct sampler *s, uint32_t n, uint64_t epoch)
{
    return hash_xxh3_64(sampler_cumulative(s, epoch), (n + 1) * sizeof(uint32_t));
}

/* The samples never change their meaning: states are resumed by later versions, on other machines. */
Test(sampler, is_the_same_everywhere)
{
    static const uint64_t golden[RULES] = {0xca59e63973e333a6, 0xccf2e2f3e8704e3f, 0xac5a8bebef63464f,
                                           0x8b30dd5affdb336b, 0x612005dd187d4eab, 0x5634a662b62804f9};
    enum { N = 1000 };
    static uint32_t group[N];
    static double weights[N];
    struct subset subset = made_subset(N, 16);
    for (unsigned kind = 0; kind < RULES; kind++) {
        struct sample_rule rule = rule_of(kind, N, group, weights);
        struct sampler *s = new_sample(&rule, &subset), *t = new_sample(&rule, &subset);
        sampler_draw(s, 41);
        sampler_draw(s, 42);
        uint64_t odd = hash_of(s, N, 41), even = hash_of(s, N, 42);
        sampler_draw(s, 42);
        cr_assert_eq(hash_of(s, N, 42), even);
        for (uint64_t epoch = 0; epoch < 9; epoch++)
            sampler_draw(t, epoch * 7);
        sampler_draw(t, 42);
        sampler_draw(t, 41);
        cr_assert_eq(hash_of(t, N, 41), odd, "a sample hangs on what was drawn before");
        cr_assert_eq(hash_of(t, N, 42), even);
        cr_assert_neq(odd, even);
        cr_assert_eq(even, golden[kind], "kind %u: 0x%016llx", kind, (unsigned long long)even);
        cr_assert_eq(sampler_digest(s).low, sampler_digest(t).low);
        sampler_free(s);
        sampler_free(t);
    }
    free(subset.block);
}

Test(sampler, digests_tell_rules_apart)
{
    enum { N = 50 };
    uint32_t group[N];
    double weights[N], twice[N];
    struct subset subset = made_subset(N, 16);
    struct hash128 digests[2 * RULES];
    for (unsigned i = 0; i < 2 * RULES; i++) {
        struct sample_rule rule = rule_of(i / 2, N, group, weights);
        rule.records = 20 + i % 2;
        struct sampler *s = new_sample(&rule, &subset);
        digests[i] = sampler_digest(s);
        sampler_free(s);
        for (unsigned k = 0; k < i; k++)
            cr_assert(digests[k].low != digests[i].low || digests[k].high != digests[i].high);
    }
    struct sample_rule rule = rule_of(2, N, group, weights);
    struct sampler *s = new_sample(&rule, &subset);
    for (unsigned i = 0; i < N; i++)
        twice[i] = 2 * weights[i];
    rule.weights = twice;
    struct sampler *t = new_sample(&rule, &subset);
    cr_assert_eq(sampler_digest(s).low, sampler_digest(t).low, "only the proportions of weights matter");
    sampler_free(s);
    sampler_free(t);
    free(subset.block);
}

/* Two records, four draws, and neither may come more than three times: the samples where one does are drawn
 * again. */
Test(sampler, draws_again_what_is_beyond_the_limit)
{
    struct subset subset = made_subset(2, 2);
    struct sample_rule rule = {.seed = 5, .records = 4, .replacement = true, .limit = 3};
    struct sampler *s = new_sample(&rule, &subset);
    uint32_t seen[5] = {0};
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        sampler_draw(s, epoch);
        seen[sampler_cumulative(s, epoch)[1]]++;
    }
    cr_assert_eq(seen[0] + seen[4], 0);
    double expected[] = {4 * EPOCHS / 14.0, 6 * EPOCHS / 14.0, 4 * EPOCHS / 14.0}, chi = 0;
    for (unsigned i = 0; i < 3; i++)
        chi += (seen[i + 1] - expected[i]) * (seen[i + 1] - expected[i]) / expected[i];
    cr_assert_lt(chi, chi_most(2));
    sampler_free(s);
    free(subset.block);
}

Test(sampler, limits_are_above_what_comes)
{
    enum { N = 300 };
    uint32_t group[N];
    double weights[N];
    struct subset subset = made_subset(N, 16);
    for (unsigned kind = 0; kind < RULES; kind++) {
        struct sample_rule rule = rule_of(kind, N, group, weights);
        rule.records = kind % 2 || kind == 0 ? 100 * N : N / 2;
        struct sampler *s = new_sample(&rule, &subset);
        cr_assert_leq(sampler_limit(s), rule.records);
        cr_assert_geq(sampler_bytes(s), 2 * N * sizeof(uint32_t));
        for (uint64_t epoch = 0; epoch < 20; epoch++) {
            sampler_draw(s, epoch);
            const uint32_t *first = sampler_cumulative(s, epoch);
            cr_assert_eq(first[N], rule.records);
            for (unsigned i = 0; i < N; i++)
                cr_assert_leq(first[i + 1] - first[i], sampler_limit(s));
        }
        sampler_free(s);
    }
    free(subset.block);
}

Test(sampler, what_cannot_be_is_refused)
{
    static const uint32_t group[] = {0, 0, 2, 2};
    const double one[] = {1, 1, 1}, none[] = {1, 0, 1}, single[] = {1, 0, 1e-300, 1};
    struct subset subset = made_subset(4, 4);
    struct sampler *s = NULL;
    apl_error err;
    struct sample_rule empty = {.records = 4, .group = group, .groups = 3, .weights = one};
    cr_assert_eq(sampler_new(&empty, &subset, &s, &err), APL_E_INVALID);
    cr_assert(strstr(err.message, "weights[1]"), "%s", err.message);
    empty.weights = none;
    sampler_free(new_sample(&empty, &subset));
    empty.weights = NULL;
    sampler_free(new_sample(&empty, &subset));
    struct sample_rule many = {.records = 3, .weights = single};
    cr_assert_eq(sampler_new(&many, &subset, &s, &err), APL_E_INVALID);
    cr_assert(strstr(err.message, "3 records an epoch") && strstr(err.message, "of 2"), "%s", err.message);
    many.records = 2;
    sampler_free(new_sample(&many, &subset));
    many = (struct sample_rule){.records = 5};
    cr_assert_eq(sampler_new(&many, &subset, &s, &err), APL_E_INVALID);
    cr_assert_null(s);
    free(subset.block);
}

Test(sampler, copies_that_a_delivery_can_tell)
{
    struct subset s = {.blocks = 10, .stride = 10};
    cr_assert_eq(sampler_radix(&s), UINT16_MAX);
    s.blocks = 1u << 20;
    cr_assert_eq(sampler_radix(&s), UINT32_MAX / (10u << 20));
    cr_assert_leq((uint64_t)sampler_radix(&s) * s.blocks * s.stride, UINT32_MAX);
}

/* ---------------------------------------------------------------------------------------------- weights */

static double sum_of(const uint64_t *scaled, uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += scaled[i];
    cr_assert_lt(sum, (uint64_t)1 << WEIGHT_BITS);
    cr_assert_geq(sum, (uint64_t)1 << (WEIGHT_BITS - 2));
    return (double)sum;
}

Test(sampler, weights_keep_their_proportions)
{
    enum { N = 1000 };
    static double weights[N];
    static uint64_t scaled[N];
    const double scales[] = {1, 3e300, 1e-290, 5e-324, 1e-310};
    for (unsigned k = 0; k < sizeof scales / sizeof *scales; k++) {
        double sum = 0;
        for (unsigned i = 0; i < N; i++)
            sum += (weights[i] = scales[k] * (1 + i * i % 100) / (k == 1 ? 1000 : 1)) / scales[k];
        weights_scale(weights, N, scaled);
        double all = sum_of(scaled, N);
        for (unsigned i = 0; i < N; i++)
            cr_assert_float_eq((double)scaled[i] / all, weights[i] / scales[k] / sum, 1e-15);
    }
}

Test(sampler, weights_of_any_size)
{
    const double far[] = {1.7976931348623157e308, 5e-324, 0, -0.0, 1e291}, least[] = {5e-324},
                 most[] = {1.7976931348623157e308, 1.7976931348623157e308};
    uint64_t scaled[5];
    weights_scale(far, 5, scaled);
    sum_of(scaled, 5);
    cr_assert_eq(scaled[1] + scaled[2] + scaled[3], 0);
    cr_assert_eq(scaled[4], 6, "1e291 of 1.8e308 are 6.4 of 2^60");
    weights_scale(least, 1, scaled);
    sum_of(scaled, 1);
    weights_scale(most, 2, scaled);
    cr_assert_eq(scaled[0], scaled[1]);
    sum_of(scaled, 2);
}

Test(sampler, parts_are_exact)
{
    uint64_t rest, b = ((uint64_t)1 << 61) - 5;
    for (uint64_t m = 0; m < 40; m++)
        for (uint64_t a = 0; a <= 13; a++) {
            cr_assert_eq(weights_part(m, a, 13, &rest), m * a / 13);
            cr_assert_eq(rest, m * a % 13);
        }
    cr_assert_eq(weights_part(UINT32_MAX, b, b, &rest), UINT32_MAX);
    cr_assert_eq(rest, 0);
    cr_assert_eq(weights_part(UINT32_MAX, b - 1, b, &rest), UINT32_MAX - 1);
    cr_assert_eq(rest, b - UINT32_MAX);
}

/* Weights between which there are 2^60: tables are made again and again. */
Test(sampler, steep_weights)
{
    enum { N = 60 };
    double weights[N];
    struct subset subset = made_subset(N, 16);
    for (unsigned i = 0; i < N; i++)
        weights[i] = ldexp(1, -(int)(i * 7 % N));
    struct sample_rule rule = {.records = N, .weights = weights};
    struct sampler *s = new_sample(&rule, &subset);
    for (uint64_t epoch = 0; epoch < 50; epoch++) {
        sampler_draw(s, epoch);
        for (unsigned i = 0; i <= N; i++)
            cr_assert_eq(sampler_cumulative(s, epoch)[i], i);
    }
    sampler_free(s);
    free(subset.block);
}

/* ----------------------------------------------------------------------------------------- and its plan */

/* Every delivery of the sample once, whatever window, lanes and bins. */
static void check_plan(const struct plan_options *o, const struct subset *subset, uint64_t epoch)
{
    struct bins *p = NULL;
    apl_error err;
    uint32_t deliveries[50];
    bool failed;
    cr_assert_eq(bins_new(o, subset, &p, &err), APL_OK, "%s", err.message);
    bins_begin(p, epoch);
    const uint32_t *first = sampler_cumulative(o->sampler, epoch);
    uint8_t *had = calloc(first[subset->records], 1);
    for (size_t n, at = 0; (n = bins_take(p, deliveries, 50, &failed)) > 0; at += n)
        for (size_t i = 0; i < n; i++) {
            uint32_t reference = deliveries[i] / o->reuse, copy = deliveries[i] % o->reuse;
            uint64_t record = subset->block[reference / subset->stride].before + reference % subset->stride;
            cr_assert_lt(copy, first[record + 1] - first[record]);
            cr_assert_eq(had[first[record] + copy]++, 0);
        }
    cr_assert_eq(bins_position(p), first[subset->records]);
    cr_assert(!memchr(had, 0, first[subset->records]));
    free(had);
    bins_free(p);
}

Test(sampler, plans_bring_each_delivery_once)
{
    enum { N = 300 };
    uint32_t group[N];
    double weights[N];
    struct subset subset = made_subset(N, 16);
    for (unsigned kind = 0; kind < RULES; kind++)
        for (unsigned i = 0; i < 12; i++) {
            struct sample_rule rule = rule_of(kind, N, group, weights);
            rule.records = kind < 2 ? 10 + 97 * i : N / 2;
            struct sampler *s = new_sample(&rule, &subset);
            struct plan_options o = {.seed = i,
                                     .window = i % 3 ? 16 * (i + 1) : N,
                                     .bins = 1 + 9 * i,
                                     .lanes = i % 4 ? 1 : 3,
                                     .reuse = sampler_radix(&subset),
                                     .sampler = s};
            o.window = o.lanes == 3 && o.window < N ? 48 : o.window;
            check_plan(&o, &subset, i);
            sampler_free(s);
        }
    free(subset.block);
}

/* Of two records, one comes twice and the other once, or the other way round: with a window that covers them,
 * the deliveries come in each of their 6 orders equally often. */
Test(sampler, plans_are_uniform_over_the_deliveries)
{
    struct subset subset = made_subset(2, 1);
    static const uint32_t group[] = {0, 1};
    const double weights[] = {2, 1};
    struct sample_rule rule = {.seed = 3, .records = 3, .group = group, .groups = 2, .weights = weights};
    struct sampler *s = new_sample(&rule, &subset);
    struct plan_options o = {
        .seed = 3, .window = 2, .bins = 4, .lanes = 1, .reuse = sampler_radix(&subset), .sampler = s};
    struct bins *p = NULL;
    uint32_t seen[6] = {0}, deliveries[3], order[3];
    bool failed;
    cr_assert_eq(bins_new(&o, &subset, &p, NULL), APL_OK);
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        bins_begin(p, epoch);
        cr_assert_eq(bins_take(p, deliveries, 3, &failed), 3);
        for (unsigned i = 0; i < 3; i++)
            order[i] = 2 * (deliveries[i] / o.reuse) + deliveries[i] % o.reuse;
        seen[order_number(order, 3)]++;
    }
    cr_assert_lt(chi_square(seen, 6, EPOCHS / 6.0), CHI_5);
    bins_free(p);
    sampler_free(s);
    free(subset.block);
}
