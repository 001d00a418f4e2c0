/* Ranges that are fetched before they are read: see ahead.h. */
#include "ahead.h"

#include "admission.h"
#include "parallel.h"
#include "range_list.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STALE_S 20 /* what nobody has read for so long may make room */

/* All is done under one lock, so that a child after fork() finds it free; nothing is fetched or copied while it is held. */
static pthread_mutex_t ahead_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, come = PTHREAD_COND_INITIALIZER;
static pthread_once_t ahead_once = PTHREAD_ONCE_INIT;
static struct ranges ranges;
static struct call {
    struct call *later;
    void (*run)(void *what);
    void *what;
} * calls;
static size_t calls_waiting, most_held, coming; /* coming: bytes on their way */
static unsigned threads, at_rest, fetching;     /* fetching: threads that are at a range */

static void before_fork(void)
{
    pthread_mutex_lock(&ahead_lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&ahead_lock);
}

/* The threads are the parent's, and what they wait for. */
static void in_child(void)
{
    pthread_cond_init(&work, NULL);
    pthread_cond_init(&come, NULL);
    ranges_forked(&ranges);
    calls = NULL;
    calls_waiting = coming = 0;
    threads = at_rest = fetching = 0;
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

/* ---------------------------------------------------------------------------------------------- fetching */

static unsigned pieces_of(const struct range *r, struct extent *pieces)
{
    unsigned n = 0;
    for (const struct unit *u = r->units; u && n < AHEAD_PIECES; u = u->beside)
        pieces[n++] = (struct extent){u->offset, u->n};
    return n;
}

/* Fetches a range that has been taken out of the queue, and has the caller as a user. */
static void fetch_range(struct range *r)
{
    struct ahead *a = r->of;
    struct extent pieces[AHEAD_PIECES], all = {r->offset, (size_t)r->n};
    unsigned count = pieces_of(r, pieces);
    r->stage = RANGE_COMES;
    coming += r->n;
    pthread_mutex_unlock(&ahead_lock);
    uint8_t *data = malloc((size_t)r->n);
    apl_status status =
        data ? a->fetch(a->owner, &all, pieces, count, data, &r->error) : fail_nomem(&r->error);
    pthread_mutex_lock(&ahead_lock);
    coming -= r->n;
    r->data = data;
    r->stage = status == APL_OK ? RANGE_HERE : RANGE_FAILED;
    r->since = clock_s();
    pthread_cond_broadcast(&come);
}

/* Threads beyond what servers take at once would wait there, for ranges that could still be joined by their neighbours here. */
static unsigned most_fetching(void)
{
    unsigned most = coming < AHEAD_FLIGHT ? AHEAD_MOST_THREADS : AHEAD_THREADS, widest = admission_widest();
    return widest < most ? widest : most;
}

static bool may_fetch(void)
{
    return ranges.first && fetching < most_fetching();
}

static void *serve(void *unused);

/* Something more waits: for a thread that is at rest, or for a new one. */
static void find_thread(void)
{
    pthread_t thread;
    size_t free_to = may_fetch() ? most_fetching() - fetching : 0;
    size_t wanted = calls_waiting + (ranges.waiting < free_to ? ranges.waiting : free_to);
    pthread_cond_signal(&work);
    if (wanted <= at_rest || threads >= AHEAD_MOST_THREADS ||
        thread_start(&thread, serve, NULL, NULL) != APL_OK)
        return;
    pthread_detach(thread);
    threads++;
}

static void serve_call(void)
{
    struct call *c = calls;
    calls = c->later;
    calls_waiting--;
    pthread_mutex_unlock(&ahead_lock);
    c->run(c->what);
    free(c);
    pthread_mutex_lock(&ahead_lock);
}

static void serve_range(void)
{
    struct range *r = ranges.first;
    struct ahead *a = r->of;
    if (!a->retain(a->owner)) { /* its last holder is about to forget it */
        ranges_drop(&ranges, r);
        return;
    }
    ranges_unqueue(&ranges, r);
    r->users++;
    fetching++;
    fetch_range(r);
    fetching--;
    ranges_release(&ranges, r);
    find_thread(); /* more may be in flight by now */
    pthread_mutex_unlock(&ahead_lock);
    a->release(a->owner); /* may be the last, and forget */
    pthread_mutex_lock(&ahead_lock);
}

static void *serve(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&ahead_lock);
    for (;;) {
        while (!calls && !may_fetch()) {
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

/* ------------------------------------------------------------------------------------------------ asking */

/* Makes room by what has been here for long, and nobody has read. */
static bool make_space(size_t n, bool late)
{
    size_t most = late ? most_held - most_held / 4 : most_held;
    time_t now = ranges.held + n > most ? clock_s() : 0;
    for (struct range *r = ranges.all, *next; r && ranges.held + n > most; r = next) {
        next = r->next;
        if (!r->users && (r->stage == RANGE_FAILED || (r->stage == RANGE_HERE && now - r->since > STALE_S)))
            ranges_drop(&ranges, r);
    }
    return ranges.held + n <= most || ranges.held == 0;
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
    calls_waiting++;
    find_thread();
    pthread_mutex_unlock(&ahead_lock);
    return true;
}

static enum ahead_asked add_piece(struct ahead *a, const struct extent *piece, bool late)
{
    if (ranges_find(&ranges, a, piece->offset, piece->n))
        return ASKED_BEFORE;
    if (!make_space(piece->n, late) || !ranges_add(&ranges, a, piece->offset, piece->n))
        return ASK_LATER;
    find_thread();
    return ASKED;
}

enum ahead_asked ahead_add(struct ahead *a, const struct extent *pieces, unsigned count, bool late)
{
    enum ahead_asked first = ASKED_BEFORE;
    pthread_once(&ahead_once, set_up);
    pthread_mutex_lock(&ahead_lock);
    for (unsigned i = 0; i < count && first != ASK_LATER; i++) {
        enum ahead_asked asked = add_piece(a, &pieces[i], late);
        first = i == 0 ? asked : first;
    }
    pthread_mutex_unlock(&ahead_lock);
    return first;
}

/* ------------------------------------------------------------------------------------------------ taking */

/* Until the range is here; who needs what still waits fetches it himself. */
static void await_range(struct range *r)
{
    if (r->stage == RANGE_WAITS) {
        ranges_unqueue(&ranges, r);
        fetch_range(r);
    }
    while (r->stage == RANGE_COMES)
        pthread_cond_wait(&come, &ahead_lock);
}

static apl_status copy_range(struct range *r, uint64_t offset, uint8_t *to, size_t n, apl_error *err)
{
    if (r->stage == RANGE_FAILED) {
        if (err)
            *err = r->error;
        r->unwanted = true;
        return r->error.status;
    }
    pthread_mutex_unlock(&ahead_lock);
    memcpy(to, r->data + (offset - r->offset), n);
    pthread_mutex_lock(&ahead_lock);
    return APL_OK;
}

/* What is read is no longer a unit; unless it was forgotten meanwhile, or another thread has read it. */
static void note_taken(struct ahead *a, uint64_t offset, size_t n, const struct range *r)
{
    struct unit *unit = ranges_find(&ranges, a, offset, n);
    if (unit && unit->range == r)
        ranges_read_unit(&ranges, unit);
}

apl_status ahead_take(struct ahead *a, uint64_t offset, uint8_t *to, size_t n, bool peek, bool *found,
                      apl_error *err)
{
    apl_status status = APL_OK;
    pthread_mutex_lock(&ahead_lock);
    const struct unit *unit = ranges_find(&ranges, a, offset, n);
    *found = unit;
    if (unit) {
        struct range *r = unit->range;
        r->users++;
        await_range(r); /* as long as it is one of the range's units, the range is fetched with it */
        if (!peek)
            note_taken(a, offset, n, r);
        status = copy_range(r, offset, to, n, err);
        ranges_release(&ranges, r);
    }
    pthread_mutex_unlock(&ahead_lock);
    return status;
}

void ahead_forget(struct ahead *a, uint64_t offset, uint64_t n)
{
    pthread_mutex_lock(&ahead_lock);
    for (struct range *r = ranges.all, *next; r; r = next) {
        next = r->next;
        if (r->of == a && r->offset < offset + n && offset < r->offset + r->n)
            ranges_drop(&ranges, r);
    }
    pthread_mutex_unlock(&ahead_lock);
}
