/* The process at the other end of a socket: see peer.h. */
#define _GNU_SOURCE /* struct ucred */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STAT_BYTES 1024 /* the line has a name of at most 64 bytes, and some fifty numbers */

static int peer_process(int socket)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0 ? (int)peer.pid
                                                                                          : -1;
}

static int open_telling(int process)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, process, 0);
#else
    (void)process;
    return -1;
#endif
}

/* Its state; the file is of this process, whoever gets its number later. */
static int open_state(int process)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    return open(path, O_RDONLY | O_CLOEXEC);
}

struct peer peer_open(int socket)
{
    struct peer peer = {.process = peer_process(socket), .fd = -1};
    if (peer.process < 0)
        return peer;
    peer.fd = open_telling(peer.process);
    peer.told = peer.fd >= 0;
    if (!peer.told)
        peer.fd = open_state(peer.process);
    return peer;
}

void peer_close(struct peer *peer)
{
    if (peer->fd >= 0)
        close(peer->fd);
    peer->fd = -1;
}

int peer_polled(const struct peer *peer)
{
    return peer->told ? peer->fd : -1;
}

/* Is it a process that has ended, and that its parent has not waited for? One whose first thread alone has ended has more threads. */
static bool is_zombie(const char *stat)
{
    char state;
    long threads;
    const char *name_end = strrchr(stat, ')'); /* a name may have anything in it */
    return name_end &&
           sscanf(name_end, ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld",
                  &state, &threads) == 2 &&
           (state == 'Z' || state == 'X') && threads <= 1;
}

bool peer_has_died(const struct peer *peer)
{
    char stat[STAT_BYTES];
    if (peer->told || peer->fd < 0)
        return false;
    ssize_t n = pread(peer->fd, stat, sizeof stat - 1, 0);
    if (n <= 0)
        return n == 0 || errno == ESRCH;
    stat[n] = '\0';
    return is_zombie(stat);
}
