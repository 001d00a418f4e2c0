/* UNIX sockets: see socket.h. */
#define _GNU_SOURCE /* accept4, struct ucred */
#include "socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define BACKLOG  64
#define RETRY_MS 10u

static apl_status failed(apl_error *err, const char *path, const char *what)
{
    return fail_errno(err, errno, "%s: %s", path, what);
}

static apl_status address_of(const char *path, struct sockaddr_un *address, apl_error *err)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address->sun_path)
        return fail(err, APL_E_INVALID, "%s: the path of a socket has 1 to %zu bytes", path,
                    sizeof address->sun_path - 1);
    memcpy(address->sun_path, path, length);
    return APL_OK;
}

/* -------------------------------------------------------------------------------------------- who it is */

/* APL_E_INVALID: somebody else. */
static apl_status check_peer(int fd, const char *path, const char *who, apl_error *err)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return failed(err, path, "SO_PEERCRED");
    if (peer.uid != geteuid())
        return fail(err, APL_E_INVALID, "%s: the %s is a process of user %u, not of this one, %u", path, who,
                    (unsigned)peer.uid, (unsigned)geteuid());
    return APL_OK;
}

/* ----------------------------------------------------------------------------------------------- listening */

/* What another holds is not ours to remove. */
static apl_status not_locked(struct listening *l, apl_error *err)
{
    apl_status status = errno == EWOULDBLOCK
                            ? fail(err, APL_E_BUSY, "%s: another server listens here", l->path)
                            : failed(err, l->lock_path, "cannot be locked");
    close(l->lock);
    l->lock = -1;
    return status;
}

/* Locks the file beside the socket, which whoever ends removes while he holds the lock: so it must still be the file of that name. */
static apl_status lock_place(struct listening *l, apl_error *err)
{
    struct stat locked, named;
    for (;;) {
        l->lock = open(l->lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (l->lock < 0)
            return failed(err, l->lock_path, "cannot be opened");
        if (flock(l->lock, LOCK_EX | LOCK_NB) != 0)
            return not_locked(l, err);
        if (fstat(l->lock, &locked) == 0 && stat(l->lock_path, &named) == 0 &&
            locked.st_ino == named.st_ino && locked.st_dev == named.st_dev)
            return APL_OK;
        close(l->lock);
        l->lock = -1;
    }
}

static apl_status exists(const struct listening *l, const char *what, apl_error *err)
{
    return fail(err, APL_E_EXISTS, "%s: exists, and is %s", l->path, what);
}

/* Does anybody listen to the socket of that name? The lock says so of servers that hold it; this, of all others. */
static apl_status check_stale(const struct listening *l, const struct sockaddr_un *address, apl_error *err)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return failed(err, l->path, "socket");
    int code = connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 ? 0 : errno;
    close(fd);
    switch (code) {
    case ECONNREFUSED:
    case ENOENT:
        return APL_OK;
    case 0:
    case EAGAIN:
        return fail(err, APL_E_BUSY, "%s: another server listens here", l->path);
    default:
        return exists(l, "a socket of another program", err);
    }
}

/* Removes a socket that nobody listens to; anything else stays. */
static apl_status remove_stale(const struct listening *l, const struct sockaddr_un *address, apl_error *err)
{
    struct stat st;
    if (lstat(l->path, &st) != 0)
        return APL_OK;
    if (!S_ISSOCK(st.st_mode))
        return exists(l, "not a socket", err);
    TRY(check_stale(l, address, err));
    return unlink(l->path) == 0 ? APL_OK : failed(err, l->path, "cannot be removed");
}

/* Is the socket of that name the one that this process has made? */
static void remember_place(struct listening *l)
{
    struct stat st;
    if (lstat(l->path, &st) == 0) {
        l->device = st.st_dev;
        l->inode = st.st_ino;
    }
}

/* The mode is set before there is a name, so that no other user can connect in between. */
static apl_status listen_there(struct listening *l, const struct sockaddr_un *address, apl_error *err)
{
    TRY(lock_place(l, err));
    TRY(remove_stale(l, address, err));
    l->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0 || fchmod(l->fd, 0600) != 0)
        return failed(err, l->path, "socket");
    if (bind(l->fd, (const struct sockaddr *)address, sizeof *address) != 0)
        return failed(err, l->path, "cannot be bound");
    remember_place(l);
    return listen(l->fd, BACKLOG) == 0 ? APL_OK : failed(err, l->path, "listen");
}

apl_status socket_listen(const char *path, struct listening *l, apl_error *err)
{
    struct sockaddr_un address;
    *l = (struct listening){.fd = -1, .lock = -1};
    TRY(address_of(path, &address, err));
    snprintf(l->path, sizeof l->path, "%s", path);
    snprintf(l->lock_path, sizeof l->lock_path, "%s.lock", path);
    apl_status status = listen_there(l, &address, err);
    if (status != APL_OK)
        socket_unlisten(l);
    return status;
}

/* Removes what is this server's own alone: whoever holds no lock has nothing. */
void socket_unlisten(struct listening *l)
{
    struct stat st;
    if (l->inode && lstat(l->path, &st) == 0 && st.st_dev == l->device && st.st_ino == l->inode)
        unlink(l->path);
    if (l->fd >= 0)
        close(l->fd);
    if (l->lock >= 0) {
        unlink(l->lock_path);
        close(l->lock);
    }
    l->fd = l->lock = -1;
}

static apl_status accept_any(const struct listening *l, int *fd, apl_error *err)
{
    *fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    bool nobody = *fd < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED);
    return *fd >= 0 || nobody ? APL_OK : failed(err, l->path, "accept");
}

apl_status socket_accept(const struct listening *l, int *fd, apl_error *err)
{
    for (;;) {
        TRY(accept_any(l, fd, err));
        if (*fd < 0 || check_peer(*fd, l->path, "client", NULL) == APL_OK)
            return APL_OK;
        close(*fd);
    }
}

bool socket_is_gone(int fd)
{
    struct pollfd polled = {.fd = fd};
    return poll(&polled, 1, 0) > 0 && polled.revents & (POLLHUP | POLLERR);
}

/* ---------------------------------------------------------------------------------------------- connecting */

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* A server that is about to listen: not there yet, or not listening, or with more who wait than it has room for. */
static bool may_come(int code)
{
    return code == ENOENT || code == ECONNREFUSED || code == EAGAIN;
}

static apl_status not_connected(const char *path, apl_error *err)
{
    if (errno == ENOENT || errno == ECONNREFUSED)
        return fail(err, APL_E_NOTFOUND, "%s: no server listens here", path);
    if (errno == EAGAIN)
        return fail(err, APL_E_BUSY, "%s: the server is busy, and takes no more clients now", path);
    return failed(err, path, "cannot be connected to");
}

static apl_status connect_to(int fd, const char *path, unsigned wait_ms, apl_error *err)
{
    struct sockaddr_un address;
    TRY(address_of(path, &address, err));
    uint64_t until = now_ms() + wait_ms;
    while (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        if (errno == EINTR)
            continue;
        if (!may_come(errno) || now_ms() >= until)
            return not_connected(path, err);
        nanosleep(&(struct timespec){.tv_nsec = RETRY_MS * 1000000}, NULL);
    }
    return check_peer(fd, path, "server", err);
}

apl_status socket_connect(const char *path, unsigned wait_ms, int *fd, apl_error *err)
{
    *fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd < 0)
        return failed(err, path, "socket");
    apl_status status = connect_to(*fd, path, wait_ms, err);
    if (status != APL_OK)
        close(*fd);
    return status;
}

/* ------------------------------------------------------------------------------------------------- messages */

union control {
    struct cmsghdr header; /* for its alignment */
    char bytes[CMSG_SPACE(8 * sizeof(int))];
};

apl_status socket_send(int fd, const struct wire_header *message, int passed, apl_error *err)
{
    struct iovec data = {(void *)(uintptr_t)message, message->size};
    union control control = {.bytes = {0}};
    struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1};
    if (passed >= 0) {
        m.msg_control = control.bytes;
        m.msg_controllen = CMSG_SPACE(sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &passed, sizeof passed);
    }
    ssize_t sent;
    do
        sent = sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)message->size ? APL_OK : failed(err, "socket", "cannot be written to");
}

/* What has come beside a message: the first descriptor, all others being closed. */
static int take_descriptors(struct msghdr *m)
{
    int first = -1;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (first < 0)
                first = fd;
            else
                close(fd);
        }
    }
    return first;
}

struct received {
    ssize_t size; /* -1: none, see errno */
    int passed;   /* a descriptor, or -1 */
    bool cut;     /* more came than there is room for */
};

/* The next message, of whatever size, and with it what is beside it: descriptors are this process's from here on, also those of messages
 * that nobody looks at. */
static struct received receive_message(int fd, union wire_any *message)
{
    struct iovec data = {message, sizeof *message};
    union control control;
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    struct received r = {.passed = -1};
    do
        r.size = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (r.size < 0 && errno == EINTR);
    if (r.size >= 0) {
        r.passed = take_descriptors(&m);
        r.cut = m.msg_flags & (MSG_TRUNC | MSG_CTRUNC);
    }
    return r;
}

static apl_status check_message(const struct received *r, union wire_any *message, apl_error *err)
{
    if (r->cut)
        return fail(err, APL_E_INVALID, "a message that is too long breaks the protocol");
    if (r->size == 0 && r->passed < 0) /* an empty message without anything is no other than the end */
        return APL_END;
    return wire_check(message, (size_t)r->size, err);
}

apl_status socket_receive(int fd, union wire_any *message, int *passed, apl_error *err)
{
    struct received r = receive_message(fd, message);
    /* The other end closed before it had read all: that is told once, and before what it said earlier. */
    if (r.size < 0 && errno == ECONNRESET)
        r = receive_message(fd, message);
    *passed = -1;
    if (r.size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return APL_E_TIMEOUT;
    if (r.size < 0)
        return errno == ECONNRESET ? APL_END : failed(err, "socket", "cannot be read");
    apl_status status = check_message(&r, message, err);
    if (status == APL_OK)
        *passed = r.passed;
    else if (r.passed >= 0)
        close(r.passed);
    return status;
}
