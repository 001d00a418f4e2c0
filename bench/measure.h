/* For benchmarks: the time, the memory, and rows with the bar that each is to reach. */
#ifndef MEASURE_H
#define MEASURE_H

#include "apl.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* CPU time of the calling thread: other load of the machine is not in it. */
static inline double thread_cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double least(double a, double b)
{
    return a < b ? a : b;
}

static inline void must(apl_status status, const apl_error *err)
{
    if (status == APL_OK)
        return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static inline void *must_have(void *memory)
{
    if (memory)
        return memory;
    fprintf(stderr, "out of memory\n");
    exit(1);
}

enum bar { AT_LEAST, AT_MOST, NO_BAR };

/* What was measured, what it should be, and whether it is. */
static inline void tell(const char *what, double value, const char *unit, enum bar bar, double limit)
{
    printf("%-62s %9.3g %-9s", what, value, unit);
    if (bar != NO_BAR) {
        bool reached = bar == AT_LEAST ? value >= limit : value <= limit;
        printf(" %s %-6.4g ", bar == AT_LEAST ? ">=" : "<=", limit);
        if (reached)
            printf("ok");
        else
            printf("short by %.3g", bar == AT_LEAST ? limit - value : value - limit);
    }
    putchar('\n');
    fflush(stdout);
}

/* Anonymous memory of this process that is resident, in bytes. */
static inline double anonymous_memory(void)
{
    char line[128];
    unsigned long long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "RssAnon: %llu", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return (double)kib * 1024;
}

#endif
