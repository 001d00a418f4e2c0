/* What keeps training from going faster, in words. */
#include "bottleneck.h"
#include "plain_number.h"
#include "sized.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

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
    int n =
        plain_vprint(room ? w->text + w->length : NULL, room ? w->size - w->length : 0, format, arguments);
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

/* 25,600 */
static void say_rate(struct words *w, double rate)
{
    char digits[32];
    int n = plain_print(digits, sizeof digits, "%.0f", rate);
    for (int i = 0; i < n; i++)
        say(w, "%s%c", i && (n - i) % 3 == 0 ? "," : "", digits[i]);
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
    say(w, "batches are taken as fast as they come: %s sets the pace, ", name_of_work(f, v->what));
    say_rate(w, rate);
    say(w, " records/s.");
    if (v->what == APL_BOTTLENECK_PLANNING)
        return;
    if (f->workers > 0 && (v->idle_cores > 0 || v->what == APL_BOTTLENECK_READING)) {
        double have = v->loaders ? f->s.loaders : v->consumers ? f->s.consumers : f->workers;
        say(w, " With another %s it could reach ", kind_of_thread(v));
        say_rate(w, rate * (have + 1) / have);
        say(w, " at most.");
    } else if (f->workers > 0)
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
        "rank %u is slower than the others, which wait for it: ranks advance together. Look at its own "
        "training; a larger queue_depth (now %u) evens out delays that pass.",
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
        say(w, "training waits for the server that makes its batches; ask the server what it waits for.");
        return;
    default:
        say_work(w, f, v);
    }
}

/* ---------------------------------------------------------------------------------------------- the evidence */

static void say_parts(struct words *w, const struct figures *f)
{
    struct work works[WORKS];
    const char *between = "";
    works_of(f, works);
    for (size_t i = 0; i < WORKS; i++) {
        double percent = 100 * fraction(works[i].seconds, f->busy);
        if (percent < 0.5)
            continue;
        say(w, "%s %s %.0f %%", between, works[i].said, percent);
        between = ",";
    }
}

static void say_waits(struct words *w, const struct figures *f)
{
    say(w, "\nwaited    %.1f %% of the time: %.2f of %.2f s, %s", 100 * f->share, f->share * f->elapsed,
        f->elapsed, number_of(f->s.batches, "batch", "batches"));
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
    if (!stats || !room_ok(stats_size) || (size && !text))
        return 0;
    options_give(&now, sizeof now, stats, stats_size);
    if (before)
        options_give(&then, sizeof then, before, stats_size);
    struct figures f = figures_between(&now, &then);
    struct verdict v = verdict_on(&f);
    struct words w = {text, size, 0};
    say_verdict(&w, &f, &v);
    if (v.what != APL_BOTTLENECK_UNKNOWN)
        say_evidence(&w, &f);
    if (bottleneck)
        *bottleneck = v.what;
    return w.length;
}
