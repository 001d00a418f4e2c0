/* The audit of crops: right ones pass as often as they should, wrong ones are found, and by which test. */
#include "crops.h"
#include "generator.h"

#include <criterion/criterion.h>
#include <string.h>

#define N 450u /* as many of each value, if they come by turns */

static const struct crop_law law = {3, {9, 5, 2}, {"down", "across", "flipped"}};

enum wrong {
    RIGHT,
    NEVER_LAST,  /* the last place is out of reach */
    RARELY_FLIP, /* of 100, 45 */
    TOO_EVEN,    /* values by turns */
    EPOCHS_SAME, /* keyed by the record alone */
    OF_BATCHES,  /* half of all crops are that of the record before */
    DIAGONAL,    /* as far across as down */
};

struct drawer {
    enum wrong wrong;
    uint64_t seed;
};

static uint32_t draw(enum wrong wrong, struct generator *g, unsigned q, uint32_t i)
{
    if (wrong == NEVER_LAST && q == 0)
        return generator_below(g, 8);
    if (wrong == RARELY_FLIP && q == 2)
        return generator_below(g, 100) < 45;
    if (wrong == TOO_EVEN)
        return (i * (q + 7)) % law.values[q];
    return generator_below(g, law.values[q]);
}

static bool take(void *user, uint64_t epoch, struct crop_epoch *crops)
{
    const struct drawer *d = user;
    crops->count = N;
    for (uint32_t i = 0; i < N; i++) {
        uint64_t key = d->wrong == EPOCHS_SAME ? 0 : epoch;
        struct generator g = generator_keyed(generator_keyed(d->seed, key).state, i);
        bool as_before = d->wrong == OF_BATCHES && i > 0 && generator_below(&g, 2);
        crops->record[i] = d->wrong == TOO_EVEN ? N - 1 - i : i;
        for (unsigned q = 0; q < law.count; q++)
            crops->value[q][i] = as_before ? crops->value[q][i - 1] : draw(d->wrong, &g, q, i);
        if (d->wrong == DIAGONAL)
            crops->value[1][i] = crops->value[0][i] * 5 / 9;
    }
    return true;
}

static void audit(enum wrong wrong, uint64_t seed, double level, struct audit_report *r)
{
    struct drawer d = {wrong, seed};
    const struct audit_sample sample = {.n = N, .seed = seed, .epochs = 20, .level = level};
    memset(r, 0, sizeof *r);
    cr_assert(crops_audit(&sample, N, &law, &(struct crop_source){take, &d}, r));
    cr_assert_eq(r->count, 4);
}

Test(audit_crops, right_ones_are_rejected_as_rarely_as_they_should_be)
{
    unsigned rejected = 0;
    double low[4] = {0};
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct audit_report r;
        audit(RIGHT, seed, 0.05, &r);
        rejected += r.rejected > 0;
        for (unsigned i = 0; i < r.count; i++)
            low[i] += r.findings[i].p < 0.25;
    }
    cr_assert_leq(rejected, 20, "%u", rejected); /* 10 are due */
    for (unsigned i = 0; i < 4; i++)             /* 50 are due, with a standard deviation of 6.1 */
        cr_assert(low[i] > 25 && low[i] < 75, "%u: %g", i, low[i]);
}

Test(audit_crops, wrong_ones_are_found)
{
    static const struct {
        enum wrong wrong;
        const char *by;
    } wrongs[] = {{NEVER_LAST, "crops and flips"},     {RARELY_FLIP, "crops and flips"},
                  {TOO_EVEN, "crops and flips"},       {EPOCHS_SAME, "crops of epochs"},
                  {OF_BATCHES, "crops of neighbours"}, {DIAGONAL, "across, down, flipped"}};
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            struct audit_report r;
            bool found = false;
            audit(wrongs[i].wrong, seed, 1e-6, &r);
            for (unsigned k = 0; k < r.count; k++)
                found |= r.findings[k].rejected && strcmp(r.findings[k].name, wrongs[i].by) == 0;
            cr_assert(found, "%s, seed %d", wrongs[i].by, (int)seed);
        }
}

static bool fail_to_take(void *user, uint64_t epoch, struct crop_epoch *crops)
{
    (void)user;
    (void)crops;
    return epoch < 2;
}

Test(audit_crops, failures_and_empty_epochs)
{
    const struct audit_sample sample = {.n = N, .epochs = 3, .level = 0.01}, few = {.n = N, .epochs = 2};
    struct audit_report r = {.count = 0};
    cr_assert_not(crops_audit(&sample, N, &law, &(struct crop_source){fail_to_take, NULL}, &r));
    cr_assert(crops_audit(&few, N, &law, &(struct crop_source){fail_to_take, NULL}, &r));
    cr_assert_eq(r.count, 0);
}
