/* Reading and writing all of some bytes, however few of them the system takes at once. */
#define _GNU_SOURCE /* syscall */
#include "whole.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

TestSuite(whole);

/* In the place of the C library's: three bytes at a time, and now and then none, as a signal came. */
static unsigned calls;

ssize_t pread(int fd, void *to, size_t size, off_t offset)
{
    if (++calls % 3 == 0) {
        errno = EINTR;
        return -1;
    }
    return syscall(SYS_pread64, fd, to, size < 3 ? size : 3, offset);
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t offset)
{
    if (++calls % 3 == 0) {
        errno = EINTR;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, from, size < 3 ? size : 3, offset);
}

Test(whole, what_is_written_is_read)
{
    FILE *file = tmpfile();
    cr_assert_not_null(file);
    int fd = fileno(file);
    char back[10];
    cr_assert_eq(write_whole(fd, "0123456789", 10, 5), 0);
    cr_assert_eq(read_whole(fd, back, 10, 5), 0);
    cr_assert_eq(memcmp(back, "0123456789", 10), 0);
    cr_assert_eq(read_whole(fd, back, 5, 0), 0);
    cr_assert_eq(memcmp(back, "\0\0\0\0\0", 5), 0, "a hole");
    cr_assert_eq(read_whole(fd, back, 10, 6), WHOLE_ENDED);
    cr_assert_eq(read_whole(fd, back, 0, 1000), 0, "nothing is asked for");
    fclose(file);
}

Test(whole, failures_are_told_by_their_errno)
{
    int ends[2];
    char byte = 0;
    cr_assert_eq(read_whole(-1, &byte, 1, 0), EBADF);
    cr_assert_eq(write_whole(-1, &byte, 1, 0), EBADF);
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(read_whole(ends[0], &byte, 1, 0), ESPIPE);
    cr_assert_eq(write_whole(ends[1], &byte, 1, 0), ESPIPE);
    close(ends[0]);
    close(ends[1]);
}
