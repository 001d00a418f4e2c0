/* How often tests try things, and how they tell it to the table of promises (tests/reliability.sh). */
#ifndef COUNTS_H
#define COUNTS_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* How often something is tried: a sample of it, or with APL_LONG in the environment all of it. */
static inline unsigned times(unsigned sample, unsigned all)
{
    return getenv("APL_LONG") ? all : sample;
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
