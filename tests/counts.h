/* How often tests try things, and how they tell it to the table of promises (tests/reliability.sh). */
#ifndef COUNTS_H
#define COUNTS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* How often something is tried: a sample of it, or with APL_LONG in the environment all of it. */
static inline unsigned times(unsigned sample, unsigned all)
{
    return getenv("APL_LONG") ? all : sample;
}

/* The step of a sweep over every byte, length or call: 1, or with APL_SPARSE in the environment `sparse`, which is a prime, so that
 * each kind of place has its turn. Suites that repeat what another has swept in full, such as under a sanitizer, set it. */
static inline size_t sweep_step(size_t sparse)
{
    return getenv("APL_SPARSE") && !getenv("APL_LONG") ? sparse : 1;
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
