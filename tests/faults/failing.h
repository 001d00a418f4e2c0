/*
 * Calls that fail: the linker sends the library's calls of each function below to a wrapper here (see failing.mk),
 * which lets call number k fail, or all from there on, or be interrupted, or transfer less than was asked.
 */
#ifndef FAILING_H
#define FAILING_H

#include <archive.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <openssl/sha.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum failing { FAIL_NEVER, FAIL_ONCE, FAIL_EVER, FAIL_INTERRUPTED, FAIL_SHORT, FAIL_MODES };

static struct {
    atomic_uint mode;
    atomic_ulong calls, at; /* counted from 1 */
    atomic_long blocks;     /* of memory that the library holds */
} failing;

static inline void failing_begin(enum failing mode, unsigned long at)
{
    atomic_store(&failing.calls, 0);
    atomic_store(&failing.at, at);
    atomic_store(&failing.mode, mode);
}

/* Calls that there were. */
static inline unsigned long failing_end(void)
{
    atomic_store(&failing.mode, FAIL_NEVER);
    return atomic_load(&failing.calls);
}

/* Is this call to fail? Interruption and shortness are of transfers only, and only these are counted then. */
static inline bool fails(void)
{
    unsigned mode = atomic_load(&failing.mode);
    if (mode != FAIL_ONCE && mode != FAIL_EVER)
        return false;
    unsigned long n = atomic_fetch_add(&failing.calls, 1) + 1, at = atomic_load(&failing.at);
    return mode == FAIL_ONCE ? n == at : n >= at;
}

/* The linker wants wrappers that a shared library could see, though none goes through them. */
#pragma GCC visibility push(default)

#define WRAP_AS(type, name, parameters, arguments, on_failure) \
    type __real_##name parameters;                             \
    type __wrap_##name parameters;                             \
    type __wrap_##name parameters                              \
    {                                                          \
        if (fails())                                           \
            return on_failure;                                 \
        return __real_##name arguments;                        \
    }
#define WRAP(name, parameters, arguments)     WRAP_AS(int, name, parameters, arguments, (errno = EIO, -1))
#define WRAP_MDB(name, parameters, arguments) WRAP_AS(int, name, parameters, arguments, EIO)
#define WRAP_MEMORY(name, parameters, arguments)                              \
    void *__real_##name parameters;                                           \
    void *__wrap_##name parameters;                                           \
    void *__wrap_##name parameters                                            \
    {                                                                         \
        void *p = fails() ? (errno = ENOMEM, NULL) : __real_##name arguments; \
        atomic_fetch_add(&failing.blocks, p != NULL);                         \
        return p;                                                             \
    }
#define WRAP_TRANSFER(name, data, offset, arguments)                               \
    ssize_t __real_##name(int fd, data buffer, size_t n offset);                   \
    ssize_t __wrap_##name(int fd, data buffer, size_t n offset);                   \
    ssize_t __wrap_##name(int fd, data buffer, size_t n offset)                    \
    {                                                                              \
        unsigned mode = atomic_load(&failing.mode);                                \
        if (mode >= FAIL_INTERRUPTED &&                                            \
            atomic_fetch_add(&failing.calls, 1) + 1 == atomic_load(&failing.at)) { \
            errno = EINTR;                                                         \
            if (mode == FAIL_INTERRUPTED)                                          \
                return -1;                                                         \
            n = (n + 1) / 2;                                                       \
        }                                                                          \
        return fails() ? (errno = EIO, -1) : __real_##name arguments;              \
    }
#define COMMA_OFFSET , off_t at

WRAP_MEMORY(malloc, (size_t n), (n))
WRAP_MEMORY(calloc, (size_t n, size_t m), (n, m))
WRAP_MEMORY(aligned_alloc, (size_t n, size_t m), (n, m))
WRAP_MEMORY(strdup, (const char *s), (s))
WRAP_MEMORY(strndup, (const char *s, size_t n), (s, n))

void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n)
{
    void *q = fails() ? (errno = ENOMEM, NULL) : __real_realloc(p, n);
    atomic_fetch_add(&failing.blocks, !p && q);
    return q;
}

void __real_free(void *p);
void __wrap_free(void *p);
void __wrap_free(void *p)
{
    atomic_fetch_sub(&failing.blocks, p != NULL);
    __real_free(p);
}

WRAP_TRANSFER(read, void *, , (fd, buffer, n))
WRAP_TRANSFER(pread, void *, COMMA_OFFSET, (fd, buffer, n, at))
WRAP_TRANSFER(write, const void *, , (fd, buffer, n))
WRAP_TRANSFER(pwrite, const void *, COMMA_OFFSET, (fd, buffer, n, at))

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    int mode = flags & O_CREAT ? va_arg(args, int) : 0;
    va_end(args);
    return fails() ? (errno = EIO, -1) : __real_open(path, flags, mode);
}

int __real_openat(int dir, const char *path, int flags, ...);
int __wrap_openat(int dir, const char *path, int flags, ...);
int __wrap_openat(int dir, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    int mode = flags & O_CREAT ? va_arg(args, int) : 0;
    va_end(args);
    return fails() ? (errno = EIO, -1) : __real_openat(dir, path, flags, mode);
}

/* Whatever it says, the file is closed. */
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    bool failed = fails();
    int result = __real_close(fd);
    return failed ? (errno = EIO, -1) : result;
}

WRAP(dup, (int fd), (fd))
WRAP(fsync, (int fd), (fd))
WRAP(fchmod, (int fd, mode_t mode), (fd, mode))
WRAP(flock, (int fd, int what), (fd, what))
WRAP(stat, (const char *path, struct stat *st), (path, st))
WRAP(fstat, (int fd, struct stat *st), (fd, st))
WRAP(fstatat, (int fd, const char *path, struct stat *st, int flags), (fd, path, st, flags))

/* The type of file system that there is said to be; 0: the true one. */
static atomic_uint failing_file_system;

int __real_fstatfs(int fd, struct statfs *fs);
int __wrap_fstatfs(int fd, struct statfs *fs);
int __wrap_fstatfs(int fd, struct statfs *fs)
{
    int result = fails() ? (errno = EIO, -1) : __real_fstatfs(fd, fs);
    if (result == 0 && failing_file_system)
        fs->f_type = failing_file_system;
    return result;
}

int __real_fcntl(int fd, int what, ...);
int __wrap_fcntl(int fd, int what, ...);
int __wrap_fcntl(int fd, int what, ...)
{
    va_list args;
    va_start(args, what);
    long value = va_arg(args, long);
    va_end(args);
    return fails() ? (errno = EMFILE, -1) : __real_fcntl(fd, what, value);
}

WRAP_AS(struct dirent *, readdir, (DIR * d), (d), (errno = EIO, NULL))
WRAP_AS(DIR *, fdopendir, (int fd), (fd), (errno = ENOMEM, NULL))
WRAP(mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(rmdir, (const char *path), (path))
WRAP(unlinkat, (int fd, const char *path, int flags), (fd, path, flags))
WRAP(renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
WRAP(sched_getaffinity, (pid_t pid, size_t size, cpu_set_t *set), (pid, size, set))
WRAP(munmap, (void *at, size_t n), (at, n))
WRAP_AS(void *, mmap, (void *at, size_t n, int what, int how, int fd, off_t from),
        (at, n, what, how, fd, from), (errno = ENOMEM, MAP_FAILED))
WRAP_AS(int, pthread_create, (pthread_t * t, const pthread_attr_t *a, void *(*f)(void *), void *user),
        (t, a, f, user), EAGAIN)

WRAP_MDB(mdb_env_create, (MDB_env * *env), (env))
WRAP_MDB(mdb_env_open, (MDB_env * env, const char *path, unsigned flags, mdb_mode_t mode),
         (env, path, flags, mode))
WRAP_MDB(mdb_env_set_mapsize, (MDB_env * env, size_t size), (env, size))
WRAP_MDB(mdb_env_sync, (MDB_env * env, int force), (env, force))
WRAP_MDB(mdb_txn_begin, (MDB_env * env, MDB_txn *parent, unsigned flags, MDB_txn **txn),
         (env, parent, flags, txn))
WRAP_MDB(mdb_dbi_open, (MDB_txn * txn, const char *name, unsigned flags, MDB_dbi *dbi),
         (txn, name, flags, dbi))
WRAP_MDB(mdb_put, (MDB_txn * txn, MDB_dbi dbi, MDB_val *key, MDB_val *data, unsigned flags),
         (txn, dbi, key, data, flags))
/* Also a transaction that cannot be committed is over. */
WRAP_AS(int, mdb_txn_commit, (MDB_txn * txn), (txn), (mdb_txn_abort(txn), EIO))

WRAP_AS(ZSTD_CCtx *, ZSTD_createCCtx, (void), (), NULL)
WRAP_AS(ZSTD_DCtx *, ZSTD_createDCtx, (void), (), NULL)
WRAP_AS(size_t, ZSTD_CCtx_setParameter, (ZSTD_CCtx * c, ZSTD_cParameter p, int value), (c, p, value),
        (size_t)-64)
WRAP_AS(size_t, ZSTD_compress2, (ZSTD_CCtx * c, void *to, size_t room, const void *from, size_t n),
        (c, to, room, from, n), (size_t)-64)
WRAP_AS(size_t, ZSTD_decompressDCtx, (ZSTD_DCtx * d, void *to, size_t room, const void *from, size_t n),
        (d, to, room, from, n), (size_t)-64)
WRAP_AS(struct archive *, archive_read_new, (void), (), NULL)
WRAP_AS(int, inflateInit2_, (z_streamp z, int bits, const char *version, int size), (z, bits, version, size),
        Z_MEM_ERROR)

#pragma GCC visibility pop
#endif
