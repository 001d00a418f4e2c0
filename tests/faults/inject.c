/*
 * Preloaded into a program, makes chosen calls fail, or ends the process at them: see faults.h. Calls go to
 * the kernel directly, so nothing here depends on the C library's own.
 */
#define _GNU_SOURCE
#include "faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define MAX_FILES 256

static struct control *control;
static unsigned char inherited[MAX_FILES];
static atomic_int armed = 1;
int faults_waits;

/* ---------------------------------------------------------------------------------------- the injector */

static void list_files(void)
{
    for (int fd = 0; fd < MAX_FILES; fd++)
        inherited[fd] = syscall(SYS_fcntl, fd, F_GETFD) >= 0;
}

void faults_arm(int on)
{
    if (on) {
        list_files();
        faults_find_modules();
    }
    armed = on;
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("FAULT_CONTROL");
    faults_waits = getenv("FAULT_WAITS") != NULL;
    armed = !faults_waits;
    list_files();
    faults_find_modules();
    if (!path)
        return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    void *page = (void *)syscall(SYS_mmap, NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (page != MAP_FAILED)
        control = page;
}

static unsigned files_open(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < MAX_FILES; fd++)
        n += !inherited[fd] && syscall(SYS_fcntl, fd, F_GETFD) >= 0;
    return n;
}

/* Threads that a close has left to themselves, because they came so late, end by themselves: what they hold is no leak. A
 * folder has a link of each folder in it, and two of its own. */
static void wait_for_threads(void)
{
    const struct timespec nap = {.tv_nsec = 10000000};
    struct stat tasks = {0};
    for (int i = 0; i < 1000 && files_open() > 0; i++) {
        if (syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &tasks, 0) < 0 || tasks.st_nlink <= 3)
            return;
        syscall(SYS_nanosleep, &nap, NULL);
    }
}

__attribute__((destructor)) static void end(void)
{
    if (!control)
        return;
    wait_for_threads();
    control->open_files = files_open();
    faults_note_leaks(control);
    control->finished = 1;
}

void faults_exit(void)
{
    syscall(SYS_exit_group, FAULT_EXIT_STATUS);
}

int faults_strike(enum call call)
{
    if (!control || !armed)
        return 0;
    atomic_fetch_add(&control->calls[call], 1);
    if (!(control->mask >> call & 1))
        return 0;
    uint32_t n = atomic_fetch_add(&control->counted, 1) + 1;
    if (control->at == 0 || n < control->at)
        return 0;
    if (control->every ? (n - control->at) % control->every : n != control->at)
        return 0;
    atomic_fetch_add(&control->fired, 1);
    if (control->error == FAULT_EXIT)
        faults_exit();
    return control->error;
}

/* For calls that transfer nothing: whether this one is to fail, with errno set. */
static int fails(enum call call)
{
    int error = faults_strike(call);
    if (error == 0 || error == FAULT_SHORT)
        return 0;
    if (error == FAULT_EXIT_TORN)
        faults_exit();
    errno = error;
    return 1;
}

/* ------------------------------------------------------------------------------------------- transfers */

/* How many of `size` bytes may be transferred; -1: the call fails; *torn: the process ends after it. */
static ssize_t allowed(enum call call, size_t size, int *torn)
{
    int error = faults_strike(call);
    *torn = error == FAULT_EXIT_TORN;
    if (error == 0)
        return (ssize_t)size;
    if (error == FAULT_SHORT || *torn)
        return (ssize_t)(size > 1 ? size / 2 : size);
    errno = error;
    return -1;
}

static ssize_t transfer_in(long number, int fd, void *data, size_t size, off_t offset)
{
    int torn;
    ssize_t n = allowed(CALL_READ, size, &torn);
    return n < 0 ? -1 : syscall(number, fd, data, n, offset);
}

static ssize_t transfer_out(long number, int fd, const void *data, size_t size, off_t offset)
{
    int torn;
    ssize_t n = allowed(CALL_WRITE, size, &torn);
    if (n < 0)
        return -1;
    trace_begin();
    n = syscall(number, fd, data, n, offset);
    if (n > 0)
        trace_write(fd, data, (uint64_t)n, number == SYS_write ? -1 : offset);
    trace_end();
    if (torn)
        faults_exit();
    return n;
}

ssize_t read(int fd, void *data, size_t size)
{
    return transfer_in(SYS_read, fd, data, size, 0);
}

ssize_t __read_chk(int fd, void *data, size_t size, size_t room)
{
    return size > room ? (abort(), -1) : read(fd, data, size);
}

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
    return transfer_in(SYS_pread64, fd, data, size, offset);
}

ssize_t pread64(int fd, void *data, size_t size, off_t offset)
{
    return pread(fd, data, size, offset);
}

ssize_t __pread_chk(int fd, void *data, size_t size, off_t offset, size_t room)
{
    return size > room ? (abort(), -1) : pread(fd, data, size, offset);
}

ssize_t __pread64_chk(int fd, void *data, size_t size, off_t offset, size_t room)
{
    return __pread_chk(fd, data, size, offset, room);
}

ssize_t write(int fd, const void *data, size_t size)
{
    return transfer_out(SYS_write, fd, data, size, 0);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    return transfer_out(SYS_pwrite64, fd, data, size, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset)
{
    return pwrite(fd, data, size, offset);
}

/* As if the kernel had taken less than it was given: the vectors, cut to what is allowed, one by one. */
static ssize_t vectors_out(int fd, const struct iovec *vectors, int count, off_t offset)
{
    size_t total = 0;
    int torn;
    ssize_t done = 0;
    for (int i = 0; i < count; i++)
        total += vectors[i].iov_len;
    ssize_t left = allowed(CALL_WRITE, total, &torn);
    if (left < 0)
        return -1;
    trace_begin();
    for (int i = 0; i < count && left > 0; i++) {
        size_t size = vectors[i].iov_len < (size_t)left ? vectors[i].iov_len : (size_t)left;
        ssize_t n = offset < 0 ? syscall(SYS_write, fd, vectors[i].iov_base, size)
                               : syscall(SYS_pwrite64, fd, vectors[i].iov_base, size, offset + done);
        if (n <= 0) {
            done = done ? done : n;
            break;
        }
        trace_write(fd, vectors[i].iov_base, (uint64_t)n, offset < 0 ? -1 : offset + done);
        done += n;
        left -= n;
    }
    trace_end();
    if (torn)
        faults_exit();
    return done;
}

ssize_t writev(int fd, const struct iovec *vectors, int count)
{
    return vectors_out(fd, vectors, count, -1);
}

ssize_t pwritev(int fd, const struct iovec *vectors, int count, off_t offset)
{
    return vectors_out(fd, vectors, count, offset);
}

ssize_t pwritev64(int fd, const struct iovec *vectors, int count, off_t offset)
{
    return vectors_out(fd, vectors, count, offset);
}

/* ---------------------------------------------------------------------------------- opening and closing */

static int open_at(int directory, const char *path, int flags, mode_t mode)
{
    if (fails(CALL_OPEN))
        return -1;
    trace_begin();
    int fd = (int)syscall(SYS_openat, directory, path, flags, mode);
    if (fd >= 0 && flags & O_CREAT &&
        strncmp(path, "/proc/", 6) != 0) /* there: a file that is open already */
        trace_create(directory, path, fd);
    trace_end();
    return fd;
}

static mode_t mode_of(int flags, va_list arguments)
{
    return flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name)                                                          \
    int name(const char *path, int flags, ...)                              \
    {                                                                       \
        va_list arguments;                                                  \
        va_start(arguments, flags);                                         \
        int fd = open_at(AT_FDCWD, path, flags, mode_of(flags, arguments)); \
        va_end(arguments);                                                  \
        return fd;                                                          \
    }
#define OPENAT(name)                                                         \
    int name(int directory, const char *path, int flags, ...)                \
    {                                                                        \
        va_list arguments;                                                   \
        va_start(arguments, flags);                                          \
        int fd = open_at(directory, path, flags, mode_of(flags, arguments)); \
        va_end(arguments);                                                   \
        return fd;                                                           \
    }
OPEN(open)
OPEN(open64)
OPEN(__open_2)
OPEN(__open64_2)
OPENAT(openat)
OPENAT(openat64)
OPENAT(__openat_2)
OPENAT(__openat64_2)

/* A close that fails has closed nevertheless, as Linux does it. */
int close(int fd)
{
    int failed = fails(CALL_CLOSE), error = errno;
    int result = (int)syscall(SYS_close, fd);
    if (!failed)
        return result;
    errno = error;
    return -1;
}

int dup(int fd)
{
    return fails(CALL_OPEN) ? -1 : (int)syscall(SYS_dup, fd);
}

static int control_file(int fd, int command, va_list arguments)
{
    if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && fails(CALL_OPEN))
        return -1;
    return (int)syscall(SYS_fcntl, fd, command, va_arg(arguments, void *));
}

#define FCNTL(name)                                        \
    int name(int fd, int command, ...)                     \
    {                                                      \
        va_list arguments;                                 \
        va_start(arguments, command);                      \
        int result = control_file(fd, command, arguments); \
        va_end(arguments);                                 \
        return result;                                     \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

/* ----------------------------------------------------------------------------------- changes and syncs */

int ftruncate(int fd, off_t size)
{
    if (fails(CALL_TRUNCATE))
        return -1;
    trace_begin();
    int result = (int)syscall(SYS_ftruncate, fd, size);
    if (result == 0)
        trace_truncate(fd, (uint64_t)size);
    trace_end();
    return result;
}

int ftruncate64(int fd, off_t size)
{
    return ftruncate(fd, size);
}

static int sync_by(long number, int fd)
{
    if (fails(CALL_SYNC))
        return -1;
    trace_begin();
    int result = (int)syscall(number, fd);
    if (result == 0)
        trace_sync(fd);
    trace_end();
    return result;
}

int fsync(int fd)
{
    return sync_by(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return sync_by(SYS_fdatasync, fd);
}

int renameat(int from_directory, const char *from, int to_directory, const char *to)
{
    if (fails(CALL_RENAME))
        return -1;
    trace_begin();
    int result = (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, 0);
    if (result == 0)
        trace_rename(from_directory, from, to_directory, to);
    trace_end();
    return result;
}

int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

/* Only a crash can happen here: that what was made cannot be removed again leaves litter, whoever made it. */
int unlinkat(int directory, const char *path, int flags)
{
    trace_begin();
    int result = (int)syscall(SYS_unlinkat, directory, path, flags);
    if (result == 0)
        trace_unlink(directory, path);
    trace_end();
    return result;
}

int mkdir(const char *path, mode_t mode)
{
    if (fails(CALL_OTHER))
        return -1;
    trace_begin();
    int result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    if (result == 0)
        trace_mkdir(AT_FDCWD, path);
    trace_end();
    return result;
}

int fchmod(int fd, mode_t mode)
{
    return fails(CALL_OTHER) ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

int flock(int fd, int operation)
{
    return fails(CALL_OTHER) ? -1 : (int)syscall(SYS_flock, fd, operation);
}

/* -------------------------------------------------------------------------------- memory maps and threads */

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (fails(CALL_MAP))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return mmap(at, size, protection, flags, fd, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return fails(CALL_THREAD) ? EAGAIN : real(thread, attributes, run, argument);
}
