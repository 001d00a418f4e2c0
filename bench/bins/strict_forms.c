/* Forms of strict order: see forms.h. */
#include "forms.h"
#include "measure.h"
#include "tickets.h"

#include <pthread.h>
#include <sched.h>

static struct plan *open_plan(const struct plan_options *options, const struct subset *subset)
{
    struct plan *plan;
    apl_error err;
    must(plan_new(options, subset, &plan, &err), &err);
    return plan;
}

/* ------------------------------------------------------------------------------------------------ one lock */

struct locked_plan {
    pthread_mutex_t lock;
    struct plan *plan;
};

static void *locked_open(const struct plan_options *options, const struct subset *subset)
{
    struct locked_plan *l = must_have(calloc(1, sizeof *l));
    pthread_mutex_init(&l->lock, NULL);
    l->plan = open_plan(options, subset);
    return l;
}

static void locked_close(void *form)
{
    struct locked_plan *l = form;
    pthread_mutex_destroy(&l->lock);
    plan_free(l->plan);
    free(l);
}

static void locked_begin(void *form, uint64_t epoch)
{
    plan_begin(((struct locked_plan *)form)->plan, epoch);
}

static size_t locked_draw(void *form, uint32_t *deliveries, size_t n, uint64_t *position)
{
    struct locked_plan *l = form;
    bool failed = false;
    pthread_mutex_lock(&l->lock);
    *position = plan_position(l->plan);
    size_t drawn = plan_next(l->plan, deliveries, n, &failed);
    pthread_mutex_unlock(&l->lock);
    return failed ? 0 : drawn;
}

/* ----------------------------------------------------------------------------------------- without locks */

#define PLANNED_AT_ONCE 1024u
#define PLANNED_AHEAD   (4 * (uint64_t)FORM_BATCH) /* at most, and so much memory */

struct planned {
    struct tickets *tickets;
    struct plan *plan;     /* of the thread that has set: */
    _Atomic bool planning; /* which is tried for, and never waited for while there is something to take */
    _Atomic bool all;      /* of the epoch is planned */
    uint32_t ahead[PLANNED_AT_ONCE];
};

static void *planned_open(const struct plan_options *options, const struct subset *subset)
{
    struct planned *p = must_have(calloc(1, sizeof *p));
    apl_error err;
    must(tickets_new(true, &p->tickets, &err), &err);
    p->plan = open_plan(options, subset);
    return p;
}

static void planned_close(void *form)
{
    struct planned *p = form;
    tickets_free(p->tickets);
    plan_free(p->plan);
    free(p);
}

static void planned_begin(void *form, uint64_t epoch)
{
    struct planned *p = form;
    plan_begin(p->plan, epoch);
    tickets_begin(p->tickets, (struct random_key){0, 0});
    atomic_store(&p->all, false);
}

/* Draws ahead, unless another thread does. What comes next hangs on all draws before: that one thread does it is in its nature. */
static void plan_ahead(struct planned *p)
{
    bool failed = false;
    if (atomic_exchange_explicit(&p->planning, true, memory_order_acquire)) {
        sched_yield();
        return;
    }
    if (tickets_standing(p->tickets) < PLANNED_AHEAD && !atomic_load(&p->all)) {
        size_t n = plan_next(p->plan, p->ahead, PLANNED_AT_ONCE, &failed);
        if (failed || !tickets_put(p->tickets, p->ahead, (uint32_t)n))
            must_have(NULL);
        if (n < PLANNED_AT_ONCE)
            atomic_store_explicit(&p->all, true, memory_order_release);
    }
    atomic_store_explicit(&p->planning, false, memory_order_release);
}

static size_t planned_draw(void *form, uint32_t *deliveries, size_t n, uint64_t *position)
{
    struct planned *p = form;
    for (;;) {
        bool all = atomic_load_explicit(&p->all, memory_order_acquire);
        size_t drawn = tickets_draw(p->tickets, deliveries, all ? 0 : n, n, position);
        if (drawn || all)
            return drawn;
        plan_ahead(p);
    }
}

const struct strict_form strict_forms[STRICT_FORMS] = {
    {"lock", locked_open, locked_close, locked_begin, locked_draw},
    {"tickets", planned_open, planned_close, planned_begin, planned_draw},
};
