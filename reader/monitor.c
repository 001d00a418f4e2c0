/* A reader that can be watched: see monitor.h. */
#include "monitor.h"

#include "handles.h"
#include "monitor_file.h"
#include "monitor_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct monitor {
    apl_reader *reader;
    char *name;
    pthread_t thread;
    pthread_cond_t wake;
    bool stops, left; /* with the reader's lock held */
    struct monitor_file file;
    struct monitor_past past;
};

/* Of several ranks, that of the one furthest behind. */
static void find_monitor_place(apl_reader *r, struct monitor_place *at)
{
    const struct epoch_tally *t = &r->outlets[0].tally;
    for (unsigned i = 1; i < r->outlet_count; i++) {
        const struct epoch_tally *other = &r->outlets[i].tally;
        if (other->epoch < t->epoch || (other->epoch == t->epoch && other->position < t->position))
            t = other;
    }
    uint64_t batch = options_global_batch(&r->spec.options);
    *at = (struct monitor_place){.epoch = t->epoch, .position = t->position, .length = t->length};
    at->step = t->position / batch + (t->position % batch > 0);
    at->steps = apl_reader_batches(r);
}

static apl_status tell_figures(struct monitor *m, apl_error *err)
{
    struct buffer b = {0};
    struct monitor_place place;
    apl_stats now;
    TRY(apl_reader_stats(m->reader, &now, sizeof now));
    pthread_mutex_lock(&m->reader->lock);
    find_monitor_place(m->reader, &place);
    pthread_mutex_unlock(&m->reader->lock);
    monitor_past_add(&m->past, &now);
    monitor_text(&b, m->reader, m->name, &place, &m->past);
    apl_status status = b.failed ? fail_nomem(err) : monitor_file_write(&m->file, &b, err);
    buffer_free(&b);
    return status;
}

/* With the lock held. False: it is to end. */
static bool wait_a_second(struct monitor *m, struct timespec *at)
{
    struct timespec now;
    at->tv_sec++;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (at->tv_sec < now.tv_sec) /* the process was stopped */
        *at = now;
    while (!m->stops && pthread_cond_timedwait(&m->wake, &m->reader->lock, at) != ETIMEDOUT)
        ;
    return !m->stops;
}

static void *run_monitor(void *argument)
{
    struct monitor *m = argument;
    apl_reader *r = m->reader;
    struct timespec at;
    apl_error err;
    clock_gettime(CLOCK_MONOTONIC, &at);
    pthread_mutex_lock(&r->lock);
    while (wait_a_second(m, &at)) {
        pthread_mutex_unlock(&r->lock);
        (void)tell_figures(m, &err); /* a disk that is full may have room later */
        pthread_mutex_lock(&r->lock);
    }
    pthread_mutex_unlock(&r->lock);
    monitor_file_close(&m->file);
    pthread_mutex_lock(&r->lock);
    m->left = true;
    pthread_cond_broadcast(&r->done);
    pthread_mutex_unlock(&r->lock);
    handles_drop(r->handle);
    return NULL;
}

static apl_status start_monitor(struct monitor *m, apl_error *err)
{
    TRY(tell_figures(m, err));
    handles_hold_again(m->reader->handle);
    m->left = false;
    apl_status status = thread_start(&m->thread, run_monitor, m, err);
    if (status == APL_OK)
        return APL_OK;
    m->left = true;
    handles_drop(m->reader->handle);
    return status;
}

static void init_wake(struct monitor *m)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&m->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static void free_monitor(struct monitor *m)
{
    pthread_cond_destroy(&m->wake);
    free(m->name);
    free(m);
}

static apl_status make_monitor(struct monitor *m, const char *directory, apl_error *err)
{
    if (!m->name)
        return fail_nomem(err);
    TRY(monitor_file_open(&m->file, directory, err));
    apl_status status = start_monitor(m, err);
    if (status != APL_OK)
        monitor_file_close(&m->file);
    return status;
}

apl_status monitor_open(apl_reader *r, const char *directory, const char *name, apl_error *err)
{
    const char *said = directory ? directory : getenv("APL_MONITOR");
    if (!said || !*said)
        return APL_OK;
    struct monitor *m = calloc(1, sizeof *m);
    if (!m)
        return fail_nomem(err);
    init_wake(m);
    m->left = true;
    m->reader = r;
    m->name = strdup(name);
    apl_status status = make_monitor(m, said, err);
    if (status != APL_OK) {
        free_monitor(m);
        return fail_in(err, status, "%s", directory ? "monitor" : "APL_MONITOR");
    }
    r->monitor = m;
    return APL_OK;
}

void monitor_stop(apl_reader *r)
{
    if (!r->monitor)
        return;
    r->monitor->stops = true;
    pthread_cond_signal(&r->monitor->wake);
}

bool monitor_has_left(const apl_reader *r)
{
    return !r->monitor || r->monitor->left;
}

void monitor_release(apl_reader *r, bool left)
{
    if (r->monitor && left)
        pthread_join(r->monitor->thread, NULL);
    else if (r->monitor)
        pthread_detach(r->monitor->thread);
}

void monitor_free(apl_reader *r)
{
    if (r->monitor)
        free_monitor(r->monitor);
}
