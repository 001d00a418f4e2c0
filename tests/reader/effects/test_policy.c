/* Operations drawn from torchvision's tables: how much, and which way. */
#include "policy.h"

#include <criterion/criterion.h>
#include <math.h>

TestSuite(policy);

#define DRAWS 3000
#define BINS  31

static struct policy_operation drawn(bool wide, unsigned magnitude, uint64_t id)
{
    apl_transform t = APL_TRANSFORM_INIT;
    struct effect_draws draws = effect_draws(1, 2, id, 0);
    t.policy = wide ? APL_POLICY_TRIVIAL_WIDE : APL_POLICY_RAND;
    t.policy_bins = BINS;
    t.policy_magnitude = magnitude;
    return policy_draw(&t, &draws, 0, 100, 200);
}

/* Is that the magnitude of one of the bins, of which the last is `last`, or what follows from it? */
static bool is_of_bins(bool wide, struct policy_operation o, double last, unsigned from, unsigned to)
{
    for (unsigned at = from; at <= to; at++) {
        double share = at / (BINS - 1.0), want = last * share;
        if (o.kind == POLICY_POSTERIZE)
            want = 8 - rint((wide ? 6 : 4) * share);
        else if (o.kind == POLICY_SOLARIZE)
            want = 255 * (1 - share);
        if (fabs(fabs(o.magnitude) - want) < 1e-4)
            return true;
    }
    return false;
}

static void check_draws(bool wide, unsigned from, unsigned to, const double last[POLICY_KINDS])
{
    unsigned kinds[POLICY_KINDS] = {0}, negative[POLICY_KINDS] = {0};
    for (uint64_t id = 0; id < DRAWS; id++) {
        struct policy_operation o = drawn(wide, from, id);
        cr_assert(is_of_bins(wide, o, last[o.kind], from, to), "kind %d: %g", (int)o.kind, o.magnitude);
        kinds[o.kind]++;
        negative[o.kind] += o.magnitude < 0;
    }
    for (unsigned k = 0; k < POLICY_KINDS; k++) {
        double n = kinds[k], expected = (double)DRAWS / POLICY_KINDS;
        cr_assert(fabs(n - expected) < 5 * sqrt(expected), "kind %u: %u times", k, kinds[k]);
        if (k == POLICY_IDENTITY || k >= POLICY_POSTERIZE)
            cr_assert_eq(negative[k], 0, "kind %u has no sign", k);
        else
            cr_assert(fabs(negative[k] - n / 2) < 5 * sqrt(n / 4) + n / BINS, "kind %u: %u of %u", k,
                      negative[k], kinds[k]);
    }
}

Test(policy, trivial_augment_wide_draws_how_much)
{
    static const double last[POLICY_KINDS] = {0, 0.99, 0.99, 32, 32, 135, 0.99, 0.99, 0.99, 0.99};
    check_draws(true, 0, BINS - 1, last);
}

Test(policy, rand_augment_is_told_how_much)
{
    static const double last[POLICY_KINDS] = {0,   0.3, 0.3, 150.0 / 331 * 200, 150.0 / 331 * 100, 30, 0.9,
                                              0.9, 0.9, 0.9};
    static const unsigned magnitudes[] = {1, 9, 15, 22, 30};
    for (unsigned i = 0; i < sizeof magnitudes / sizeof *magnitudes; i++)
        check_draws(false, magnitudes[i], magnitudes[i], last);
}
