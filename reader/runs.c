/* Rows that many threads make: see runs.h. */
#include "reader.h"

/* ---------------------------------------------------------------------------------------------- of one thread */

static void note_failure(struct worker *w, struct runs *runs, size_t from, apl_status status,
                         const apl_error *error)
{
    atomic_store_explicit(&runs->next, runs->rows, memory_order_relaxed); /* those before are all taken */
    pthread_mutex_lock(&w->reader->lock);
    if (runs->status == APL_OK || from < runs->failed) {
        runs->status = status;
        runs->error = *error;
        runs->failed = (uint32_t)from;
        runs->undecoded = w->undecoded;
    }
    pthread_mutex_unlock(&w->reader->lock);
}

/* Between two runs: the epoch's first batch comes first. */
static void help_first(struct worker *w, const struct job *job)
{
    const struct job *first = atomic_load_explicit(&w->reader->help.first, memory_order_relaxed);
    if (!first || first == job)
        return;
    pthread_mutex_lock(&w->reader->lock);
    (void)runs_help_first(w);
    pthread_mutex_unlock(&w->reader->lock);
}

/* Takes runs as long as there are any. The order of what is read and written is that of the lock, under which runs are opened, joined
 * and left; `next` only tells them apart. */
static void take_runs(struct worker *w, struct job *job)
{
    struct runs *runs = &job->runs;
    size_t rows = runs->rows, step = runs->work->step;
    for (;;) {
        help_first(w, job);
        size_t from = atomic_fetch_add_explicit(&runs->next, (unsigned)step, memory_order_relaxed);
        if (from >= rows)
            return;
        apl_error error;
        w->undecoded = NOT_UNDECODED;
        apl_status status =
            runs->work->make(w, job, runs->work, from, step < rows - from ? from + step : rows, &error);
        if (status != APL_OK)
            note_failure(w, runs, from, status, &error);
    }
}

/* --------------------------------------------------------------------------------------------- of many threads */

static bool has_runs(const struct job *job)
{
    return job->runs.open && atomic_load_explicit(&job->runs.next, memory_order_relaxed) < job->runs.rows;
}

static void count_help(struct worker *w, uint64_t begin)
{
    stats_add_collate(&w->reader->counters, now_ns() - begin, &w->spent);
    stats_add_read(&w->reader->counters, w->bytes_read);
}

static void help(struct worker *w, struct job *job)
{
    apl_reader *r = w->reader;
    const struct job *before = w->at; /* of its own; NULL: none */
    uint64_t begin = now_ns();
    w->at = job;
    w->bytes_read = before ? w->bytes_read : 0;
    w->spent = before ? w->spent : (struct spent){0};
    job->runs.helpers++;
    activity_enter(r);
    pthread_mutex_unlock(&r->lock);
    take_runs(w, job);
    pthread_mutex_lock(&r->lock);
    activity_leave(r);
    w->at = before;
    if (!before) /* else it counts as its own */
        count_help(w, begin);
    if (--job->runs.helpers == 0)
        pthread_cond_broadcast(&r->help.left);
}

bool runs_help_first(struct worker *w)
{
    struct job *first = atomic_load_explicit(&w->reader->help.first, memory_order_relaxed);
    if (!first || !has_runs(first))
        return false;
    help(w, first);
    return true;
}

bool runs_help_any(struct worker *w)
{
    const apl_reader *r = w->reader;
    for (unsigned k = 0; k < r->outlet_count; k++)
        for (uint64_t i = 0; i < queue_length(&r->outlets[k].queue); i++) {
            struct job *job = queue_at(&r->outlets[k].queue, i);
            if (has_runs(job)) {
                help(w, job);
                return true;
            }
        }
    return false;
}

/* ---------------------------------------------------------------------------------------- of who collates the batch */

static void open_runs(apl_reader *r, struct job *job, const struct run_work *work)
{
    struct runs *runs = &job->runs;
    const struct epoch_tally *t = &job->outlet->tally;
    pthread_mutex_lock(&r->lock);
    runs->work = work;
    runs->rows = (uint32_t)job->buffer->batch.rows;
    runs->status = APL_OK;
    runs->open = true;
    atomic_store_explicit(&runs->next, 0, memory_order_relaxed);
    if (queue_at(&job->outlet->queue, 0) == job && job->epoch == t->epoch && t->position == t->first)
        atomic_store_explicit(&r->help.first, job, memory_order_relaxed);
    if (r->help.idle)
        pthread_cond_broadcast(&r->work);
    pthread_mutex_unlock(&r->lock);
}

/* Nobody else comes; waits for those that are there, each of which is at its last run. */
static void close_runs(apl_reader *r, struct job *job)
{
    pthread_mutex_lock(&r->lock);
    job->runs.open = false;
    if (atomic_load_explicit(&r->help.first, memory_order_relaxed) == job)
        atomic_store_explicit(&r->help.first, NULL, memory_order_relaxed);
    while (job->runs.helpers)
        pthread_cond_wait(&r->help.left, &r->lock);
    pthread_mutex_unlock(&r->lock);
}

apl_status runs_make(struct worker *w, struct job *job, const struct run_work *work, apl_error *err)
{
    apl_reader *r = w->reader;
    size_t rows = job->buffer->batch.rows;
    if (r->workers.size < 2 || rows <= work->step)
        return work->make(w, job, work, 0, rows, err);
    open_runs(r, job, work);
    take_runs(w, job);
    close_runs(r, job);
    w->undecoded = NOT_UNDECODED;
    if (job->runs.status == APL_OK)
        return APL_OK;
    w->undecoded = job->runs.undecoded;
    *err = job->runs.error;
    return job->runs.status;
}
