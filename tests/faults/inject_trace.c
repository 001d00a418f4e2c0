/* The injector's log of what is done to files, for programs that play a power cut: see faults.h. */
#define _GNU_SOURCE
#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIGH_FD 700 /* out of the way of the program's own */

static int log_fd = -1;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("FAULT_TRACE");
    if (!path)
        return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    log_fd = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, HIGH_FD);
    syscall(SYS_close, fd);
}

/* errno is the caller's. */
static _Thread_local int kept_errno;

void trace_begin(void)
{
    if (log_fd >= 0)
        pthread_mutex_lock(&turn);
}

void trace_end(void)
{
    if (log_fd < 0)
        return;
    kept_errno = errno;
    pthread_mutex_unlock(&turn);
    errno = kept_errno;
}

static void put(struct trace record, const void *more)
{
    syscall(SYS_write, log_fd, &record, sizeof record);
    if (record.size)
        syscall(SYS_write, log_fd, more, (size_t)record.size);
}

static uint64_t inode(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

/* The inode of the directory that `path` is in; *name: its last part. */
static uint64_t directory_of(int directory, const char *path, const char **name)
{
    char parent[4096] = ".";
    const char *slash = strrchr(path, '/');
    struct stat st;
    *name = slash ? slash + 1 : path;
    if (slash) {
        memcpy(parent, path, (size_t)(slash - path));
        parent[slash == path ? 1 : slash - path] = 0;
    }
    return fstatat(directory, parent, &st, 0) == 0 ? st.st_ino : 0;
}

static void put_name(enum trace_kind kind, int directory, const char *path, uint64_t file)
{
    const char *name;
    struct trace record = {.kind = kind, .file = file, .directory = directory_of(directory, path, &name)};
    record.size = (uint32_t)strlen(name) + 1;
    put(record, name);
}

void trace_create(int directory, const char *path, int fd)
{
    if (log_fd >= 0)
        put_name(TRACE_CREATE, directory, path, inode(fd));
}

void trace_mkdir(int directory, const char *path)
{
    struct stat st;
    if (log_fd >= 0 && fstatat(directory, path, &st, 0) == 0)
        put_name(TRACE_MKDIR, directory, path, st.st_ino);
}

void trace_write(int fd, const void *data, uint64_t size, int64_t offset)
{
    struct stat st;
    if (log_fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    if (offset < 0)
        offset = syscall(SYS_lseek, fd, 0, SEEK_CUR) - (int64_t)size;
    put((struct trace){TRACE_WRITE, (uint32_t)size, st.st_ino, 0, (uint64_t)offset}, data);
}

void trace_truncate(int fd, uint64_t size)
{
    if (log_fd >= 0)
        put((struct trace){TRACE_TRUNCATE, 0, inode(fd), 0, size}, NULL);
}

void trace_sync(int fd)
{
    if (log_fd >= 0)
        put((struct trace){TRACE_SYNC, 0, inode(fd), 0, 0}, NULL);
}

void trace_rename(int from_directory, const char *from, int to_directory, const char *to)
{
    char names[1024];
    const char *from_name, *to_name;
    if (log_fd < 0)
        return;
    struct trace record = {.kind = TRACE_RENAME, .directory = directory_of(from_directory, from, &from_name)};
    directory_of(to_directory, to, &to_name);
    size_t first = strlen(from_name) + 1, second = strlen(to_name) + 1;
    if (first + second > sizeof names)
        return;
    memcpy(names, from_name, first);
    memcpy(names + first, to_name, second);
    record.size = (uint32_t)(first + second);
    put(record, names);
}

void trace_unlink(int directory, const char *path)
{
    if (log_fd >= 0)
        put_name(TRACE_UNLINK, directory, path, 0);
}
