/* Threads, locks and conditions, simulated: see sim.h. What is not simulated at the moment goes to the real ones. */
#include "sim.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

/* Lies over the real one; all zeros is one that nobody holds. */
struct object {
    uint64_t owner; /* of a lock: the number of the thread that holds it */
    uint64_t number;
    uint32_t gone, clock;
};
_Static_assert(sizeof(struct object) <= sizeof(pthread_mutex_t), "a lock must fit");
_Static_assert(sizeof(struct object) <= sizeof(pthread_cond_t), "a condition must fit");

#define GONE 0xdeadu

#define STATIC 1000000u /* the number of a lock that nobody makes or destroys */

static uint64_t numbers;
static int64_t objects; /* that have been made, and not been destroyed */

int __real_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a);
int __real_pthread_mutex_destroy(pthread_mutex_t *m);
int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __real_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *a);
int __real_pthread_cond_destroy(pthread_cond_t *c);
int __real_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __real_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t);
int __real_pthread_cond_signal(pthread_cond_t *c);
int __real_pthread_cond_broadcast(pthread_cond_t *c);
int __real_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *), void *argument);
int __real_pthread_join(pthread_t t, void **result);
int __real_pthread_detach(pthread_t t);

int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *a);
int __wrap_pthread_cond_destroy(pthread_cond_t *c);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t);
int __wrap_pthread_cond_signal(pthread_cond_t *c);
int __wrap_pthread_cond_broadcast(pthread_cond_t *c);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *), void *argument);
int __wrap_pthread_join(pthread_t t, void **result);
int __wrap_pthread_detach(pthread_t t);

void sim_threads_begin(void)
{
    numbers = 0;
    objects = 0;
}

void sim_threads_end(void)
{
    if (objects)
        sim_fail("%lld locks and conditions were not destroyed", (long long)objects);
}

static struct object *known(void *at, const char *what)
{
    struct object *o = at;
    if (o->gone == GONE)
        sim_fail("%s a lock or condition that was destroyed", what);
    if (!o->number)
        o->number = STATIC; /* the same for all seeds, whichever comes to it first */
    return o;
}

static void make(void *at, clockid_t clock)
{
    *(struct object *)at = (struct object){.number = ++numbers, .clock = (uint32_t)clock};
    objects++;
}

static void destroy(void *at, enum wait wait)
{
    struct object *o = known(at, "destroys");
    if (o->owner || sim_waiter(wait, o))
        sim_fail("destroys a lock that is held, or a condition that is waited for");
    o->gone = GONE;
    objects--;
}

/* ------------------------------------------------------------------------------------------------------- locks */

static void lock(struct object *o)
{
    uint64_t me = sim_current->number;
    sim_current->queued = sim_steps();
    while (o->owner && o->owner != me)
        sim_wait(FOR_LOCK, o, o->number, NEVER);
    o->owner = me;
    sim_current->locked++;
    sim_acquire(o);
}

static void unlock(struct object *o)
{
    if (o->owner != sim_current->number)
        sim_fail("gives up a lock that thread %llu holds", (unsigned long long)o->owner);
    sim_release(o);
    o->owner = 0;
    for (struct thread *t; (t = sim_waiter(FOR_LOCK, o));) {
        if (sim_steps() - t->queued > MOST_PATIENT) /* others have overtaken it often enough */
            o->owner = t->number;
        sim_wake(t);
    }
}

int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a)
{
    if (!sim_current)
        return __real_pthread_mutex_init(m, a);
    make(m, 0);
    return 0;
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *m)
{
    if (!sim_current)
        return __real_pthread_mutex_destroy(m);
    destroy(m, FOR_LOCK);
    return 0;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    if (!sim_current)
        return __real_pthread_mutex_lock(m);
    struct object *o = known(m, "takes");
    if (o->owner == sim_current->number)
        sim_fail("takes a lock that it holds");
    sim_point("lock", o->number, PLACE);
    lock(known(m, "takes"));
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
    if (!sim_current)
        return __real_pthread_mutex_unlock(m);
    struct object *o = known(m, "gives up");
    uint64_t number = o->number;
    unlock(o); /* and from here on it may be gone */
    sim_point("unlock", number, PLACE);
    return 0;
}

/* -------------------------------------------------------------------------------------------------- conditions */

int __wrap_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *a)
{
    clockid_t clock = CLOCK_REALTIME;
    if (!sim_current)
        return __real_pthread_cond_init(c, a);
    if (a)
        pthread_condattr_getclock(a, &clock);
    make(c, clock);
    return 0;
}

int __wrap_pthread_cond_destroy(pthread_cond_t *c)
{
    if (!sim_current)
        return __real_pthread_cond_destroy(c);
    destroy(c, FOR_CONDITION);
    return 0;
}

static int wait_for(pthread_cond_t *c, pthread_mutex_t *m, uint64_t until, const void *place)
{
    struct object *condition = known(c, "waits for");
    sim_point("wait", condition->number, place);
    unlock(known(m, "gives up"));
    bool woken = sim_wait(FOR_CONDITION, condition, condition->number, until);
    lock(known(m, "takes"));
    return woken ? 0 : ETIMEDOUT;
}

int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    return sim_current ? wait_for(c, m, NEVER, PLACE) : __real_pthread_cond_wait(c, m);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t)
{
    if (!sim_current)
        return __real_pthread_cond_timedwait(c, m, t);
    if (known(c, "waits for")->clock != CLOCK_MONOTONIC)
        sim_fail("waits by a clock that people can set");
    return wait_for(c, m, (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec, PLACE);
}

int __wrap_pthread_cond_signal(pthread_cond_t *c)
{
    if (!sim_current)
        return __real_pthread_cond_signal(c);
    struct object *o = known(c, "signals");
    struct thread *t = sim_waiter(FOR_CONDITION, o);
    if (t)
        sim_wake(t);
    sim_point("signal", o->number, PLACE);
    return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *c)
{
    if (!sim_current)
        return __real_pthread_cond_broadcast(c);
    struct object *o = known(c, "signals");
    for (struct thread *t; (t = sim_waiter(FOR_CONDITION, o));)
        sim_wake(t);
    sim_point("broadcast", o->number, PLACE);
    return 0;
}

/* ----------------------------------------------------------------------------------------------------- threads */

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *), void *argument)
{
    if (!sim_current)
        return __real_pthread_create(t, a, run, argument);
    if (sim_current->may_fail && sim_chance(sim_faults.no_thread)) {
        sim_faults_made++;
        return EAGAIN;
    }
    *t = (pthread_t)sim_start(run, argument)->number;
    sim_point("create", (uint64_t)*t, PLACE);
    return 0;
}

/* One that was made, and neither joined nor detached. */
static struct thread *own(pthread_t t)
{
    struct thread *found = sim_find((uint64_t)t);
    if (!found || found->detached)
        sim_fail("joins or detaches a thread that is not there");
    return found;
}

int __wrap_pthread_join(pthread_t number, void **result)
{
    if (!sim_current)
        return __real_pthread_join(number, result);
    struct thread *t = own(number);
    sim_point("join", t->number, PLACE);
    while (t->wait != OVER)
        sim_wait(FOR_END, t, t->number, NEVER);
    sim_acquire(t);
    if (result)
        *result = NULL; /* nobody here asks for more */
    sim_forget(t);
    return 0;
}

int __wrap_pthread_detach(pthread_t number)
{
    if (!sim_current)
        return __real_pthread_detach(number);
    struct thread *t = own(number);
    t->detached = true;
    sim_point("detach", t->number, PLACE);
    if (t->wait == OVER && t->number == (uint64_t)number)
        sim_forget(t);
    return 0;
}
