/*
 * Makes call k fail, for every k, in programs that write and read stores:
 *
 *   sweep PROGRAMS ARCHIVES SCRATCH INJECTOR [-n RUNS] [-s SEED] [-o SUBJECT] [-c CALL]
 *
 * RUNS: at most this many k for each kind of fault, drawn at random; 0: all. Whatever fails, the program must end by
 * itself, within the time; say success, or else one line; leave the store that was there or a new one that is
 * right, and nothing else; give back all files and memory; and never tell wrong data.
 */
#define _GNU_SOURCE
#include "subjects.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_SUBJECTS 24
#define MAX_SHOWN    40 /* failures of one worker */
#define SECONDS      30

static const char *const call_names[] = CALL_NAMES;

struct fault {
    enum call call;
    int error;
    uint32_t every;
    const char *name;
};

/* An interrupted call is tried again, so that can go on for ever: every second is. */
static const struct fault faults[] = {
    {CALL_OPEN, EIO, 0, "EIO once"},
    {CALL_OPEN, EIO, 1, "EIO for ever"},
    {CALL_OPEN, EMFILE, 0, "EMFILE once"},
    {CALL_OPEN, EMFILE, 1, "EMFILE for ever"},
    {CALL_OPEN, ENOSPC, 0, "ENOSPC once"},
    {CALL_READ, EIO, 0, "EIO once"},
    {CALL_READ, EIO, 1, "EIO for ever"},
    {CALL_READ, EINTR, 0, "EINTR once"},
    {CALL_READ, EINTR, 2, "EINTR now and then"},
    {CALL_READ, FAULT_SHORT, 0, "short once"},
    {CALL_READ, FAULT_SHORT, 1, "short for ever"},
    {CALL_WRITE, EIO, 0, "EIO once"},
    {CALL_WRITE, EIO, 1, "EIO for ever"},
    {CALL_WRITE, ENOSPC, 0, "ENOSPC once"},
    {CALL_WRITE, ENOSPC, 1, "ENOSPC for ever"},
    {CALL_WRITE, EINTR, 0, "EINTR once"},
    {CALL_WRITE, EINTR, 2, "EINTR now and then"},
    {CALL_WRITE, FAULT_SHORT, 0, "short once"},
    {CALL_WRITE, FAULT_SHORT, 1, "short for ever"},
    {CALL_TRUNCATE, EIO, 0, "EIO once"},
    {CALL_TRUNCATE, ENOSPC, 1, "ENOSPC for ever"},
    {CALL_SYNC, EIO, 0, "EIO once"},
    {CALL_SYNC, EIO, 1, "EIO for ever"},
    {CALL_SYNC, ENOSPC, 0, "ENOSPC once"},
    {CALL_SYNC, EINTR, 0, "EINTR once"},
    {CALL_RENAME, EIO, 0, "EIO once"},
    {CALL_RENAME, ENOSPC, 1, "ENOSPC for ever"},
    {CALL_CLOSE, EIO, 0, "EIO once"},
    {CALL_CLOSE, EIO, 1, "EIO for ever"},
    {CALL_CLOSE, EINTR, 1, "EINTR for ever"},
    {CALL_CLOSE, ENOSPC, 0, "ENOSPC once"},
    {CALL_MAP, ENOMEM, 0, "ENOMEM once"},
    {CALL_MAP, ENOMEM, 1, "ENOMEM for ever"},
    {CALL_MAP, EIO, 0, "EIO once"},
    {CALL_MEMORY, ENOMEM, 0, "ENOMEM once"},
    {CALL_MEMORY, ENOMEM, 1, "ENOMEM for ever"},
    {CALL_THREAD, EAGAIN, 0, "EAGAIN once"},
    {CALL_THREAD, EAGAIN, 1, "EAGAIN for ever"},
    {CALL_OTHER, EIO, 0, "EIO once"},
    {CALL_OTHER, EIO, 1, "EIO for ever"},
};
#define FAULTS (sizeof faults / sizeof *faults)

/* Shared by the workers. */
struct totals {
    atomic_ulong runs, fired, succeeded, bad;
};

struct sweep {
    struct subject subjects[MAX_SUBJECTS];
    unsigned subject_count, workers;
    const char *injector, *only_subject, *only_call;
    uint32_t limit;
    uint64_t seed;
    struct totals *totals;
};

/* ---------------------------------------------------------------------------------------------- one run */

/* An error names its cause: what the call that failed has said, or that there is no memory. Threads say "try again"
 * of memory that they cannot have. */
static bool names_cause(const struct fault *f, const struct outcome *o)
{
    if (f->call == CALL_MEMORY || f->call == CALL_MAP)
        return strstr(o->message, "memory") || strstr(o->message, strerror(EAGAIN)) ||
               strstr(o->message, strerror(f->error));
    return f->error == FAULT_SHORT || strstr(o->message, strerror(f->error)) != NULL;
}

static bool wrong_end(const struct subject *s, const struct outcome *o, const struct control *control,
                      const struct fault *f, char why[512])
{
    if (o->signal)
        return snprintf(why, 512, o->signal == SIGALRM ? "hangs" : "dies of signal %d", o->signal) > 0;
    if (o->status > 1)
        return snprintf(why, 512, "exit status %d: %s", o->status, o->message) > 0;
    if (o->lines != (unsigned)o->status)
        return snprintf(why, 512, "exit status %d, %u lines of error: %s", o->status, o->lines, o->message) >
               0;
    if (o->status && !names_cause(f, o))
        return snprintf(why, 512, "does not name the cause: %s", o->message) > 0;
    if (!control->finished)
        return snprintf(why, 512, "ends early: %s", o->message) > 0;
    if (control->open_files)
        return snprintf(why, 512, "%u files left open: %s", control->open_files, o->message) > 0;
    if (control->blocks)
        return snprintf(why, 512, "%u blocks of memory left, such as of %s: %s", control->blocks,
                        control->leak, o->message) > 0;
    return o->status == 0 && o->said != s->said && snprintf(why, 512, "says what is not so") > 0;
}

/* Only the sync of the directory comes after the new store has taken its place. */
static bool late(const struct fault *fault, const struct outcome *o)
{
    return fault->call == CALL_SYNC && o->status == 1 && strstr(o->message, "is in its place, but") != NULL;
}

static void run_one(const struct sweep *w, const struct place *place, const struct subject *s,
                    const struct fault *f, uint32_t k, unsigned *shown)
{
    char why[512];
    struct control *control = place->control;
    memset(control, 0, sizeof *control);
    control->mask = 1u << f->call;
    control->at = k;
    control->every = f->every;
    control->error = f->error;
    subject_set(s, place);
    struct outcome o = place_run(place, w->injector, NULL, s->argv, SECONDS, 0);
    bool bad =
        wrong_end(s, &o, control, f, why) || subject_spoiled(s, place, o.status != 0 && !late(f, &o), why);
    atomic_fetch_add(&w->totals->runs, 1);
    atomic_fetch_add(&w->totals->fired, atomic_load(&control->fired) > 0);
    atomic_fetch_add(&w->totals->succeeded, o.status == 0 && o.signal == 0);
    atomic_fetch_add(&w->totals->bad, bad);
    if (bad && (*shown)++ < MAX_SHOWN) {
        why[strcspn(why, "\n")] = 0;
        printf("FAIL %s: %s call %u, %s: %s\n", s->name, call_names[f->call], k, f->name, why);
    }
}

/* -------------------------------------------------------------------------------------------- all of them */

/* "ingest" is "ingest-force" too. */
static bool is_called(const struct subject *s, const char *name)
{
    size_t n = strlen(name);
    return strncmp(s->name, name, n) == 0 && (s->name[n] == 0 || s->name[n] == '-');
}

static bool wanted(const struct sweep *w, const struct subject *s, const struct fault *f)
{
    return (!w->only_subject || is_called(s, w->only_subject)) &&
           (!w->only_call || strcmp(w->only_call, call_names[f->call]) == 0);
}

/* Every k, or one of each of `limit` equal parts. */
static void run_fault(const struct sweep *w, const struct place *place, const struct subject *s,
                      const struct fault *f, unsigned worker, unsigned *shown)
{
    uint64_t n = s->calls[f->call], count = w->limit && w->limit < n ? w->limit : n, state = w->seed;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t first = n * i / count, next = n * (i + 1) / count, k = first + draw(&state) % (next - first);
        if ((i + (uint64_t)(f - faults)) % w->workers == worker)
            run_one(w, place, s, f, (uint32_t)k + 1, shown);
    }
}

static void work(const struct sweep *w, const char *scratch, unsigned worker)
{
    struct place place;
    unsigned shown = 0;
    place_make(&place, scratch, worker);
    for (unsigned i = 0; i < w->subject_count; i++)
        for (const struct fault *f = faults; f < faults + FAULTS; f++)
            if (wanted(w, &w->subjects[i], f))
                run_fault(w, &place, &w->subjects[i], f, worker, &shown);
    fflush(stdout);
    _exit(0);
}

static void run_all(struct sweep *w, const char *scratch)
{
    for (unsigned i = 0; i < w->workers; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child < 0)
            die("fork: %s", strerror(errno));
        if (child == 0)
            work(w, scratch, i);
    }
    int status;
    while (wait(&status) > 0)
        if (status != 0)
            die("a worker has failed");
}

static int usage(void)
{
    fputs("usage: sweep PROGRAMS ARCHIVES SCRATCH INJECTOR [-n RUNS] [-s SEED] [-o SUBJECT] [-c CALL]\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    static struct sweep w;
    int opt;
    w.seed = (uint64_t)getpid();
    while ((opt = getopt(argc, argv, "n:s:o:c:")) != -1)
        switch (opt) {
        case 'n':
            w.limit = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 's':
            w.seed = strtoull(optarg, NULL, 10);
            break;
        case 'o':
            w.only_subject = optarg;
            break;
        case 'c':
            w.only_call = optarg;
            break;
        default:
            return usage();
        }
    if (argc - optind != 4)
        return usage();
    struct place place;
    const char *scratch = argv[optind + 2];
    w.injector = argv[optind + 3];
    w.workers = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    w.totals = mmap(NULL, sizeof *w.totals, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    place_make(&place, scratch, 0);
    w.subject_count =
        subjects_prepare(w.subjects, MAX_SUBJECTS, argv[optind], argv[optind + 1], &place, w.injector);
    for (unsigned i = 0; i < w.subject_count; i++) {
        printf("%-15s", w.subjects[i].name);
        for (unsigned c = 0; c < CALLS; c++)
            printf(" %s %u", call_names[c], w.subjects[i].calls[c]);
        putchar('\n');
    }
    run_all(&w, scratch);
    unsigned long bad = atomic_load(&w.totals->bad);
    printf("%s %lu runs with faults (seed %llu), of which %lu met one, %lu succeeded, %lu were wrong\n",
           bad ? "FAIL" : "ok", atomic_load(&w.totals->runs), (unsigned long long)w.seed,
           atomic_load(&w.totals->fired), atomic_load(&w.totals->succeeded), bad);
    return bad ? 1 : 0;
}
