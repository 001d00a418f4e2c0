/* Ranges that are fetched before they are read: see ahead.h. */
#include "ahead.h"

#include "parallel.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STALE_S 20 /* what nobody has read for so long may make room */

enum stage { WAITS, COMES, HERE, FAILED };

struct range {
    struct ahead *of;
    struct range *next, *before; /* of all, in no order */
    struct range *later;         /* in the queue, while it waits */
    uint64_t offset, n, unread;  /* bytes */
    enum stage stage;
    unsigned life;  /* the process that fetches it: see `life` below */
    unsigned users; /* threads that copy from it, or wait for it */
    bool unwanted;  /* to be freed when it has come, and nobody uses it */
    time_t since;
    uint8_t *data;
    apl_error error;
};

/* All is done under one lock, so that a child after fork() finds it free; nothing is fetched or copied while it is held. */
static pthread_mutex_t ahead_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, come = PTHREAD_COND_INITIALIZER;
static pthread_once_t ahead_once = PTHREAD_ONCE_INIT;
static struct range *all;
static struct range *first, *last; /* those that wait */
static struct call {
    struct call *later;
    void (*run)(void *what);
    void *what;
} * calls;
static size_t held, most_held;
static unsigned threads, at_rest;
static unsigned life; /* counts forks: a thread of the parent brings nothing to the child */

static void before_fork(void)
{
    pthread_mutex_lock(&ahead_lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&ahead_lock);
}

static void in_child(void)
{
    pthread_cond_init(&work, NULL);
    pthread_cond_init(&come, NULL);
    first = last = NULL;
    calls = NULL;
    threads = at_rest = 0;
    life++;
    pthread_mutex_unlock(&ahead_lock);
}

static void set_up(void)
{
    const char *said = getenv("APL_REMOTE_AHEAD");
    most_held = said ? (size_t)strtoull(said, NULL, 10) : AHEAD_BYTES;
    pthread_atfork(before_fork, after_fork, in_child);
}

static time_t clock_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

/* ------------------------------------------------------------------------------------------------ lists */

static void unqueue(struct range *r)
{
    struct range **at = &first, *before = NULL;
    for (; *at && *at != r; at = &(*at)->later)
        before = *at;
    if (!*at)
        return;
    *at = r->later;
    if (last == r)
        last = before;
}

/* Forgets the range, and frees it as soon as nobody uses it. */
static void drop(struct range *r)
{
    if (r->stage == WAITS)
        unqueue(r);
    if (r->users || (r->stage == COMES && r->life == life)) {
        r->unwanted = true;
        return;
    }
    if (r->next)
        r->next->before = r->before;
    if (r->before)
        r->before->next = r->next;
    else
        all = r->next;
    held -= r->n < held ? (size_t)r->n : held;
    free(r->data);
    free(r);
}

static bool has(const struct range *r, uint64_t offset, uint64_t n)
{
    return offset >= r->offset && n <= r->n && offset - r->offset <= r->n - n;
}

/* The range that has these bytes, or will; those that were left behind by a fork are dropped. */
static struct range *range_with(struct ahead *a, uint64_t offset, uint64_t n)
{
    struct range *next;
    for (struct range *r = all; r; r = next) {
        next = r->next;
        bool lost = r->life != life && r->stage != HERE;
        if (lost) {
            r->users = 0;
            r->stage = FAILED;
            drop(r);
        } else if (r->of == a && !r->unwanted && has(r, offset, n)) {
            return r;
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------------------------------------- fetching */

static void fetch_range(struct range *r)
{
    struct ahead *a = r->of;
    r->stage = COMES;
    r->life = life;
    r->users++;
    pthread_mutex_unlock(&ahead_lock);
    uint8_t *data = malloc((size_t)r->n);
    apl_status status = data ? object_fetch(a->object, r->offset, data, (size_t)r->n, &a->stopped, &r->error)
                             : fail_nomem(&r->error);
    pthread_mutex_lock(&ahead_lock);
    r->data = data;
    r->users--;
    r->stage = status == APL_OK ? HERE : FAILED;
    r->since = clock_s();
    pthread_cond_broadcast(&come);
    if (r->unwanted)
        drop(r);
}

static void serve_call(void)
{
    struct call *c = calls;
    calls = c->later;
    pthread_mutex_unlock(&ahead_lock);
    c->run(c->what);
    free(c);
    pthread_mutex_lock(&ahead_lock);
}

static void serve_range(void)
{
    struct range *r = first;
    struct ahead *a = r->of;
    unqueue(r);
    if (!a->retain(a->owner)) { /* its last holder is about to forget it */
        r->stage = FAILED;
        drop(r);
        return;
    }
    fetch_range(r);
    pthread_mutex_unlock(&ahead_lock);
    a->release(a->owner); /* may be the last, and forget */
    pthread_mutex_lock(&ahead_lock);
}

static void *serve(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&ahead_lock);
    for (;;) {
        while (!first && !calls) {
            at_rest++;
            pthread_cond_wait(&work, &ahead_lock);
            at_rest--;
        }
        if (calls)
            serve_call();
        else
            serve_range();
    }
    return NULL;
}

static void start_thread(void)
{
    pthread_t thread;
    if (at_rest || threads >= AHEAD_THREADS || thread_start(&thread, serve, NULL, NULL) != APL_OK)
        return;
    pthread_detach(thread);
    threads++;
}

/* ------------------------------------------------------------------------------------------------ asking */

/* Makes room by what has been here for long, and nobody has read. */
static bool make_space(size_t n)
{
    time_t now = held + n > most_held ? clock_s() : 0;
    struct range *next;
    for (struct range *r = all; r && held + n > most_held; r = next) {
        next = r->next;
        if (!r->users && (r->stage == FAILED || (r->stage == HERE && now - r->since > STALE_S)))
            drop(r);
    }
    return held + n <= most_held || held == 0;
}

/* A neighbour that is not on its way yet takes it along. */
static bool join(struct ahead *a, uint64_t offset, size_t n)
{
    for (struct range *r = first; r; r = r->later) {
        uint64_t gap = offset - (r->offset + r->n);
        if (r->of != a || offset < r->offset + r->n || gap > AHEAD_GAP || r->n + gap + n > AHEAD_JOIN)
            continue;
        r->n += gap + n;
        r->unread += n;
        held += (size_t)gap + n;
        return true;
    }
    return false;
}

static bool enqueue(struct ahead *a, uint64_t offset, size_t n)
{
    struct range *r = calloc(1, sizeof *r);
    if (!r)
        return false;
    *r = (struct range){.of = a, .next = all, .offset = offset, .n = n, .unread = n, .life = life};
    if (all)
        all->before = r;
    all = r;
    held += n;
    if (last)
        last->later = r;
    else
        first = r;
    last = r;
    return true;
}

bool ahead_call(void (*run)(void *what), void *what)
{
    struct call *c = malloc(sizeof *c);
    if (!c)
        return false;
    pthread_once(&ahead_once, set_up);
    pthread_mutex_lock(&ahead_lock);
    *c = (struct call){calls, run, what};
    calls = c;
    start_thread();
    pthread_cond_signal(&work);
    pthread_mutex_unlock(&ahead_lock);
    return true;
}

bool ahead_add(struct ahead *a, uint64_t offset, size_t n)
{
    pthread_once(&ahead_once, set_up);
    pthread_mutex_lock(&ahead_lock);
    bool known = range_with(a, offset, n), ok = known;
    if (!known && make_space(n)) {
        ok = join(a, offset, n) || enqueue(a, offset, n);
        start_thread();
        pthread_cond_signal(&work);
    }
    pthread_mutex_unlock(&ahead_lock);
    return ok;
}

/* ------------------------------------------------------------------------------------------------ taking */

/* Until the range is here; who needs what still waits fetches it himself. */
static void await_range(struct range *r)
{
    if (r->stage == WAITS) {
        unqueue(r);
        fetch_range(r);
    }
    while (r->stage == COMES)
        pthread_cond_wait(&come, &ahead_lock);
}

static apl_status copy_range(struct range *r, uint64_t offset, uint8_t *to, size_t n, apl_error *err)
{
    if (r->stage == FAILED) {
        if (err)
            *err = r->error;
        r->unread = 0;
        return r->error.status;
    }
    pthread_mutex_unlock(&ahead_lock);
    memcpy(to, r->data + (offset - r->offset), n);
    pthread_mutex_lock(&ahead_lock);
    r->unread -= n < r->unread ? n : r->unread;
    return APL_OK;
}

apl_status ahead_take(struct ahead *a, uint64_t offset, uint8_t *to, size_t n, bool *found, apl_error *err)
{
    apl_status status = APL_OK;
    *found = false;
    pthread_mutex_lock(&ahead_lock);
    struct range *r = range_with(a, offset, n);
    if (r) {
        *found = true;
        r->users++;
        await_range(r);
        status = copy_range(r, offset, to, n, err);
        r->users--;
        if (r->unread == 0 || r->unwanted)
            drop(r);
    }
    pthread_mutex_unlock(&ahead_lock);
    return status;
}

void ahead_forget(struct ahead *a, uint64_t offset, uint64_t n)
{
    struct range *next;
    pthread_mutex_lock(&ahead_lock);
    for (struct range *r = all; r; r = next) {
        next = r->next;
        if (r->of == a && r->offset < offset + n && offset < r->offset + r->n)
            drop(r);
    }
    pthread_mutex_unlock(&ahead_lock);
}
