/* From /proc, and processes' clocks: see usage.h. */
#include "usage.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* The figure behind `name`, in bytes; 0 if it is missing. */
static double figure(const char *path, const char *name)
{
    char line[256], format[64];
    unsigned long long kib = 0;
    FILE *file = fopen(path, "r");
    snprintf(format, sizeof format, "%s: %%llu kB", name);
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, format, &kib) == 1)
            break;
    if (file)
        fclose(file);
    return (double)kib * 1024;
}

/* Calls what is given with this process, and each that it has forked. */
static void for_each_process(void (*with)(void *user, pid_t process), void *user)
{
    char path[64];
    int child;
    with(user, getpid());
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *children = fopen(path, "r");
    while (children && fscanf(children, "%d", &child) == 1)
        with(user, child);
    if (children)
        fclose(children);
}

static void add_memory(void *user, pid_t process)
{
    struct memory *sum = user;
    char status[64], rollup[64];
    snprintf(status, sizeof status, "/proc/%d/status", (int)process);
    snprintf(rollup, sizeof rollup, "/proc/%d/smaps_rollup", (int)process);
    sum->peak += figure(status, "VmHWM");
    sum->pss += figure(rollup, "Pss");
    sum->anonymous += figure(rollup, "Anonymous");
}

struct memory usage_memory(void)
{
    struct memory sum = {0, 0, 0};
    for_each_process(add_memory, &sum);
    return sum;
}

static void add_cpu(void *user, pid_t process)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(process, &clock) == 0 && clock_gettime(clock, &t) == 0)
        *(double *)user += (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double usage_cpu(void)
{
    double sum = 0;
    for_each_process(add_cpu, &sum);
    return sum;
}
