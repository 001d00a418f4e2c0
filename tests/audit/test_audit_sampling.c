/* The audit of samples: right ones pass as often as they should, wrong ones are found, and by which test. */
#include "bins.h"
#include "order_case.h"
#include "sampling_audit.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define N 600u

/* A law, and the records that it is about: in blocks of 8, in groups of unequal sizes. */
struct law_case {
    uint32_t block[N], group[N];
    double weights[N];
    struct sampling_law law;
    struct audit_sample sample;
};

#define LAWS 7u

static void make_case(struct law_case *c, unsigned number, uint64_t seed, double level)
{
    static const struct {
        uint32_t groups, records;
        bool replacement, weighted;
    } laws[LAWS] = {{7, 500, true, true},  {7, 700, false, false}, {1, 60, false, false},
                    {1, 600, true, false}, {7, 1500, false, true}, {7, 400, false, true},
                    {N, 500, true, true}}; /* the last: each record has a weight of its own */
    memset(c, 0, sizeof *c);
    for (uint32_t i = 0; i < N; i++) {
        c->block[i] = i / 8;
        c->group[i] = laws[number].groups == 1 ? 0 : laws[number].groups == N ? i : i * i / 300 % 7;
    }
    for (uint32_t g = 0; g < N; g++)
        c->weights[g] = laws[number].weighted ? g % 3 : 1;
    c->law = (struct sampling_law){
        c->group, laws[number].groups, c->weights, laws[number].replacement, laws[number].records, true};
    c->sample = (struct audit_sample){
        .n = N, .block = c->block, .blocks = N / 8, .batch = 32, .seed = seed, .epochs = 100, .level = level};
}

static void try(struct law_case *c, const struct sampling_control *control, bool *applies,
                struct audit_report *r)
{
    cr_assert(sampling_try(&c->sample, &c->law, control, applies, r));
}

Test(audit_sampling, right_samples_are_rejected_as_rarely_as_they_should_be)
{
    unsigned rejected = 0;
    double low = 0, tests = 0;
    for (unsigned number = 0; number < LAWS; number++)
        for (uint64_t seed = 0; seed < 40; seed++) {
            struct law_case c;
            struct audit_report r;
            bool applies;
            make_case(&c, number, seed, 0.05);
            try(&c, &sampling_right, &applies, &r);
            cr_assert(applies);
            cr_assert_geq(r.count, 4);
            for (unsigned i = 0; i < r.count; i++) {
                cr_assert(!r.findings[i].certain || r.findings[i].p == 1, "law %u: %s: %s", number,
                          r.findings[i].name, r.findings[i].detail);
                tests += !r.findings[i].certain;
                low += !r.findings[i].certain && r.findings[i].p < 0.1;
            }
            rejected += r.rejected > 0;
        }
    cr_assert(rejected < 28, "%u of 280 at the level 0.05", rejected);
    cr_assert(low / tests > 0.07 && low / tests < 0.13, "%g of %g p-values are below 0.1", low, tests);
}

Test(audit_sampling, wrong_samples_are_found)
{
    for (unsigned number = 0; number < LAWS; number++)
        for (unsigned i = 0; i < sampling_control_count; i++) {
            const struct sampling_control *control = &sampling_controls[i];
            struct law_case c;
            struct audit_report r;
            bool applies;
            make_case(&c, number, 77, 0.01);
            try(&c, control, &applies, &r);
            if (applies)
                cr_assert(r.rejected > 0, "law %u, %s", number, control->name);
            else
                cr_assert(!(c.law.replacement ? control->with : control->without));
        }
}

/* Of records with weights of their own, a twentieth of which come half as often again as they should. */
Test(audit_sampling, weights_of_records_that_are_not_those_of_the_law_are_found)
{
    struct law_case c, wrong;
    struct audit_report r;
    uint32_t list[N], start[N + 1];
    make_case(&c, LAWS - 1, 5, 0.01);
    make_case(&wrong, LAWS - 1, 5, 0.01);
    for (uint32_t i = 0; i <= N; i++) {
        start[i] = i;
        list[i % N] = i % N;
    }
    struct sampling_case drawn = {&c.sample, &wrong.law, list, start};
    const struct order_source source = {sampling_right.order, &drawn};
    cr_assert(sampling_audit(&c.sample, &c.law, &source, &r));
    cr_assert_eq(r.rejected, 0);
    for (uint32_t i = 0; i < N; i += 20)
        wrong.weights[i + 1] *= 1.5;
    cr_assert(sampling_audit(&c.sample, &c.law, &source, &r));
    cr_assert(r.rejected > 0);
}

/* Without replacement and without remainders, nothing is left to chance but the order. */
Test(audit_sampling, whole_epochs_leave_only_the_order_to_chance)
{
    struct law_case c;
    struct audit_report r;
    bool applies;
    make_case(&c, 2, 3, 0.01);
    c.law.records = 2 * N;
    try(&c, &sampling_right, &applies, &r);
    cr_assert_eq(r.rejected, 0);
    cr_assert_eq(r.count, 4);
    for (unsigned i = 0; i < sampling_control_count; i++) {
        try(&c, &sampling_controls[i], &applies, &r);
        cr_assert_eq(applies, strcmp(sampling_controls[i].name, "replacement") == 0 ||
                                  strcmp(sampling_controls[i].name, "as stored") == 0);
        cr_assert(!applies || r.rejected > 0);
    }
}

/* ------------------------------------------------------------------------------- the reader's own samples */

struct planned {
    const struct law_case *law;
    struct subset subset;
    uint64_t window;
};

/* The deliveries of an epoch as a reader of the seed has them. */
static bool plan_order_of(void *user, uint64_t seed, uint64_t epoch, uint32_t *order)
{
    const struct planned *p = user;
    const struct sampling_law *law = &p->law->law;
    struct sample_rule rule = {.seed = seed,
                               .records = law->records,
                               .group = law->groups > 1 ? law->group : NULL,
                               .groups = law->groups,
                               .weights = law->groups > 1 ? law->weights : NULL,
                               .replacement = law->replacement};
    struct sampler *sampler = NULL;
    struct bins *plan = NULL;
    bool failed, ok = sampler_new(&rule, &p->subset, &sampler, NULL) == APL_OK;
    struct plan_options o = {.seed = seed,
                             .window = p->window,
                             .bins = 16,
                             .lanes = 1,
                             .reuse = sampler_radix(&p->subset),
                             .sampler = sampler};
    ok = ok && bins_new(&o, &p->subset, &plan, NULL) == APL_OK;
    if (ok) {
        bins_begin(plan, epoch);
        ok = bins_take(plan, order, law->records, &failed) == law->records;
        for (uint32_t k = 0; k < law->records; k++) /* blocks are full: references are records */
            order[k] /= o.reuse;
    }
    bins_free(plan);
    sampler_free(sampler);
    return ok;
}

Test(audit_sampling, the_readers_samples_pass)
{
    unsigned rejected = 0;
    double low = 0, tests = 0;
    for (unsigned number = 0; number < LAWS; number++)
        for (uint64_t seed = 0; seed < 25; seed++) {
            struct law_case c;
            struct audit_report r;
            make_case(&c, number, seed, 0.05);
            struct planned p = {&c, made_subset(N, 8), N};
            struct order_source source = {plan_order_of, &p};
            cr_assert(sampling_audit(&c.sample, &c.law, &source, &r));
            rejected += r.rejected > 0;
            for (unsigned i = 0; i < r.count; i++) {
                tests += !r.findings[i].certain;
                low += !r.findings[i].certain && r.findings[i].p < 0.1;
                cr_assert(!r.findings[i].certain || r.findings[i].p == 1);
            }
            free(p.subset.block);
        }
    cr_assert(rejected < 18, "%u of 150 at the level 0.05", rejected);
    cr_assert(low / tests > 0.06 && low / tests < 0.14, "%g of %g p-values are below 0.1", low, tests);
}

/* The counts are right whatever the window; the order shows that it is small. */
Test(audit_sampling, a_small_window_is_told_by_the_order)
{
    struct law_case c;
    struct audit_report r;
    make_case(&c, 0, 9, 0.01);
    struct planned p = {&c, made_subset(N, 8), 16};
    struct order_source source = {plan_order_of, &p};
    cr_assert(sampling_audit(&c.sample, &c.law, &source, &r));
    for (unsigned i = 0; i < r.count; i++)
        cr_assert_eq(r.findings[i].rejected,
                     strcmp(r.findings[i].name, "neighbours") == 0 ||
                         strcmp(r.findings[i].name, "positions") == 0,
                     "%s: p = %g", r.findings[i].name, r.findings[i].p);
    c.law.ordered = false;
    cr_assert(sampling_audit(&c.sample, &c.law, &source, &r));
    cr_assert_eq(r.rejected, 0);
    free(p.subset.block);
}

/* What a source delivers, and where it goes wrong. */
struct plant {
    const struct sampling_law *law;
    unsigned kind;
};

static bool planted(void *user, uint64_t seed, uint64_t epoch, uint32_t *order)
{
    const struct plant *p = user;
    (void)seed;
    for (uint32_t k = 0; k < p->law->records; k++)
        order[k] = k % N;
    if (p->kind == 0)
        order[epoch % p->law->records] = UINT32_MAX;
    if (p->kind == 1)
        order[0] = order[1];
    return p->kind < 3;
}

static const struct finding *find(const struct audit_report *r, const char *name)
{
    for (unsigned i = 0; i < r->count; i++)
        if (strcmp(r->findings[i].name, name) == 0)
            return &r->findings[i];
    return NULL;
}

Test(audit_sampling, tells_what_is_missing_and_what_cannot_be)
{
    struct law_case c;
    struct audit_report r;
    make_case(&c, 2, 3, 0.01);
    c.law.records = N;
    c.sample.epochs = 5;
    struct plant p = {&c.law, 0};
    struct order_source source = {planted, &p};
    cr_assert(sampling_audit(&c.sample, &c.law, &source, &r));
    cr_assert_eq(r.count, 1, "nothing else can be told");
    cr_assert(r.rejected == 1 && r.findings[0].certain);
    p.kind = 1;
    cr_assert(sampling_audit(&c.sample, &c.law, &source, &r));
    cr_assert_eq(find(&r, "deliveries")->p, 1);
    cr_assert(find(&r, "what cannot be")->rejected);
    p.kind = 2; /* right, but for the order */
    cr_assert(sampling_audit(&c.sample, &c.law, &source, &r));
    cr_assert_eq(find(&r, "what cannot be")->p, 1);
    cr_assert(find(&r, "positions")->rejected);
    p.kind = 3;
    cr_assert_not(sampling_audit(&c.sample, &c.law, &source, &r));
}
