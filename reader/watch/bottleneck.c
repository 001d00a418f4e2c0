/* Figures of statistics, and the verdict on them: see bottleneck.h. */
#include "bottleneck.h"

#include <math.h>
#include <string.h>

/* Fewer batches than this, or less time, are too few to judge by. */
#define LEAST_BATCHES 8u
#define LEAST_SECONDS 1e-3
/* Threads that are idle for a larger part of the time that callers wait are not what is missing. */
#define UNUSED 0.4

/* `a` becomes what happened after `b`; members that only say how things stand stay. */
static void leave_since(apl_stats *a, const apl_stats *b)
{
    a->batches -= b->batches;
    a->records -= b->records;
    a->elapsed -= b->elapsed;
    a->cpu_since_open -= b->cpu_since_open;
    a->bytes_read -= b->bytes_read;
    a->loading -= b->loading;
    a->assembling -= b->assembling;
    a->planning -= b->planning;
    a->starved -= b->starved;
    a->wait_planning -= b->wait_planning;
    a->wait_loading -= b->wait_loading;
    a->wait_assembling -= b->wait_assembling;
    a->unused_loaders -= b->unused_loaders;
    a->unused_consumers -= b->unused_consumers;
    a->held -= b->held;
    a->reading -= b->reading;
    a->reading_kept -= b->reading_kept;
    a->images -= b->images;
    a->callback -= b->callback;
}

/* How threads spent their time. */
static void divide_work(struct figures *f)
{
    const apl_stats *s = &f->s;
    f->read = more_than_nothing(s->reading + s->reading_kept);
    f->decode = more_than_nothing(s->loading - s->reading) + more_than_nothing(s->images);
    f->callback = more_than_nothing(s->callback);
    f->assemble = more_than_nothing(s->assembling - s->reading_kept - s->images - s->callback);
    f->plan = more_than_nothing(s->planning);
    f->busy = f->read + f->decode + f->assemble + f->callback + f->plan;
    f->workers = s->threads + s->loaders + s->consumers;
}

static void divide_time(struct figures *f, double elapsed)
{
    const apl_stats *s = &f->s;
    double waits = s->wait_planning + s->wait_loading + s->wait_assembling;
    unsigned loaders = s->loaders ? s->loaders : s->threads;
    unsigned consumers = s->consumers ? s->consumers : s->threads;
    f->elapsed = elapsed;
    f->starved = fmin(more_than_nothing(s->starved), elapsed);
    f->share = fraction(f->starved, elapsed);
    if (s->ranks > 1) /* whose callers wait by turns */
        f->share = fmin(f->share, fraction(waits, elapsed * s->ranks));
    f->training = elapsed * (1 - f->share);
    f->unused_loaders = fraction(s->unused_loaders, f->starved * loaders);
    f->unused_consumers = fraction(s->unused_consumers, f->starved * consumers);
    f->cores_used = fraction(s->cpu_since_open, s->elapsed);
    double work = f->decode + f->assemble + f->plan;
    f->given = work > 0 ? fraction(s->cpu_since_open, work) : 1;
}

struct figures figures_between(const apl_stats *now, const apl_stats *before)
{
    struct figures f = {.s = *now};
    leave_since(&f.s, before);
    double start_up = before->batches ? 0 : now->first_batch - before->elapsed;
    divide_work(&f);
    divide_time(&f, more_than_nothing(f.s.elapsed - more_than_nothing(start_up)));
    return f;
}

static apl_bottleneck largest_work(const struct figures *f)
{
    const struct {
        apl_bottleneck what;
        double seconds;
    } works[] = {{APL_BOTTLENECK_READING, f->read},
                 {APL_BOTTLENECK_DECODING, f->decode},
                 {APL_BOTTLENECK_ASSEMBLING, f->assemble},
                 {APL_BOTTLENECK_CALLBACK, f->callback},
                 {APL_BOTTLENECK_PLANNING, f->plan}};
    size_t largest = 0;
    for (size_t i = 1; i < sizeof works / sizeof *works; i++)
        largest = works[i].seconds > works[largest].seconds ? i : largest;
    return works[largest].what;
}

/* Threads that are idle while callers wait: something else keeps them from working ahead. */
static apl_bottleneck what_holds_up(const struct figures *f)
{
    const apl_stats *s = &f->s;
    double waits = s->wait_planning + s->wait_loading + s->wait_assembling;
    bool planned_late = s->wait_planning > waits / 2;
    if (s->held > f->starved / 2)
        return APL_BOTTLENECK_MEMORY;
    if (planned_late && f->plan > s->wait_planning / 2)
        return APL_BOTTLENECK_PLANNING;
    if (planned_late && s->ranks > 1)
        return APL_BOTTLENECK_RANK;
    return APL_BOTTLENECK_QUEUE;
}

/* Of threads that only load, or only assemble, one kind is too few: the work of that kind. */
static struct verdict judge_kinds(const struct figures *f)
{
    const apl_stats *s = &f->s;
    bool loaders = f->unused_loaders < UNUSED, consumers = f->unused_consumers < UNUSED;
    if (!loaders && !consumers)
        return (struct verdict){.what = what_holds_up(f)};
    struct figures of = *f;
    if (!consumers) {
        of.read = s->reading;
        of.decode = more_than_nothing(s->loading - s->reading);
        of.assemble = of.callback = of.plan = 0;
    } else if (!loaders) {
        of.read = s->reading_kept;
        of.decode = s->images;
        of.plan = 0;
    }
    return (struct verdict){
        .what = largest_work(&of), .loaders = loaders && !consumers, .consumers = consumers && !loaders};
}

static struct verdict judge_shared(const struct figures *f)
{
    if (f->workers > 0 && f->unused_loaders >= UNUSED)
        return (struct verdict){.what = what_holds_up(f)};
    /* As a whole the threads keep up: waits come of steps, or blocks, that differ. */
    if (f->workers > 0 && f->training > f->elapsed * NOTHING && f->busy < f->training * f->workers * FULL &&
        f->busy < f->s.elapsed * f->workers * FULL / 2)
        return (struct verdict){.what = APL_BOTTLENECK_QUEUE, .uneven = true};
    return (struct verdict){.what = largest_work(f)};
}

/* How many threads more do the work in the time that training takes. */
static unsigned threads_wanted(const struct figures *f, const struct verdict *v)
{
    const apl_stats *s = &f->s;
    double work = v->loaders ? s->loading : v->consumers ? s->assembling : f->busy;
    double have = v->loaders ? s->loaders : v->consumers ? s->consumers : f->workers;
    work =
        fmin(work, have * f->elapsed); /* more was done before the first batch, when nothing waited for it */
    if (f->training < f->elapsed * NOTHING)
        return 0;
    double more = ceil(work / (f->training * FULL) - have);
    return more < 1 ? 1 : more > 1e6 ? 1000000 : (unsigned)more;
}

static bool is_work(apl_bottleneck what)
{
    return what >= APL_BOTTLENECK_READING && what <= APL_BOTTLENECK_PLANNING;
}

void works_of(const struct figures *f, struct work works[WORKS])
{
    const struct work all[WORKS] = {{"reading", "reading", f->read},
                                    {"decoding", "decoding", f->decode},
                                    {"assembling", "assembling", f->assemble},
                                    {"callback", "on_batch()", f->callback},
                                    {"planning", "planning", f->plan}};
    memcpy(works, all, sizeof all);
}

struct verdict verdict_on(const struct figures *f)
{
    struct verdict v = {.what = APL_BOTTLENECK_UNKNOWN};
    if (f->s.batches < LEAST_BATCHES || f->elapsed < LEAST_SECONDS)
        return v;
    if (f->share < LITTLE)
        v.what = APL_BOTTLENECK_TRAINING;
    else if (f->s.served)
        v.what = APL_BOTTLENECK_SERVER;
    else
        v = f->s.loaders ? judge_kinds(f) : judge_shared(f);
    double idle = f->s.cores - f->cores_used + 0.25;
    v.idle_cores = idle > 0 && f->given >= CROWDED ? (unsigned)idle : 0;
    if (is_work(v.what) && v.what != APL_BOTTLENECK_PLANNING)
        v.more = threads_wanted(f, &v);
    return v;
}
