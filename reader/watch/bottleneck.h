/* What keeps training from going faster, as statistics show it: pure functions. explain.c says it in words. */
#ifndef BOTTLENECK_H
#define BOTTLENECK_H

#include "apl.h"

#include <stdbool.h>

/* Waiting for a smaller part of the time than this is not worth a word. */
#define LITTLE 0.02
/* Training that takes a smaller part of the time than this does nothing but take batches: a benchmark. */
#define NOTHING 0.1
/* Threads that have a core for a smaller part of their work than this share it with others. */
#define CROWDED 0.7
/* Batches that training takes are not all alike: threads that are busy for more than this part of their time are too few. */
#define FULL 0.9

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

/* The kinds of work that threads do; what has no other name in words is called as it is in figures. */
#define WORKS 5
struct work {
    const char *name, *said;
    double seconds;
};

struct verdict {
    apl_bottleneck what;
    bool loaders, consumers; /* threads of that kind alone are too few */
    bool uneven;             /* of a queue: threads are enough, but steps differ */
    unsigned more;           /* threads that would remove it; 0: none would */
    unsigned idle_cores;
};

static inline double more_than_nothing(double x)
{
    return x > 0 ? x : 0;
}

static inline double fraction(double part, double whole)
{
    return whole > 0 ? more_than_nothing(part) / whole : 0;
}

/* Of what happened between two snapshots; of the earlier one all members may be 0. */
struct figures figures_between(const apl_stats *now, const apl_stats *before);

/* What has been done of each kind. */
void works_of(const struct figures *f, struct work works[WORKS]);

struct verdict verdict_on(const struct figures *f);

#endif
