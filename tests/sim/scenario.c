/* What a seed's run does: see scenario.h. */
#include "scenario.h"

#include <stdio.h>

const struct shape shapes[STORES] = {
    {7, 0, 2, false, false},  {37, 0, 8, true, false},  {61, 5, 4, false, false},
    {48, 3, 16, true, false}, {90, 0, 3, false, false}, {40, 2, 8, true, true},
};

uint32_t draw(struct draws *d, uint32_t below)
{
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    uint32_t high = (uint32_t)(d->state >> 32);
    return (uint32_t)((uint64_t)high * below >> 32);
}

static bool one_in(struct draws *d, uint32_t n)
{
    return draw(d, n) == 0;
}

/* ------------------------------------------------------------------------------------------------- the whole */

static void draw_order(struct scenario *s, struct draws *d)
{
    apl_reader_options *o = &s->order;
    const struct shape *shape = &shapes[s->store];
    uint32_t n = (uint32_t)shape->records, blocks = (n - 1) / shape->block + 1;
    *o = (apl_reader_options)APL_READER_OPTIONS_INIT;
    o->split = "train";
    o->seed = s->seed;
    o->order = one_in(d, 2) ? APL_FREE : APL_STRICT;
    o->sequential = o->order == APL_STRICT && one_in(d, 8);
    o->bins = 1 + draw(d, one_in(d, 2) ? 3 : 64);
    o->reuse = one_in(d, 3) ? 2 + draw(d, 2) : 1;
    o->drop_last = one_in(d, 3);
    o->ranks.lanes =
        o->order == APL_STRICT && !o->sequential && one_in(d, 3) ? 1 + draw(d, blocks < 6 ? blocks : 6) : 1;
    uint32_t least = shape->block * o->ranks.lanes;
    if (!one_in(d, 3) && least < n)
        o->window = least + draw(d, n - least);
    s->epochs = one_in(d, 12) ? 4 + draw(d, 9) : 1 + draw(d, 3);
}

static void draw_sampling(struct scenario *s, struct draws *d)
{
    uint32_t n = (uint32_t)shapes[s->store].records;
    s->sampling = (apl_sampling)APL_SAMPLING_INIT;
    s->sampling.field = one_in(d, 3) ? "label" : NULL;
    s->sampling.replacement = one_in(d, 2);
    s->sampling.records = 1 + draw(d, s->sampling.field || s->sampling.replacement ? 3 * n : n / 2);
    for (uint32_t i = 0; i < n; i++)
        s->weights[i] = one_in(d, 4) ? 0 : 1 + draw(d, 5);
    s->weights[draw(d, n)] = 20;
    s->sampling.weights = s->sampling.field || one_in(d, 3) ? NULL : s->weights;
    s->sampling.weight_count = s->sampling.weights ? n : 0;
    s->order.sampling = &s->sampling;
    s->order.reuse = 1;
}

static void draw_ids(struct scenario *s, struct draws *d)
{
    const struct shape *shape = &shapes[s->store];
    uint32_t one = 1 + draw(d, 3);
    for (uint64_t i = 0; i < shape->records; i++)
        if (one_in(d, one) || i + 1 == shape->records)
            s->ids[s->order.id_count++] = shape->first + i;
    s->order.ids = s->ids;
}

/* With a store of the same fields, maybe itself. */
static void draw_mix(struct scenario *s, struct draws *d)
{
    do
        s->other = draw(d, STORES);
    while (shapes[s->other].named != shapes[s->store].named ||
           shapes[s->other].kept != shapes[s->store].kept);
    s->source = (apl_source){
        .size = sizeof(apl_source), .split = "train", .weight = one_in(d, 2) ? 1 + draw(d, 3) : 0};
    s->order.mix.weight = s->source.weight ? 1 + draw(d, 3) : 0;
    s->order.reuse = s->source.weight ? 1 : s->order.reuse;
    s->order.mix.sources = &s->source;
    s->order.mix.count = 1;
}

static void draw_extras(struct scenario *s, struct draws *d)
{
    if (s->order.order == APL_FREE && !s->order.window)
        s->order.fill = one_in(d, 2);
    if (s->order.sequential)
        return;
    if (one_in(d, 4))
        draw_sampling(s, d);
    else if (one_in(d, 6))
        draw_ids(s, d);
    else if (one_in(d, 6))
        draw_mix(s, d);
}

void scenario_simplify(struct scenario *s)
{
    s->order.sampling = NULL;
    s->order.ids = NULL;
    s->order.id_count = 0;
    s->order.mix.sources = NULL;
    s->order.mix.count = 0;
    s->order.mix.weight = 0;
}

static void draw_damage(struct scenario *s, struct draws *d)
{
    const struct shape *shape = &shapes[s->store];
    uint32_t blocks = ((uint32_t)shape->records - 1) / shape->block + 1;
    if (!one_in(d, 4) || s->order.mix.sources ||
        (s->order.sampling && s->sampling.field)) /* whose values opening reads */
        return;
    for (unsigned i = 1 + draw(d, 3); i > 0; i--)
        s->bad |= (uint64_t)1 << draw(d, blocks);
    s->order.faults.skip_corrupt = one_in(d, 3) ? 0 : one_in(d, 3) ? 1 + draw(d, 2 * shape->block) : 1u << 30;
}

static void draw_faults(struct scenario *s, struct draws *d)
{
    struct sim_faults *f = &s->faults;
    if (one_in(d, 2))
        f->delay = 100 + draw(d, 5000);
    if (one_in(d, 12))
        f->hang = 1 + draw(d, 400);
    if (one_in(d, 3))
        f->cut = draw(d, 5000);
    if (one_in(d, 3))
        f->interrupt = draw(d, 5000);
    if (one_in(d, 12))
        f->io_error = 1 + draw(d, 300);
    if (one_in(d, 12))
        f->nomem = 1 + draw(d, 200);
    if (one_in(d, 16))
        f->no_thread = 1 + draw(d, 3000);
    s->slow_load = one_in(d, 3) ? draw(d, 60) : 0;
    s->slow_batch = one_in(d, 4) ? draw(d, 60) : 0;
    s->slow_memory = one_in(d, 4) ? draw(d, 60) : 0;
}

void scenario_draw(struct scenario *s, struct draws *d, uint64_t seed)
{
    *s = (struct scenario){.seed = seed};
    *d = (struct draws){seed * 7919 + 17};
    draw(d, 2);
    s->store = draw(d, STORES);
    draw_order(s, d);
    draw_extras(s, d);
    draw_damage(s, d);
    draw_faults(s, d);
    s->read = !one_in(d, 4);
    s->close_first = one_in(d, 2);
    s->callbacks = one_in(d, 2);
    const apl_reader_options *o = &s->order;
    snprintf(s->text, sizeof s->text,
             "store %u, %s%s, window %llu, bins %u, lanes %u, reuse %u%s%s%s%s%s, %u epochs, bad %llx, skip "
             "%llu, %s",
             s->store, o->order == APL_FREE ? "free" : "strict", o->sequential ? ", sequential" : "",
             (unsigned long long)o->window, o->bins, o->ranks.lanes, o->reuse,
             o->drop_last ? ", drop_last" : "", o->fill ? ", filled" : "", o->sampling ? ", sampled" : "",
             o->ids ? ", by ids" : "", o->mix.sources ? ", mixed" : "", s->epochs, (unsigned long long)s->bad,
             (unsigned long long)o->faults.skip_corrupt, s->read ? "read" : "mapped");
}

/* --------------------------------------------------------------------------------------------------- a part of it */

static void draw_threads(apl_reader_options *o, struct draws *d)
{
    o->threads = one_in(d, 4) ? APL_NO_THREADS : 1 + draw(d, 4);
    if (one_in(d, 4)) {
        o->threads = 0;
        o->loaders = 1 + draw(d, 3);
        o->consumers = 1 + draw(d, 2);
    }
    o->queue_depth = one_in(d, 3) ? 0 : 1 + draw(d, 3);
    o->faults.timeout_ms = one_in(d, 3) ? 1 + draw(d, 20) : 0;
}

static void draw_world(const struct scenario *s, struct draws *d, struct part *p)
{
    p->world = s->order.order == APL_FREE || one_in(d, 2) ? 1 : 1 + draw(d, MOST_WORLD);
    p->options.ranks.world = p->world;
    p->grouped = p->world > 1 && one_in(d, 2);
}

void scenario_part(const struct scenario *s, struct draws *d, struct part *p)
{
    static const char *const endings[ENDINGS] = {"to its end", "left", "resumed", "cancelled", "closed"};
    *p = (struct part){.options = s->order};
    apl_reader_options *o = &p->options;
    uint32_t n = (uint32_t)shapes[s->store].records;
    o->batch_size = 1 + draw(d, one_in(d, 4) ? n + 3 : n / 4 + 1);
    draw_threads(o, d);
    draw_world(s, d, p);
    p->callers = one_in(d, 2) ? 1 : 1 + draw(d, MOST_CALLERS);
    p->budget = one_in(d, 2) ? 0 : 1 + draw(d, 3);
    p->ending = one_in(d, 2) ? TO_THE_END : (enum ending)draw(d, ENDINGS);
    uint32_t steps = (uint32_t)(n * o->reuse / (o->batch_size * p->world) + 1);
    p->batches = p->ending == TO_THE_END ? 1ll << 60 : (long long)draw(d, steps + 1);
    p->observed = one_in(d, 4);
    p->hoards = one_in(d, 3);
    if (one_in(d, 6)) { /* little memory, for many hands */
        p->budget = 1;
        p->callers = 2 + draw(d, MOST_CALLERS - 1);
        o->queue_depth = 1;
        p->hoards = true;
        o->loaders = o->consumers = 0;
        o->threads = one_in(d, 2) ? APL_NO_THREADS : 1;
        o->faults.timeout_ms = 0;
        p->ending = LEAVE;
    }
    snprintf(p->text, sizeof p->text,
             "%s: batches of %zu, threads %d, loaders %u, consumers %u, queue %u, world %u, callers %u, "
             "timeout %u, "
             "budget %u%s%s, %s after %lld batches",
             s->text, o->batch_size, (int)o->threads, o->loaders, o->consumers, o->queue_depth, p->world,
             p->callers, o->faults.timeout_ms, p->budget, p->hoards ? ", hoarded" : "",
             p->grouped ? ", grouped" : "", endings[p->ending], p->batches);
}
