/* Commands for tests. */
#ifndef SHELL_H
#define SHELL_H

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Runs a command, which must succeed. */
static inline void shell(const char *format, ...)
{
    char command[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    cr_assert_eq(system(command), 0, "%s", command);
}

#endif
