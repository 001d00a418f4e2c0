/* What keeps training from going faster, in words: a pure function of statistics. */
#include "apl.h"
#include "sized.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* Fewer batches than this, or less time, tell nothing. */
#define LEAST_BATCHES 8u
#define LEAST_SECONDS 1e-3
/* Waiting for a smaller part of the time than this is not worth a word. */
#define LITTLE 0.02
/* Training that takes a smaller part of the time than this does nothing but take batches: a benchmark. */
#define NOTHING 0.05
/* Threads that are idle for a larger part of the time that callers wait are not what is missing. */
#define UNUSED 0.4
/* Threads that have a core for a smaller part of their work than this share it with others. */
#define CROWDED 0.7
/* Batches that training takes are not all alike: threads that are busy for more than this part of their time are too few. */
#define FULL 0.9

/* ------------------------------------------------------------------------------------------------ the figures */

/* What statistics, or the difference of two, come to. Seconds; `share` of a caller's time. */
struct figures {
    apl_stats s;
    double elapsed, starved, share; /* since the first batch, or the earlier snapshot */
    double training;                /* what training itself took of that */
    double read, decode, assemble, callback, plan, busy;
    double unused_loaders, unused_consumers; /* parts of the time that callers waited */
    double workers, cores_used;
    double given; /* what of their time at work the threads had a core for; reading and on_batch() left out */
};

static double more_than_nothing(double x)
{
    return x > 0 ? x : 0;
}

static double fraction(double part, double whole)
{
    return whole > 0 ? more_than_nothing(part) / whole : 0;
}

/* `a` becomes what happened after `b`; members that only say how things stand stay. */
static void leave_since(apl_stats *a, const apl_stats *b)
{
    a->batches -= b->batches;
    a->records -= b->records;
    a->elapsed -= b->elapsed;
    a->cpu -= b->cpu;
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
    f->cores_used = fraction(s->cpu, s->elapsed);
    double work = f->decode + f->assemble + f->plan;
    f->given = work > 0 ? fraction(s->cpu, work) : 1;
}

static struct figures figures_of(const apl_stats *now, const apl_stats *before)
{
    struct figures f = {.s = *now};
    leave_since(&f.s, before);
    double start_up = before->batches ? 0 : now->first_batch - before->elapsed;
    divide_work(&f);
    divide_time(&f, more_than_nothing(f.s.elapsed - more_than_nothing(start_up)));
    return f;
}

/* ------------------------------------------------------------------------------------------------ the verdict */

struct verdict {
    apl_bottleneck what;
    bool loaders, consumers; /* threads of that kind alone are too few */
    bool uneven;             /* of a queue: threads are enough, but steps differ */
    unsigned more;           /* threads that would remove it; 0: none would */
    unsigned idle_cores;
};

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
    if (f->training < f->elapsed * NOTHING)
        return 0;
    double more = ceil(work / (f->training * FULL) - have);
    return more < 1 ? 1 : more > 1e6 ? 1000000 : (unsigned)more;
}

static bool is_work(apl_bottleneck what)
{
    return what >= APL_BOTTLENECK_READING && what <= APL_BOTTLENECK_PLANNING;
}

static struct verdict verdict_on(const struct figures *f)
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

/* ------------------------------------------------------------------------------------------------- the words */

struct words {
    char *text;
    size_t size, length;
};

static void say(struct words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct words *w, const char *format, ...)
{
    va_list arguments;
    bool room = w->length < w->size;
    va_start(arguments, format);
    int n = vsnprintf(room ? w->text + w->length : NULL, room ? w->size - w->length : 0, format, arguments);
    va_end(arguments);
    w->length += n > 0 ? (size_t)n : 0;
}

static void say_count(struct words *w, unsigned n)
{
    static const char *const small[] = {"no",    "one",   "two",  "three", "four",   "five",  "six",
                                        "seven", "eight", "nine", "ten",   "eleven", "twelve"};
    if (n < sizeof small / sizeof *small)
        say(w, "%s", small[n]);
    else
        say(w, "%u", n);
}

static const char *kind_of_thread(const struct verdict *v)
{
    return v->loaders ? "loader" : v->consumers ? "consumer" : "thread";
}

static const char *name_of_work(const struct figures *f, apl_bottleneck what)
{
    switch (what) {
    case APL_BOTTLENECK_READING:
        return "reading from storage";
    case APL_BOTTLENECK_DECODING:
        return f->s.images > f->decode / 2 ? "decoding images" : "decoding";
    case APL_BOTTLENECK_ASSEMBLING:
        return "assembling batches";
    case APL_BOTTLENECK_CALLBACK:
        return "on_batch()";
    default:
        return "the drawing of its order";
    }
}

/* What else would help, where threads alone do not. */
static const char *cheaper(const struct figures *f, apl_bottleneck what)
{
    switch (what) {
    case APL_BOTTLENECK_READING:
        return "A copy on faster or nearer storage would help";
    case APL_BOTTLENECK_DECODING:
        return f->s.images > f->decode / 2
                   ? "Images that are stored smaller, or cropped at ingest, would take less to decode"
                   : "Reading only the fields that training needs would take less";
    case APL_BOTTLENECK_ASSEMBLING:
        return "Smaller elements (u8 or f16 for f32) or fewer augmentations would take less";
    default:
        return "Doing less in on_batch() would help";
    }
}

/* "; two more threads would remove it", as far as there are cores for them. */
static void say_threads(struct words *w, const struct figures *f, const struct verdict *v)
{
    const char *kind = kind_of_thread(v);
    bool waiting = v->what == APL_BOTTLENECK_READING; /* which takes no core */
    unsigned fit = waiting || v->more < v->idle_cores ? v->more : v->idle_cores;
    if (f->workers == 0) {
        say(w, "; threads would do that while it trains (threads is 0).");
        return;
    }
    if (fit == 0) {
        say(w, "; no core is idle for another %s. %s.", kind, cheaper(f, v->what));
        return;
    }
    say(w, "; ");
    say_count(w, fit);
    say(w, " more %s%s would %s.", kind, fit > 1 ? "s" : "", fit == v->more ? "remove it" : "shorten it");
    if (fit < v->more)
        say(w, " It takes %u, but no other cores are idle. %s.", v->more, cheaper(f, v->what));
    else if (waiting)
        say(w, " That holds while the storage gives more than %.1f MB/s. %s, too.",
            fraction((double)f->s.bytes_read, f->elapsed) / 1e6, cheaper(f, v->what));
}

/* A loop that takes batches as fast as they come waits however many threads there are. */
static void say_limit(struct words *w, const struct figures *f, const struct verdict *v)
{
    double rate = fraction((double)f->s.records, f->elapsed);
    say(w, "batches are taken as fast as they come: %s sets the pace, %.0f records/s.",
        name_of_work(f, v->what), rate);
    if (v->what == APL_BOTTLENECK_PLANNING)
        return;
    if (f->workers > 0 && (v->idle_cores > 0 || v->what == APL_BOTTLENECK_READING))
        say(w, " Another %s would add up to %.0f.", kind_of_thread(v),
            rate / (v->loaders     ? f->s.loaders
                    : v->consumers ? f->s.consumers
                                   : f->workers));
    else if (f->workers > 0)
        say(w, " No core is idle for another %s. %s.", kind_of_thread(v), cheaper(f, v->what));
    else
        say(w, " Threads would share it (threads is 0).");
}

static void say_work(struct words *w, const struct figures *f, const struct verdict *v)
{
    if (f->training < f->elapsed * NOTHING) {
        say_limit(w, f, v);
        return;
    }
    say(w, "training waits for %s", name_of_work(f, v->what));
    if (v->what == APL_BOTTLENECK_PLANNING)
        say(w, "; larger batches would be planned at less cost.");
    else
        say_threads(w, f, v);
}

static void say_training(struct words *w, const struct figures *f)
{
    unsigned enough = (unsigned)ceil(f->busy / (more_than_nothing(f->training) * FULL));
    enough = enough ? enough : 1;
    say(w, "training does not wait for data: loading it faster would gain nothing.");
    if (f->s.loaders == 0 && enough < f->workers)
        say(w, " %s%s of the %.0f threads would do.", enough == 1 ? "One" : "", enough == 1 ? "" : "Fewer",
            f->workers);
}

static void say_rank(struct words *w, const struct figures *f)
{
    say(w,
        "rank %u is slower than the others, which wait for it: ranks advance together. Its own training is "
        "what "
        "to look at; a larger queue_depth (now %u) rides out what is not lasting.",
        f->s.slowest_rank, f->s.queue_depth);
}

static void say_queue(struct words *w, const struct figures *f, bool uneven)
{
    const apl_stats *s = &f->s;
    unsigned depth = s->queue_depth < UINT_MAX / 4 ? 4 * s->queue_depth : s->queue_depth;
    if (uneven) {
        say(w,
            "training waits now and then, although the threads keep up on the whole: queue_depth=%u (now %u) "
            "would "
            "ride that out.",
            depth, s->queue_depth);
        return;
    }
    say(w,
        "training waits although threads are idle: they may not work far enough ahead. queue_depth=%u (now "
        "%u) "
        "would let them",
        depth, s->queue_depth);
    bool blocks = s->wait_loading > s->wait_planning + s->wait_assembling;
    if (blocks && s->slots && s->standing_slots > s->slots - s->slots / 8)
        say(w, ", and so would a larger window: %u of its %u places are taken", s->standing_slots, s->slots);
    say(w, ".");
}

static void say_memory(struct words *w, const struct figures *f)
{
    say(w,
        "training waits for batches that it has not released itself: %u are held, and memory_budget allows "
        "no "
        "more. Release them sooner, or raise memory_budget (now %.0f MB).",
        f->s.lent, (double)f->s.memory_budget / 1e6);
}

static void say_verdict(struct words *w, const struct figures *f, const struct verdict *v)
{
    switch (v->what) {
    case APL_BOTTLENECK_UNKNOWN:
        say(w, "too few batches to tell: %llu in %.3f s.", (unsigned long long)f->s.batches, f->elapsed);
        return;
    case APL_BOTTLENECK_TRAINING:
        say_training(w, f);
        return;
    case APL_BOTTLENECK_RANK:
        say_rank(w, f);
        return;
    case APL_BOTTLENECK_QUEUE:
        say_queue(w, f, v->uneven);
        return;
    case APL_BOTTLENECK_MEMORY:
        say_memory(w, f);
        return;
    case APL_BOTTLENECK_SERVER:
        say(w,
            "training waits for the server that its batches come from: what that waits for is told there.");
        return;
    default:
        say_work(w, f, v);
    }
}

/* ---------------------------------------------------------------------------------------------- the evidence */

static void say_parts(struct words *w, const struct figures *f)
{
    const struct {
        const char *name;
        double seconds;
    } parts[] = {{"reading", f->read},
                 {"decoding", f->decode},
                 {"assembling", f->assemble},
                 {"on_batch()", f->callback},
                 {"planning", f->plan}};
    const char *between = "";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        double percent = 100 * fraction(parts[i].seconds, f->busy);
        if (percent < 0.5)
            continue;
        say(w, "%s %s %.0f %%", between, parts[i].name, percent);
        between = ",";
    }
}

static void say_waits(struct words *w, const struct figures *f)
{
    say(w, "\nwaited    %.1f %% of the time: %.2f of %.2f s, %llu batches", 100 * f->share,
        f->share * f->elapsed, f->elapsed, (unsigned long long)f->s.batches);
    if (f->share < LITTLE || f->workers == 0)
        return;
    say(w, "; meanwhile threads had work for %.0f %% of theirs",
        100 *
            (1 - fmin(1, f->s.loaders ? (f->unused_loaders + f->unused_consumers) / 2 : f->unused_loaders)));
}

static void say_evidence(struct words *w, const struct figures *f)
{
    say_waits(w, f);
    if (f->s.served)
        return;
    if (f->workers > 0)
        say(w, "\nthreads   %.0f, at work for %.0f %% of the time; of their work:", f->workers,
            100 * fmin(1, fraction(f->busy, f->s.elapsed * f->workers)));
    else
        say(w, "\nthreads   none; the caller's work:");
    say_parts(w, f);
    say(w, "\nprocessor %.1f of %u cores in use", f->cores_used, f->s.cores);
    if (f->workers > 0 && f->given < CROWDED)
        say(w, "; threads at work had a core for %.0f %% of that time: others want the processor too",
            100 * f->given);
}

size_t apl_stats_explain(const apl_stats *stats, const apl_stats *before, size_t stats_size,
                         apl_bottleneck *bottleneck, char *text, size_t size)
{
    apl_stats now = {0}, then = {0};
    if (!stats || stats_size == 0 || (size && !text))
        return 0;
    options_give(&now, sizeof now, stats, stats_size);
    if (before)
        options_give(&then, sizeof then, before, stats_size);
    struct figures f = figures_of(&now, &then);
    struct verdict v = verdict_on(&f);
    struct words w = {text, size, 0};
    say_verdict(&w, &f, &v);
    if (v.what != APL_BOTTLENECK_UNKNOWN)
        say_evidence(&w, &f);
    if (bottleneck)
        *bottleneck = v.what;
    return w.length;
}
