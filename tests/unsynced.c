/*
 * Linked with every unit test: what tests write need not outlive a power cut, and they would wait for the disk longer than they run. That the
 * libraries do sync, and what happens where that fails or power is cut, is tested in tests/faults/.
 */
#include <fcntl.h>
#include <unistd.h>

#define SEEN __attribute__((visibility("default"))) /* by LMDB */

static int is_open(int fd)
{
    return fcntl(fd, F_GETFD) < 0 ? -1 : 0;
}

SEEN int fsync(int fd)
{
    return is_open(fd);
}

SEEN int fdatasync(int fd)
{
    return is_open(fd);
}
