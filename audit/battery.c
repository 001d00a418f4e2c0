/* All tests over all epochs, and the verdict. */
#include "audit.h"

#include <stdlib.h>
#include <string.h>

#define SEED_EPOCHS 20 /* epochs that are compared with another seed's */

static const struct audit_test *const battery[] = {
    &audit_once,         &audit_blocks, &audit_neighbours, &audit_near_orders, &audit_far_orders,
    &audit_serial,       &audit_epochs, &audit_all_epochs, &audit_seeds,       &audit_inversions,
    &audit_fixed_points, &audit_cycles, &audit_classes,
};
#define TESTS (sizeof battery / sizeof *battery)

/* Orders and places of this epoch, of the one before, and of the next seed. */
struct orders {
    uint32_t *order, *place, *before, *other, *other_place, *other_before;
};

static void orders_free(struct orders *o)
{
    free(o->order);
    free(o->place);
    free(o->before);
    free(o->other);
    free(o->other_place);
    free(o->other_before);
}

static bool orders_make(struct orders *o, uint32_t n)
{
    uint32_t **all[] = {&o->order, &o->place, &o->before, &o->other, &o->other_place, &o->other_before};
    bool made = true;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        made &= (*all[i] = calloc(n, sizeof(uint32_t))) != NULL;
    return made;
}

/* Of a record that comes twice, the first place counts. */
static void invert(const uint32_t *order, uint32_t *place, uint32_t n)
{
    memset(place, 0xff, n * sizeof *place);
    for (uint32_t k = n; k-- > 0;)
        if (order[k] < n)
            place[order[k]] = k;
}

static void swap(uint32_t **a, uint32_t **b)
{
    uint32_t *c = *a;
    *a = *b;
    *b = c;
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

static bool take_epoch(struct run *r, uint64_t index)
{
    const struct audit_sample *s = r->sample;
    struct orders *o = &r->o;
    bool seeds = index < SEED_EPOCHS;
    uint64_t epoch = s->first_epoch + index;
    if (!r->source->order(r->source->user, s->seed, epoch, o->order))
        return false;
    invert(o->order, o->place, s->n);
    if (seeds && !r->source->order(r->source->user, s->seed + 1, epoch, o->other))
        return false;
    if (seeds)
        invert(o->other, o->other_place, s->n);
    r->whole &= is_whole(o->place, s->n) && (!seeds || is_whole(o->other_place, s->n));
    struct audit_epoch e = {.index = index, .order = o->order, .place = o->place};
    e.previous = index > 0 ? o->before : NULL;
    e.neighbour = seeds ? o->other_place : NULL;
    e.diagonal = seeds && index > 0 ? o->other_before : NULL;
    for (unsigned i = 0; i < r->count; i++)
        if (r->whole || r->tests[i] == &audit_once)
            r->tests[i]->add(r->states[i], s, &e);
    swap(&o->place, &o->before);
    swap(&o->other_place, &o->other_before);
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
        /* Where records are missing, nothing else can be told. */
        report->count += r->whole || r->tests[i] == &audit_once;
    }
    report->rejected = judge(report, r->sample->level);
}

bool audit_run(const struct audit_sample *sample, const struct order_source *source,
               struct audit_report *report)
{
    struct run r = {.sample = sample, .source = source, .whole = true};
    *report = (struct audit_report){.count = 0};
    bool ok = sample->n >= AUDIT_LEAST && orders_make(&r.o, sample->n) && begin_tests(&r);
    for (uint64_t i = 0; ok && i < sample->epochs; i++)
        ok = take_epoch(&r, i);
    if (ok)
        finish(&r, report);
    for (unsigned i = 0; !ok && i < r.count; i++) {
        struct finding unused = {.p = 1};
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
