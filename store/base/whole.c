#include "whole.h"

#include <errno.h>
#include <unistd.h>

int read_whole(int fd, void *to, size_t size, uint64_t offset)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(fd, (uint8_t *)to + done, size - done, (off_t)(offset + done));
        if (n == 0)
            return WHOLE_ENDED;
        if (n < 0 && errno != EINTR)
            return errno;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int write_whole(int fd, const void *from, size_t size, uint64_t offset)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pwrite(fd, (const uint8_t *)from + done, size - done, (off_t)(offset + done));
        if (n == 0)
            return ENOSPC;
        if (n < 0 && errno != EINTR)
            return errno;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}
