/* The audit of crops: right ones pass as often as they should, wrong ones are found, and by which test. */
#include "crops.h"
#include "generator.h"

#include <criterion/criterion.h>
#include <string.h>

#define N      450u /* as many of each value, if they come by turns */
#define COPIES 150u /* records that come again in each epoch */
#define LENGTH (N + COPIES)
#define TESTS  11u
#define EPOCHS 20u

static const struct crop_law law = {3, {9, 5, 2}, {"down", "across", "flipped"}};

static uint32_t class_of[N];
static uint64_t id_of[N];

enum wrong {
    RIGHT,
    NEVER_LAST,  /* the last place is out of reach */
    RARELY_FLIP, /* of 100, 45 */
    TOO_EVEN,    /* values by turns */
    EPOCHS_SAME, /* keyed by the record alone */
    EPOCHS_TURN, /* the fifth epoch is as the first */
    OF_BATCHES,  /* half of all crops are that of the record before */
    DIAGONAL,    /* as far across as down */
    SEEDS_SAME,  /* keyed without the seed, */
    SEEDS_SHORT, /* by its lower half, */
    SEEDS_ADDED, /* or by seed + epoch */
    COPIES_SAME, /* keyed without the copy */
    BY_CLASS,    /* of one class, fewer are flipped, */
    BY_HALF,     /* of the first half, */
    BY_SEVENTH,  /* of one id in seven, */
    BY_EPOCH,    /* in one epoch of two, */
    BY_RECORD,   /* or of records that have nothing in common */
    BY_PLACE,    /* of one class, crops are never at the top */
};

struct drawer {
    enum wrong wrong;
    uint64_t seed;
};

/* Flips less often, out of a hundred: of which records? */
static uint32_t flips_of(enum wrong wrong, uint64_t epoch, uint32_t i)
{
    bool less = (wrong == BY_CLASS && class_of[i] == 1) || (wrong == BY_HALF && i < N / 2) ||
                (wrong == BY_SEVENTH && id_of[i] % 7 == 0) || (wrong == BY_EPOCH && epoch / 2 % 2) ||
                (wrong == BY_RECORD && i * 2654435761u >> 31);
    bool more = wrong >= BY_CLASS && wrong <= BY_RECORD;
    return wrong == RARELY_FLIP ? 45 : less ? 40 : more ? 60 : 50;
}

static uint32_t draw(const struct drawer *d, struct generator *g, uint64_t epoch, unsigned q, uint32_t i)
{
    if (d->wrong == NEVER_LAST && q == 0)
        return generator_below(g, 8);
    if (d->wrong == BY_PLACE && q == 0 && class_of[i] == 2)
        return 1 + generator_below(g, 8);
    if (d->wrong == TOO_EVEN)
        return (i * (q + 7)) % law.values[q];
    return q == 2 ? generator_below(g, 100) < flips_of(d->wrong, epoch, i)
                  : generator_below(g, law.values[q]);
}

static struct generator generator_of(enum wrong wrong, uint64_t seed, uint64_t epoch, uint32_t i,
                                     uint32_t copy)
{
    uint64_t key = wrong == EPOCHS_SAME ? 0 : wrong == EPOCHS_TURN ? epoch % 4 : epoch;
    uint64_t keyed = wrong == SEEDS_SAME ? 0 : wrong == SEEDS_SHORT ? (uint32_t)seed : seed;
    if (wrong == SEEDS_ADDED) {
        keyed += key;
        key = 0;
    }
    uint64_t again = wrong == COPIES_SAME ? 0 : (uint64_t)copy << 32;
    return generator_keyed(generator_keyed(keyed, key).state, i | again);
}

static bool take(void *user, uint64_t seed, uint64_t epoch, struct crop_epoch *crops)
{
    const struct drawer *d = user;
    crops->count = d->wrong == TOO_EVEN ? N : LENGTH;
    for (uint32_t at = 0; at < crops->count; at++) {
        uint32_t i = at % N, copy = at / N;
        struct generator g = generator_of(d->wrong, seed, epoch, i, copy);
        bool as_before = d->wrong == OF_BATCHES && at > 0 && generator_below(&g, 2);
        crops->record[at] = d->wrong == TOO_EVEN ? N - 1 - i : i;
        for (unsigned q = 0; q < law.count; q++)
            crops->value[q][at] = as_before ? crops->value[q][at - 1] : draw(d, &g, epoch, q, i);
        if (d->wrong == DIAGONAL)
            crops->value[1][at] = crops->value[0][at] * 5 / 9;
    }
    return true;
}

static void audit(enum wrong wrong, uint64_t seed, double level, struct audit_report *r)
{
    struct drawer d = {wrong, seed};
    for (uint32_t i = 0; i < N; i++) {
        class_of[i] = i * 2246822519u % 7 % 3; /* neither evenly, nor in turns */
        id_of[i] = 3 * i + 5;
    }
    const struct audit_sample sample = {
        .n = N, .seed = seed, .epochs = EPOCHS, .level = level, .cls = class_of, .classes = 3};
    memset(r, 0, sizeof *r);
    cr_assert(crops_audit(&sample, LENGTH, &law, &(struct crop_source){take, &d, id_of}, r));
    cr_assert_eq(r->count, wrong == TOO_EVEN ? TESTS - 1 : TESTS);
}

Test(audit_crops, right_ones_are_rejected_as_rarely_as_they_should_be)
{
    unsigned rejected = 0;
    double low[TESTS] = {0};
    const char *names[TESTS];
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct audit_report r;
        audit(RIGHT, seed, 0.05, &r);
        rejected += r.rejected > 0;
        for (unsigned i = 0; i < r.count; i++) {
            low[i] += r.findings[i].p < 0.25;
            names[i] = r.findings[i].name;
        }
    }
    cr_assert_leq(rejected, 20, "%u", rejected); /* 10 are due */
    for (unsigned i = 0; i < TESTS; i++) {       /* 50 are due, with a standard deviation of 6.1 */
        bool bounded = strcmp(names[i], "crops by remainder") == 0; /* its p-values are too large */
        cr_assert(low[i] < 75 && (bounded || low[i] > 25), "%s: %g", names[i], low[i]);
    }
}

Test(audit_crops, wrong_ones_are_found)
{
    static const struct {
        enum wrong wrong;
        const char *by;
    } wrongs[] = {{NEVER_LAST, "crops and flips"},     {RARELY_FLIP, "crops and flips"},
                  {TOO_EVEN, "crops and flips"},       {EPOCHS_SAME, "crops of epochs"},
                  {EPOCHS_TURN, "crops by record"},    {OF_BATCHES, "crops of neighbours"},
                  {DIAGONAL, "across, down, flipped"}, {SEEDS_SAME, "crops of seeds"},
                  {SEEDS_SHORT, "crops of seeds"},     {SEEDS_ADDED, "crops of seeds"},
                  {COPIES_SAME, "crops of copies"},    {BY_CLASS, "crops by class"},
                  {BY_HALF, "crops by half"},          {BY_SEVENTH, "crops by remainder"},
                  {BY_EPOCH, "crops by epoch"},        {BY_RECORD, "crops by record"},
                  {BY_PLACE, "crops by class"}};
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

static bool fail_to_take(void *user, uint64_t seed, uint64_t epoch, struct crop_epoch *crops)
{
    (void)user;
    (void)seed;
    (void)crops;
    return epoch < 2;
}

Test(audit_crops, failures_and_empty_epochs)
{
    const struct audit_sample sample = {.n = N, .epochs = 3, .level = 0.01}, few = {.n = N, .epochs = 2};
    struct audit_report r = {.count = 0};
    cr_assert_not(crops_audit(&sample, N, &law, &(struct crop_source){fail_to_take, NULL, NULL}, &r));
    cr_assert(crops_audit(&few, N, &law, &(struct crop_source){fail_to_take, NULL, NULL}, &r));
    cr_assert_eq(r.count, 0);
}
