/* How often tests try things, and how they tell it to the table of promises (tests/promises/reliability.sh). */
#ifndef COUNTS_H
#define COUNTS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* Is every count to be in full? APL_LONG in the environment says so. */
static inline bool is_long(void)
{
    const char *given = getenv("APL_LONG");
    return given && *given;
}

/* How often something is tried: a sample of it, or all of it. */
static inline unsigned times(unsigned sample, unsigned all)
{
    return is_long() ? all : sample;
}

/* The step of a sweep over every byte, length or call: 1, or a prime, so that each kind of place has its turn, which APL_SPARSE in the
 * environment tells. `make check` sets it, and a larger one where it repeats under a sanitizer what another suite has swept, as does
 * `make test`; for a test by its name (`make test T=NAME`) it is 1. */
static inline size_t sweep_step(void)
{
    const char *sparse = is_long() ? NULL : getenv("APL_SPARSE");
    return sparse && atoi(sparse) > 0 ? (size_t)atoi(sparse) : 1;
}

/* True in `make test`, and under a sanitizer in `make check`, which repeats what other suites have tested: tests of limits that
 * millions of steps reach return at once. */
static inline bool is_repeated(void)
{
    return sweep_step() > 3;
}

/* Prints how much was done, as a line of its own. */
static inline void counted(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void counted(const char *format, ...)
{
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    printf("\ncount: %s\n", text);
    fflush(stdout);
}

#endif
