/* All tests over all epochs, and the verdict. */
#include "audit.h"

#include <stdlib.h>
#include <string.h>

#define SEED_EPOCHS 20 /* epochs that are compared with another seed's */

static const struct audit_test *const battery[] = {
    &audit_once,       &audit_blocks,  &audit_neighbours, &audit_remainders, &audit_near_orders,
    &audit_far_orders, &audit_serial,  &audit_epochs,     &audit_all_epochs, &audit_places,
    &audit_seeds,      &audit_distant, &audit_inversions, &audit_ascents,    &audit_fixed_points,
    &audit_cycles,     &audit_ends,    &audit_classes,
};
#define TESTS (sizeof battery / sizeof *battery)

/* Orders and places of this epoch, of the one before, of the first, and of the next seed's first epochs. */
struct orders {
    uint32_t *order, *place, *before, *first, *next_seed;
    uint64_t next_epochs;
};

static void orders_free(struct orders *o)
{
    free(o->order);
    free(o->place);
    free(o->before);
    free(o->first);
    free(o->next_seed);
}

static bool orders_make(struct orders *o, const struct audit_sample *s)
{
    o->next_epochs = s->epochs < SEED_EPOCHS ? s->epochs : SEED_EPOCHS;
    o->order = calloc(s->n, sizeof *o->order);
    o->place = calloc(s->n, sizeof *o->place);
    o->before = calloc(s->n, sizeof *o->before);
    o->first = calloc(s->n, sizeof *o->first);
    o->next_seed = calloc((size_t)s->n * (o->next_epochs + 1), sizeof *o->next_seed);
    return o->order && o->place && o->before && o->first && o->next_seed;
}

/* Of a record that comes twice, the first place counts. */
static void invert(const uint32_t *order, uint32_t *place, uint32_t n)
{
    memset(place, 0xff, n * sizeof *place);
    for (uint32_t k = n; k-- > 0;)
        if (order[k] < n)
            place[order[k]] = k;
}

/* Are all records there, so that the tests of places make sense? */
static bool is_whole(const uint32_t *place, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && place[i] != UINT32_MAX)
        i++;
    return i == n;
}

struct run {
    const struct audit_sample *sample;
    const struct order_source *source;
    const struct audit_test *tests[TESTS];
    void *states[TESTS];
    unsigned count;
    bool whole; /* every epoch so far */
    struct orders o;
};

static bool begin_tests(struct run *r)
{
    for (size_t i = 0; i < TESTS; i++) {
        if (battery[i]->needs_classes && !r->sample->cls)
            continue;
        r->tests[r->count] = battery[i];
        r->states[r->count] = battery[i]->begin(r->sample);
        if (!r->states[r->count++])
            return false;
    }
    return true;
}

/* An order of another seed, or of an epoch that is not audited: its places, which only one test and that of completeness look at. */
static bool take_other(struct run *r, uint64_t seed, uint64_t epoch, const struct audit_test *test,
                       const uint32_t *first, uint32_t *place)
{
    const struct audit_sample *s = r->sample;
    if (!r->source->order(r->source->user, seed, epoch, r->o.order))
        return false;
    invert(r->o.order, place, s->n);
    r->whole &= is_whole(place, s->n);
    struct audit_epoch e = {.order = r->o.order, .place = place, .first = first};
    for (unsigned k = 0; k < r->count; k++)
        if (r->tests[k] == &audit_once || (r->whole && r->tests[k] == test))
            r->tests[k]->add(r->states[k], s, &e);
    return true;
}

/* The next seed's epochs come first, so that a source need not go from one seed to the other and back. */
static bool take_next_seed(struct run *r)
{
    const struct audit_sample *s = r->sample;
    bool ok = true;
    for (uint64_t i = 0; ok && i < r->o.next_epochs; i++)
        ok = take_other(r, s->seed + 1, s->first_epoch + i, NULL, NULL, r->o.next_seed + i * s->n);
    return ok;
}

/* What is compared with the first order: the epoch after the last, a power of two later, or with one bit of the seed changed. */
static bool take_distant(struct run *r)
{
    static const unsigned later[] = {6, 7, 8, 9, 10, 11, 12, 16, 32}, bits[] = {8, 16, 24, 32, 48, 63};
    const struct audit_sample *s = r->sample;
    uint64_t seed = s->seed, epoch = s->first_epoch;
    struct orders *o = &r->o;
    bool ok = take_other(r, seed, epoch + s->epochs, &audit_distant, o->first, o->place);
    for (size_t i = 0; ok && i < sizeof later / sizeof *later; i++)
        if (UINT64_C(1) << later[i] != s->epochs)
            ok = take_other(r, seed, epoch + (UINT64_C(1) << later[i]), &audit_distant, o->first, o->place);
    for (size_t i = 0; ok && i < sizeof bits / sizeof *bits; i++)
        ok = take_other(r, seed ^ UINT64_C(1) << bits[i], epoch, &audit_distant, o->first, o->place);
    return ok;
}

static bool take_epoch(struct run *r, uint64_t index)
{
    const struct audit_sample *s = r->sample;
    struct orders *o = &r->o;
    if (!r->source->order(r->source->user, s->seed, s->first_epoch + index, o->order))
        return false;
    invert(o->order, o->place, s->n);
    r->whole &= is_whole(o->place, s->n);
    if (index == 0)
        memcpy(o->first, o->place, s->n * sizeof *o->first);
    struct audit_epoch e = {.index = index, .order = o->order, .place = o->place};
    e.previous = index > 0 ? o->before : NULL;
    if (index < o->next_epochs) {
        e.neighbour = o->next_seed + index * s->n;
        e.diagonal = index > 0 ? e.neighbour - s->n : NULL;
    }
    for (unsigned i = 0; i < r->count; i++)
        if (r->whole || r->tests[i] == &audit_once)
            r->tests[i]->add(r->states[i], s, &e);
    o->place = o->before;
    o->before = (uint32_t *)e.place;
    return true;
}

static unsigned judge(struct audit_report *report, double level)
{
    struct finding *all[AUDIT_MOST];
    for (unsigned i = 0; i < report->count; i++)
        all[i] = &report->findings[i];
    return audit_judge(all, report->count, level);
}

static void finish(struct run *r, struct audit_report *report)
{
    double level = r->sample->level / r->count;
    for (unsigned i = 0; i < r->count; i++) {
        struct finding *f = &report->findings[report->count];
        *f = (struct finding){.name = r->tests[i]->name, .p = 1, .unit = ""};
        if (r->tests[i] == &audit_serial && r->whole)
            audit_lags(r->states[i], r->sample, report->lags, &report->lag_deviation);
        if (r->tests[i] == &audit_blocks && r->whole)
            audit_blocks_map(r->states[i], r->sample, &report->map);
        if (r->tests[i] == &audit_classes && r->whole)
            audit_class_counts(r->states[i], &report->batches);
        r->tests[i]->finish(r->states[i], r->sample, level, f);
        r->states[i] = NULL;
        /* Where records are missing, nothing else can be tested. */
        report->count += r->whole || r->tests[i] == &audit_once;
    }
    report->rejected = judge(report, r->sample->level);
}

bool audit_run(const struct audit_sample *sample, const struct order_source *source,
               struct audit_report *report)
{
    struct run r = {.sample = sample, .source = source, .whole = true};
    *report = (struct audit_report){.count = 0};
    bool ok = sample->n >= AUDIT_LEAST && orders_make(&r.o, sample) && begin_tests(&r) && take_next_seed(&r);
    for (uint64_t i = 0; ok && i < sample->epochs; i++)
        ok = take_epoch(&r, i);
    ok = ok && take_distant(&r);
    if (ok)
        finish(&r, report);
    for (unsigned i = 0; !ok && i < r.count; i++) {
        struct finding unused = {.name = r.tests[i]->name};
        if (r.states[i])
            r.tests[i]->finish(r.states[i], sample, sample->level, &unused);
    }
    orders_free(&r.o);
    return ok;
}

void audit_report_free(struct audit_report *report)
{
    free(report->map.share);
    free(report->batches.count);
    report->map.share = NULL;
    report->batches.count = NULL;
}
