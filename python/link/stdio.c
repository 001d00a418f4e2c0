/*
 * The C library's streams as variables of the extension's own. Some distributions compile the archives of LMDB, zstd and
 * bzip2 for programs, not for shared objects: all that keeps them from being linked into one is that they address stdin,
 * stdout and stderr directly. With the linker's --wrap they address these instead.
 */
#include <stdio.h>

extern FILE *real_in __asm__("__real_stdin");
extern FILE *real_out __asm__("__real_stdout");
extern FILE *real_err __asm__("__real_stderr");

FILE *wrapped_in __asm__("__wrap_stdin");
FILE *wrapped_out __asm__("__wrap_stdout");
FILE *wrapped_err __asm__("__wrap_stderr");

/* Runs while the extension is loaded, before anything in it is called. */
__attribute__((constructor)) static void set_streams(void)
{
    wrapped_in = real_in;
    wrapped_out = real_out;
    wrapped_err = real_err;
}
