/* Who goes on: see sim.h. */
#include "sim.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_STEPS  1000000u
#define MAX_CHANGES 8

/* How the one to go on is chosen; drawn from the seed. */
struct strategy {
    uint32_t stay;    /* of 10,000 points at which another could go on, those at which none does */
    bool by_priority; /* always the one of the highest priority, */
    unsigned changes; /* which changes so often, */
    uint32_t change[MAX_CHANGES]; /* at these steps */
    uint64_t slow;                /* the number of a thread that hardly ever gets its turn; 0: none */
    uint32_t preempt;             /* basic blocks between preemptions, on average; 0: none */
    uint32_t spurious; /* of 10,000 points, those at which some wait for a condition ends for no reason */
    uint64_t tick;
};

struct thread sim_threads[SIM_THREADS];
static struct strategy strategy;
static uint64_t state, seed, now, digest, started, least_priority;
static uint32_t steps, until_preempted;
static bool tracing;

struct thread *sim_current;

/* -------------------------------------------------------------------------------------------------- randomness */

uint64_t sim_random(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint32_t sim_below(uint32_t n)
{
    return (uint32_t)((sim_random() >> 32) * n >> 32);
}

bool sim_chance(uint32_t of_10000)
{
    return of_10000 && sim_below(10000) < of_10000;
}

static uint32_t one_of(const uint32_t *choices, uint32_t n)
{
    return choices[sim_below(n)];
}

static void draw_strategy(void)
{
    static const uint32_t stays[] = {0, 5000, 8000, 9500, 9900}, preempts[] = {0, 0, 30, 300, 3000};
    static const uint32_t spurious[] = {0, 0, 0, 20, 400}, ticks[] = {0, 0, 0, 0, 100, 10000, 200000};
    strategy = (struct strategy){.stay = one_of(stays, 5),
                                 .by_priority = sim_below(3) == 0,
                                 .changes = sim_below(MAX_CHANGES + 1),
                                 .slow = sim_below(2) ? 0 : 1 + sim_below(8),
                                 .preempt = one_of(preempts, 5),
                                 .spurious = one_of(spurious, 5),
                                 .tick = one_of(ticks, 7)};
    uint32_t within = 100u << sim_below(8);
    for (unsigned i = 0; i < strategy.changes; i++)
        strategy.change[i] = sim_below(within);
    until_preempted = strategy.preempt ? 1 + sim_below(2 * strategy.preempt) : 0;
}

/* ---------------------------------------------------------------------------------------------- the digest */

static void note(const char *what, uint64_t object, const void *place)
{
    uint64_t number = sim_current ? sim_current->number : 0;
    digest =
        (digest ^ number ^ object << 8 ^ (uint64_t)what[0] << 32 ^ (uint64_t)what[1] << 40) * 0x100000001b3u;
    if (!tracing)
        return;
    printf("%7u %10.6f  thread %-3llu %-10s %4llu  ", steps, (double)now * 1e-9, (unsigned long long)number,
           what, (unsigned long long)object);
    if (place)
        report_place(place);
    printf("\n");
}

void sim_note(uint64_t it)
{
    note("note", it, NULL);
}

/* --------------------------------------------------------------------------------------------------- switching */

static void switch_to(struct thread *to)
{
    fiber_swap(to);
    while (sim_asking) {
        report_stack();
        fiber_swap(sim_asking);
    }
}

static void end_thread(void);

static void enter(void)
{
    struct thread *t = sim_current;
    fiber_arrived(NULL);
    t->began = true;
    sim_acquire(t);
    sim_point("begins", t->number, *(void **)&t->run);
    t->run(t->argument);
    end_thread();
}

/* -------------------------------------------------------------------------------------------------- the threads */

unsigned sim_alive(void)
{
    unsigned n = 0;
    for (unsigned i = 0; i < SIM_THREADS; i++)
        n += sim_threads[i].number && sim_threads[i].wait != OVER;
    return n;
}

struct thread *sim_find(uint64_t number)
{
    for (unsigned i = 0; number && i < SIM_THREADS; i++)
        if (sim_threads[i].number == number)
            return &sim_threads[i];
    return NULL;
}

struct thread *sim_start(void *(*run)(void *), void *argument)
{
    unsigned i = 0;
    while (i < SIM_THREADS && sim_threads[i].number)
        i++;
    if (i == SIM_THREADS)
        sim_fail("more than %u threads", SIM_THREADS);
    struct thread *t = &sim_threads[i];
    *t = (struct thread){.stack = t->stack, .fiber = t->fiber}; /* which are kept for those to come */
    fiber_make(t, enter);
    t->number = ++started;
    t->last_step = steps;
    t->run = run;
    t->argument = argument;
    t->until = NEVER;
    t->may_fail = sim_current && sim_current->may_fail;
    t->sound = sim_current && sim_current->sound;
    t->priority = sim_random() >> 1 | 1u << 30;
    sim_release(t);
    return t;
}

void sim_forget(struct thread *t)
{
    t->number = 0;
}

/* ----------------------------------------------------------------------------------------------------- choosing */

static bool is_ready(const struct thread *t)
{
    return t->number && t->wait != OVER && (t->wait == RUNS || t->until <= now);
}

static uint64_t next_deadline(void)
{
    uint64_t until = NEVER;
    for (unsigned i = 0; i < SIM_THREADS; i++)
        if (sim_threads[i].number && sim_threads[i].wait != OVER && sim_threads[i].until < until)
            until = sim_threads[i].until;
    return until;
}

static struct thread *pick(struct thread **ready, unsigned n)
{
    struct thread *best = ready[sim_below(n)];
    for (unsigned i = 0; i < n; i++) /* whatever the priorities, nobody waits for ever */
        if (steps - ready[i]->last_step > MOST_PATIENT)
            return ready[i];
    for (unsigned i = 0; strategy.by_priority && i < n; i++)
        if (ready[i]->priority > best->priority)
            best = ready[i];
    if (!strategy.by_priority && best->number == strategy.slow && !sim_chance(100))
        best = ready[sim_below(n)];
    return best;
}

static struct thread *choose(void)
{
    struct thread *ready[SIM_THREADS];
    for (;;) {
        unsigned n = 0;
        for (unsigned i = 0; i < SIM_THREADS; i++)
            if (is_ready(&sim_threads[i]))
                ready[n++] = &sim_threads[i];
        if (n)
            return pick(ready, n);
        uint64_t until = next_deadline();
        if (until == NEVER)
            sim_fail("deadlock: nobody can go on, or will by waiting");
        now = until;
    }
}

static void go_on_with(struct thread *t)
{
    t->timed_out = t->wait != RUNS;
    t->wait = RUNS;
    t->until = NEVER;
    t->last_step = steps;
    if (t != sim_current)
        switch_to(t);
}

void sim_wake(struct thread *t)
{
    t->wait = RUNS;
    t->until = NEVER;
    t->last_step = steps;
}

struct thread *sim_waiter(enum wait wait, const void *on)
{
    struct thread *found = NULL;
    for (unsigned i = 0, n = 0; i < SIM_THREADS; i++) {
        struct thread *t = &sim_threads[i];
        if (t->number && t->wait == wait && (!on || t->on == on) && sim_below(++n) == 0)
            found = t;
    }
    return found;
}

bool sim_wait(enum wait wait, const void *on, uint64_t on_number, uint64_t until)
{
    struct thread *me = sim_current;
    me->wait = wait;
    me->on = on;
    me->on_number = on_number;
    me->until = until;
    me->timed_out = false;
    go_on_with(choose());
    return !me->timed_out;
}

static void change_priorities(void)
{
    for (unsigned i = 0; i < strategy.changes; i++)
        if (strategy.change[i] == steps)
            sim_current->priority = --least_priority;
}

void sim_point(const char *what, uint64_t object, const void *place)
{
    struct thread *me = sim_current;
    me->last_step = steps;
    note(what, object, place);
    now += strategy.tick;
    if (++steps > MOST_STEPS)
        sim_fail("it does not come to an end");
    if (sim_chance(strategy.spurious)) {
        struct thread *t = sim_waiter(FOR_CONDITION, NULL);
        if (t)
            sim_wake(t);
    }
    change_priorities();
    if (strategy.by_priority || !sim_chance(strategy.stay))
        go_on_with(choose());
}

/* Each basic block of what is under test comes here. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    if (!sim_current || !until_preempted || --until_preempted)
        return;
    until_preempted = 1 + sim_below(2 * strategy.preempt);
    sim_point("preempted", 0, PLACE);
}

int __real_pthread_once(pthread_once_t *once, void (*run)(void));
int __wrap_pthread_once(pthread_once_t *once, void (*run)(void));

/* What is done once is done by the first seed that comes to it, and is no place to be preempted: a seed by itself must go the same way. */
int __wrap_pthread_once(pthread_once_t *once, void (*run)(void))
{
    uint32_t left = until_preempted;
    until_preempted = 0;
    int code = __real_pthread_once(once, run);
    until_preempted = left;
    return code;
}

/* A thread whose time is over is left for ever. */
static void end_thread(void)
{
    struct thread *me = sim_current;
    note("ends", me->number, NULL);
    sim_release(me);
    me->wait = OVER;
    for (struct thread *t; (t = sim_waiter(FOR_END, me));)
        sim_wake(t);
    if (me->detached)
        sim_forget(me);
    struct thread *to = sim_alive() ? choose() : NULL;
    if (to) {
        to->timed_out = to->wait != RUNS;
        to->wait = RUNS;
        to->until = NEVER;
    }
    switch_to(to);
}

/* ---------------------------------------------------------------------------------------------------------- runs */

uint64_t sim_seed(void)
{
    return seed;
}

uint32_t sim_steps(void)
{
    return steps;
}

uint64_t sim_now(void)
{
    return now;
}

uint64_t sim_tick(void)
{
    return strategy.tick;
}

static void (*the_root)(void *user);

static void *run_root(void *user)
{
    the_root(user);
    return NULL;
}

uint64_t sim_run(uint64_t of, bool trace, void (*root)(void *), void *user)
{
    report_begin();
    state = seed = of;
    now = 1000000000u;
    digest = 0xcbf29ce484222325u;
    started = steps = 0;
    least_priority = 1u << 29;
    tracing = trace;
    the_root = root;
    for (unsigned i = 0; i < SIM_THREADS; i++)
        sim_threads[i].number = 0;
    draw_strategy();
    sim_threads_begin();
    sim_calls_begin();
    struct thread *first = sim_start(run_root, user);
    first->detached = true;
    fiber_swap(first);
    for (unsigned i = 0; i < SIM_THREADS; i++)
        if (sim_threads[i].fiber)
            fiber_over(&sim_threads[i]);
    for (unsigned i = 0; i < SIM_THREADS; i++)
        if (sim_threads[i].number)
            sim_fail("thread %llu was neither joined nor detached",
                     (unsigned long long)sim_threads[i].number);
    sim_threads_end();
    return digest;
}
