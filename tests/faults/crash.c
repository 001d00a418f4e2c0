/*
 * Ends programs that write stores at each call that changes something, and kills them at random times:
 *
 *   crash PROGRAMS ARCHIVES SCRATCH INJECTOR [-k KILLS] [-e STEP] [-s SEED]
 *
 * STEP: with more than 1, at one of that many calls, from a random one on.
 *
 * Afterwards the store is the old one or the new one, byte for byte, and the same command succeeds and leaves
 * nothing behind. Readers that are killed leave everything as it was.
 */
#define _GNU_SOURCE
#include "subjects.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_SUBJECTS 16
#define SECONDS      30

struct crash {
    struct subject subjects[MAX_SUBJECTS];
    unsigned count;
    struct place place;
    const char *injector;
    unsigned long kills, step, bad;
    uint64_t state; /* of the generator */
};

/* One line for each kind of test and subject. */
static void conclude(struct crash *c, const char *what, const struct subject *s, unsigned long runs,
                     unsigned long hits, const char *hit, unsigned long bad)
{
    c->bad += bad;
    printf("%s %s %s: %lu runs, %lu %s\n", bad ? "FAIL" : "ok", s->name, what, runs, hits, hit);
}

static bool complain(const struct subject *s, const char *what, unsigned long at, const char *why)
{
    printf("FAIL %s: %s %lu: %s\n", s->name, what, at, why);
    return true;
}

static bool crashed_badly(const struct crash *c, const struct subject *s, const char *what, unsigned long at)
{
    char why[512];
    return subject_torn(s, &c->place, why) && complain(s, what, at, why);
}

/* ------------------------------------------------------------------------------------- at each call */

/* The program ends before call k, or (torn) when half of what it writes is written. */
static void end_at_each_call(struct crash *c, const struct subject *s, int error, const char *what)
{
    unsigned long bad = 0, ended = 0, runs = 0, k = 1 + draw(&c->state) % c->step;
    struct control *control = c->place.control;
    do {
        memset(control, 0, sizeof *control);
        control->mask = 1u << CALL_OPEN | 1u << CALL_WRITE | 1u << CALL_TRUNCATE | 1u << CALL_SYNC |
                        1u << CALL_RENAME | 1u << CALL_CLOSE | 1u << CALL_OTHER;
        if (error == FAULT_EXIT_TORN)
            control->mask = 1u << CALL_WRITE;
        control->at = (uint32_t)k;
        control->error = error;
        subject_set(s, &c->place);
        struct outcome o = place_run(&c->place, c->injector, NULL, s->argv, SECONDS, 0);
        ended += atomic_load(&control->fired);
        if (atomic_load(&control->fired) && (o.signal || o.status != FAULT_EXIT_STATUS))
            bad += complain(s, what, k, "did not end there");
        bad += crashed_badly(c, s, what, k);
        runs++, k += c->step;
    } while (atomic_load(&control->fired));
    conclude(c, what, s, runs, ended, "ended there", bad);
}

/* ---------------------------------------------------------------------------------------------- kills */

static unsigned microseconds_of(const struct crash *c, const struct subject *s)
{
    struct timespec begin, end;
    subject_set(s, &c->place);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    place_run(&c->place, NULL, NULL, s->argv, SECONDS, 0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (unsigned)((end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000);
}

static void kill_writer(struct crash *c, const struct subject *s)
{
    unsigned long bad = 0, killed = 0;
    unsigned longest = microseconds_of(c, s);
    for (unsigned long i = 0; i < c->kills; i++) {
        unsigned after = 1 + (unsigned)(draw(&c->state) % (longest + 1));
        subject_set(s, &c->place);
        struct outcome o = place_run(&c->place, NULL, NULL, s->argv, SECONDS, after);
        killed += o.signal == SIGKILL;
        bad += crashed_badly(c, s, "killed after microseconds", after);
    }
    conclude(c, "killed at random times", s, c->kills, killed, "killed in time", bad);
}

static struct timespec changed(const struct place *place, const char *name)
{
    char path[512];
    struct stat st = {0};
    snprintf(path, sizeof path, "%s/%s", place->folder, name);
    stat(path, &st);
    return st.st_mtim;
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static void kill_reader(struct crash *c, const struct subject *s)
{
    unsigned long bad = 0, killed = 0;
    char why[512];
    unsigned longest = microseconds_of(c, s);
    subject_set(s, &c->place);
    struct timespec folder = changed(&c->place, "db"), file = changed(&c->place, "db/data.mdb");
    for (unsigned long i = 0; i < c->kills; i++) {
        unsigned after = 1 + (unsigned)(draw(&c->state) % (longest + 1));
        struct outcome o = place_run(&c->place, NULL, NULL, s->argv, SECONDS, after);
        killed += o.signal == SIGKILL;
        if (subject_spoiled(s, &c->place, false, why))
            bad += complain(s, "killed after microseconds", after, why);
        if (!same_time(folder, changed(&c->place, "db")) ||
            !same_time(file, changed(&c->place, "db/data.mdb")))
            bad += complain(s, "killed after microseconds", after, "has changed the store's times");
    }
    conclude(c, "killed at random times", s, c->kills, killed, "killed in time", bad);
}

static void crash_all(struct crash *c)
{
    for (unsigned i = 0; i < c->count; i++) {
        const struct subject *s = &c->subjects[i];
        if (s->writes || s->beside) {
            end_at_each_call(c, s, FAULT_EXIT, "ended before a call");
            end_at_each_call(c, s, FAULT_EXIT_TORN, "ended within a write");
            kill_writer(c, s);
        } else if (!s->folder) { /* what a killed export leaves is no promise */
            kill_reader(c, s);
        }
    }
}

int main(int argc, char **argv)
{
    static struct crash c = {.kills = 20, .step = 1};
    int opt;
    uint64_t seed = (uint64_t)getpid();
    while ((opt = getopt(argc, argv, "k:e:s:")) != -1)
        if (opt == 'k')
            c.kills = strtoul(optarg, NULL, 10);
        else if (opt == 'e')
            c.step = strtoul(optarg, NULL, 10);
        else if (opt == 's')
            seed = strtoull(optarg, NULL, 10);
    if (argc - optind != 4 || c.step == 0) {
        fputs("usage: crash PROGRAMS ARCHIVES SCRATCH INJECTOR [-k KILLS] [-e STEP] [-s SEED]\n", stderr);
        return 2;
    }
    c.state = seed;
    c.injector = argv[optind + 3];
    place_make(&c.place, argv[optind + 2], 0);
    c.count =
        subjects_prepare(c.subjects, MAX_SUBJECTS, argv[optind], argv[optind + 1], &c.place, c.injector);
    crash_all(&c);
    printf("%s crashes (seed %llu)\n", c.bad ? "FAIL" : "ok", (unsigned long long)seed);
    return c.bad ? 1 : 0;
}
