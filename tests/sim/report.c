/* What went wrong, and where everybody is: see sim.h. */
#define _GNU_SOURCE
#include "sim.h"

#include <execinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

const char *sim_doing = "nothing yet";
struct thread *sim_asking;

extern const char __executable_start[], etext[];

void report_begin(void)
{
    void *frames[4];
    backtrace(frames, 4); /* it allocates when it is first called */
}

void report_place(const void *place)
{
    printf("@%llx@", (unsigned long long)((const char *)place - __executable_start));
}

void report_stack(void)
{
    void *frames[24];
    int n = backtrace(frames, 24);
    for (int i = 1; i < n; i++) {
        if ((const char *)frames[i] < __executable_start || (const char *)frames[i] > etext)
            continue; /* of a library */
        printf("      ");
        report_place((const char *)frames[i] - 1);
        printf("\n");
    }
}

static const char *wait_name(const struct thread *t)
{
    static const char *const names[] = {"could go on", "waits for lock",       "waits for condition",
                                        "sleeps",      "waits for the end of", "is over"};
    return names[t->wait];
}

static void report_thread(struct thread *t)
{
    printf("    thread %llu %s %llu%s\n", (unsigned long long)t->number, wait_name(t),
           (unsigned long long)(t->wait == RUNS ? 0 : t->on_number), t == sim_asking ? " (this one)" : "");
    if (t == sim_asking)
        report_stack();
    else if (t->began)
        fiber_swap(t);
}

void sim_fail(const char *format, ...)
{
    va_list arguments;
    printf("seed %llu: ", (unsigned long long)sim_seed());
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n  %s\n  step %u, %.6f s\n", sim_doing, sim_steps(), (double)sim_now() * 1e-9);
    sim_asking = sim_current;
    for (unsigned i = 0; sim_asking && i < SIM_THREADS; i++)
        if (sim_threads[i].number && sim_threads[i].wait != OVER)
            report_thread(&sim_threads[i]);
    fflush(stdout);
    _exit(1);
}
