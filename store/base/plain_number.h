/*
 * Numbers as text, with a decimal point and without groups whatever the locale of the program, which is its caller's: printf() and strtod()
 * would write and expect commas where people do. All of the libraries' text that has fractions in it comes from here, messages included.
 */
#ifndef PLAIN_NUMBER_H
#define PLAIN_NUMBER_H

#include <stdarg.h>
#include <stddef.h>

/* As snprintf(), vsnprintf() and strtod() in the locale "C". Of the calling thread alone; no other sees a locale of its own change. */
int plain_print(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int plain_vprint(char *out, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
double plain_read(const char *text, char **end);

#endif
