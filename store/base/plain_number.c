/* Numbers as text: see plain_number.h. */
#define _GNU_SOURCE /* newlocale, strtod_l */
#include "plain_number.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static locale_t plain; /* made once, for good; it takes no memory where "C" is built in, as everywhere */
static pthread_once_t made = PTHREAD_ONCE_INIT;

static void make_plain_locale(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

int plain_vprint(char *out, size_t size, const char *format, va_list args)
{
    pthread_once(&made, make_plain_locale);
    locale_t before = plain ? uselocale(plain) : (locale_t)0;
    int n = vsnprintf(out, size, format, args);
    if (before)
        uselocale(before);
    return n;
}

int plain_print(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = plain_vprint(out, size, format, args);
    va_end(args);
    return n;
}

double plain_read(const char *text, char **end)
{
    pthread_once(&made, make_plain_locale);
    return plain ? strtod_l(text, end, plain) : strtod(text, end);
}
