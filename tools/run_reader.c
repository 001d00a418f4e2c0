#include "run_reader.h"

#include "report.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define DEFAULT_EPOCHS 3
#define SLEEP_SLACK    150e-6 /* sleeping may overshoot by this much; the rest is spun */
#define SAMPLE_SECONDS 20e-3  /* between samples of the memory */

struct waits {
    double *at;
    size_t count, capacity;
    bool failed;
};

struct run;

/* One thread that takes batches. */
struct caller {
    struct run *run;
    pthread_t thread;
    struct waits waits; /* of this epoch */
    double asked;       /* when it asked for a batch */
    double spun;        /* CPU time of simulated training in this epoch */
    apl_status status;
    apl_error error;
};

struct run {
    apl_reader *reader;
    const struct reader_choice *choice;
    struct caller *callers;
    double began, until; /* until: 0, or when to stop */
    bool first_epoch;
    struct waits waits; /* of all epochs */
    double spun;
    double sampled;
    uint64_t peak;
};

/* ------------------------------------------------------------------------------------------- measuring */

static void note(struct waits *w, double seconds)
{
    if (w->count == w->capacity) {
        size_t capacity = w->capacity ? 2 * w->capacity : 1024;
        double *at = realloc(w->at, capacity * sizeof *at);
        if (!at) {
            w->failed = true;
            return;
        }
        w->at = at;
        w->capacity = capacity;
    }
    w->at[w->count++] = seconds;
}

static double cpu_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The least wait that at least the fraction q of them did not exceed. */
static double quantile(const struct waits *sorted, double q)
{
    size_t i = (size_t)(q * (double)sorted->count);
    return sorted->count ? sorted->at[i < sorted->count ? i : sorted->count - 1] : 0;
}

/* Sorts the waits. Returns their sum. */
static double fill_waits(struct run_figures *f, struct waits *waits)
{
    double sum = 0;
    if (waits->count)
        qsort(waits->at, waits->count, sizeof *waits->at, by_size);
    for (size_t i = 0; i < waits->count; i++)
        sum += waits->at[i];
    f->wait_mean = waits->count ? sum / (double)waits->count : 0;
    f->wait_p50 = quantile(waits, 0.5);
    f->wait_p99 = quantile(waits, 0.99);
    f->wait_p999 = quantile(waits, 0.999);
    f->wait_max = quantile(waits, 1);
    return sum;
}

/* The kernel does not record the peak of anonymous memory alone. */
static void sample_memory(struct run *run)
{
    char line[128];
    unsigned long long kib;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        /* NOLINTNEXTLINE(cert-err34-c): the kernel writes no number that is too large */
        if (sscanf(line, "RssAnon: %llu", &kib) == 1 && kib * 1024 > run->peak)
            run->peak = kib * 1024;
    if (status)
        fclose(status);
    run->sampled = now_seconds();
}

/* ---------------------------------------------------------------------------------------------- taking */

/* Simulates a device at work on the batch: this process waits until then. */
static void train(struct caller *c, double until)
{
    double left = until - now_seconds(), begin = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    if (left > SLEEP_SLACK) {
        double nap = left - SLEEP_SLACK;
        struct timespec t = {.tv_sec = (time_t)nap, .tv_nsec = (long)((nap - (double)(time_t)nap) * 1e9)};
        nanosleep(&t, NULL);
    }
    while (now_seconds() < until)
        ;
    c->spun += cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
}

static void *take_batches(void *argument)
{
    struct caller *c = argument;
    struct run *run = c->run;
    bool starting = run->first_epoch, leader = c == run->callers;
    double step = run->choice->demand > 0 ? run->choice->callers / run->choice->demand : 0; /* of a record */
    apl_batch *batch;
    while ((c->status = apl_reader_next(run->reader, &batch, &c->error)) == APL_OK) {
        double got = now_seconds();
        if (!starting)
            note(&c->waits, got - c->asked);
        starting = false;
        double trained = got + step * (double)apl_batch_rows(batch);
        if (step > 0) /* a step may outlast the run */
            train(c, run->until > 0 && trained > run->until ? run->until : trained);
        apl_batch_release(batch);
        if (leader && got - run->sampled > SAMPLE_SECONDS)
            sample_memory(run);
        c->asked = now_seconds();
        if (run->until > 0 && c->asked >= run->until)
            break;
    }
    return NULL;
}

/* All callers until the epoch, or the time, is over. */
static apl_status take_epoch(struct run *run, apl_error *err)
{
    unsigned n = run->choice->callers, started = 1;
    apl_status status = APL_OK;
    for (; started < n; started++)
        if (pthread_create(&run->callers[started].thread, NULL, take_batches, &run->callers[started]) != 0)
            break;
    take_batches(&run->callers[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(run->callers[i].thread, NULL);
    for (unsigned i = 0; i < started && status == APL_OK; i++) {
        struct caller *c = &run->callers[i];
        if (c->status != APL_OK && c->status != APL_END) {
            status = c->status;
            *err = c->error;
        }
    }
    if (status == APL_OK && started < n) {
        status = err->status = APL_E_NOMEM;
        snprintf(err->message, sizeof err->message, "only %u of %u callers could be started", started, n);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------- epochs */

static struct run_figures since(const apl_stats *now, const apl_stats *before)
{
    return (struct run_figures){.batches = now->batches - before->batches,
                                .records = now->records - before->records,
                                .bytes = now->bytes_assembled - before->bytes_assembled,
                                .cpu = now->cpu - before->cpu};
}

/* Collects what the callers recorded in this epoch, and resets it. */
static double gather(struct run *run, struct run_figures *f)
{
    struct waits epoch = {0};
    for (unsigned i = 0; i < run->choice->callers; i++) {
        struct caller *c = &run->callers[i];
        for (size_t k = 0; k < c->waits.count; k++) {
            note(&epoch, c->waits.at[k]);
            note(&run->waits, c->waits.at[k]);
        }
        f->cpu -= c->spun;
        run->spun += c->spun;
        run->waits.failed |= c->waits.failed | epoch.failed;
        c->waits.count = 0;
        c->spun = 0;
    }
    double sum = fill_waits(f, &epoch);
    free(epoch.at);
    return sum;
}

static double part(double waited, double seconds, unsigned callers)
{
    return seconds > 0 ? waited / (seconds * callers) : 0;
}

static bool add_epoch(struct run_result *result, const struct run_figures *f)
{
    struct run_figures *epochs = realloc(result->epochs, (result->count + 1) * sizeof *epochs);
    if (!epochs)
        return false;
    epochs[result->count++] = *f;
    result->epochs = epochs;
    return true;
}

/* One epoch, and its figures; *more: there is to be another. */
static apl_status run_epoch(struct run *run, struct run_result *result, double begin, bool *more,
                            apl_error *err)
{
    apl_stats before = result->stats;
    uint64_t epoch = apl_reader_epoch(run->reader);
    apl_status status = take_epoch(run, err);
    double end = now_seconds(), start_up = 0;
    if (status != APL_OK)
        return status;
    sample_memory(run);
    if (apl_reader_stats(run->reader, &result->stats, sizeof result->stats) != APL_OK)
        return APL_E_INVALID;
    if (run->first_epoch) {
        start_up = result->first_batch = result->stats.first_batch;
        result->after_first = result->stats;
    }
    run->first_epoch = false;
    struct run_figures f = since(&result->stats, &before);
    f.epoch = epoch;
    f.seconds = end - begin;
    f.stall = part(gather(run, &f), f.seconds - start_up, run->choice->callers);
    uint64_t epochs = run->choice->epochs;
    *more = (run->until == 0 || end < run->until) && (epochs == 0 || result->count + 1 < epochs);
    if (add_epoch(result, &f) && !run->waits.failed)
        return APL_OK;
    snprintf(err->message, sizeof err->message, "out of memory");
    return err->status = APL_E_NOMEM;
}

static void sum_up(struct run *run, struct run_result *result, double end)
{
    apl_stats none = {0};
    struct run_figures *all = &result->all;
    *all = since(&result->stats, &none);
    all->cpu = 0;
    for (size_t i = 0; i < result->count; i++)
        all->cpu += result->epochs[i].cpu;
    all->seconds = end - run->began;
    double waited = fill_waits(all, &run->waits);
    all->stall = part(waited, all->seconds - result->first_batch, run->choice->callers);
    result->peak_anonymous = run->peak;
    if (run->choice->demand > 0 && all->batches)
        result->step =
            run->choice->callers * (double)all->records / (double)all->batches / run->choice->demand;
}

static apl_status run_epochs(struct run *run, struct run_result *result, apl_error *err)
{
    bool more = true;
    double begin = run->began;
    for (;;) {
        apl_status status = run_epoch(run, result, begin, &more, err);
        if (status != APL_OK)
            return status;
        if (!more)
            break;
        begin = now_seconds();
        for (unsigned i = 0; i < run->choice->callers; i++)
            run->callers[i].asked = begin; /* going to the next epoch is waiting, too */
        status = apl_reader_next_epoch(run->reader, err);
        if (status != APL_OK)
            return status;
    }
    sum_up(run, result, now_seconds());
    return APL_OK;
}

apl_status run_reader(apl_store *store, const struct reader_choice *choice, struct run_result *result,
                      apl_error *err)
{
    struct reader_choice own = *choice;
    if (own.epochs == 0 && own.seconds == 0)
        own.epochs = DEFAULT_EPOCHS;
    struct run run = {.choice = &own, .first_epoch = true, .began = now_seconds()};
    *result = (struct run_result){0};
    result->stats.cpu = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
    run.until = own.seconds > 0 ? run.began + own.seconds : 0;
    run.callers = calloc(own.callers, sizeof *run.callers);
    if (!run.callers) {
        snprintf(err->message, sizeof err->message, "out of memory");
        return err->status = APL_E_NOMEM;
    }
    for (unsigned i = 0; i < own.callers; i++)
        run.callers[i].run = &run;
    apl_status status = apl_reader_open(store, &choice->options, &run.reader, err);
    if (status == APL_OK)
        status = run_epochs(&run, result, err);
    apl_reader_close(run.reader);
    for (unsigned i = 0; i < own.callers; i++)
        free(run.callers[i].waits.at);
    free(run.callers);
    free(run.waits.at);
    return status;
}

void run_result_free(struct run_result *result)
{
    free(result->epochs);
    *result = (struct run_result){0};
}
