/* A trace for Perfetto: see trace.h. */
#define _GNU_SOURCE /* syscall() */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of a trace: two bytes, and those of its first event. */
#define BEGINNING "[\n{\"name\": "

#define WHO    "\"pid\": %ld, \"tid\": %ld"
#define WHO_IS (long)getpid(), (long)syscall(SYS_gettid)

atomic_int trace_file = -1;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static pid_t opened_by;
static bool has_forked; /* since the trace was opened: children may write to it */

static void lock_opening(void)
{
    pthread_mutex_lock(&opening);
}

static void unlock_opening(void)
{
    pthread_mutex_unlock(&opening);
}

static void after_trace_fork(void)
{
    has_forked = true;
    unlock_opening();
}

/* The process ends. So does the list, for programs that insist on whole JSON, unless children may write to it. */
static void end_trace(void)
{
    if (!trace_is_on() || opened_by != getpid() || has_forked)
        return;
    uint64_t now = now_ns();
    int fd = atomic_exchange(&trace_file, -1); /* threads that still run write no more */
    (void)dprintf(fd,
                  "{\"name\": \"exit\", \"ph\": \"i\", \"s\": \"p\", " WHO ", \"ts\": %" PRIu64 ".%03u}\n]\n",
                  WHO_IS, now / 1000, (unsigned)(now % 1000));
}

static void mind_trace_forks_and_end(void)
{
    (void)atexit(end_trace); /* if that fails, the list stays open */
    pthread_atfork(lock_opening, after_trace_fork, after_trace_fork);
}

/* The name with the process's number for each %p. False: it is too long. */
static bool name_trace(const char *said, char path[PATH_MAX])
{
    size_t n = 0;
    for (; *said && n < PATH_MAX; said++) {
        if (said[0] == '%' && said[1] == 'p') {
            n += (size_t)snprintf(path + n, PATH_MAX - n, "%ld", (long)getpid());
            said++;
        } else {
            path[n++] = *said;
        }
    }
    if (n >= PATH_MAX)
        return false;
    path[n] = 0;
    return true;
}

/* Or empty. */
static bool is_trace(int fd, const struct stat *st)
{
    char head[sizeof BEGINNING - 1];
    ssize_t n = pread(fd, head, sizeof head, 0);
    return st->st_size == 0 || (n >= 2 && memcmp(head, BEGINNING, (size_t)n) == 0);
}

/* What is there is written over only if it is a trace. */
static apl_status begin_file(const char *path, int *fd, apl_error *err)
{
    struct stat st;
    *fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    if (*fd < 0)
        return fail_errno(err, errno, "APL_TRACE: cannot write %s", path);
    if (fstat(*fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(*fd);
        return fail(err, APL_E_IO, "APL_TRACE: %s is not a regular file", path);
    }
    if (!is_trace(*fd, &st)) {
        close(*fd);
        return fail(err, APL_E_IO, "APL_TRACE: %s exists, and is not a trace", path);
    }
    if (ftruncate(*fd, 0) == 0 && write(*fd, BEGINNING, 2) == 2)
        return APL_OK;
    int code = errno;
    close(*fd);
    return fail_errno(err, code, "APL_TRACE: cannot write %s", path);
}

/* In a child whose parent traces, a name without %p means the parent's file. */
static apl_status open_trace(const char *said, apl_error *err)
{
    char path[PATH_MAX];
    int fd, before = atomic_load(&trace_file);
    if (before >= 0 && !strstr(said, "%p")) {
        opened_by = getpid();
        return APL_OK;
    }
    if (!name_trace(said, path))
        return fail(err, APL_E_INVALID, "APL_TRACE: the name has more than %d bytes", PATH_MAX - 1);
    TRY(begin_file(path, &fd, err));
    opened_by = getpid();
    has_forked = false;
    atomic_store(&trace_file, fd);
    if (before >= 0)
        close(before);
    return APL_OK;
}

apl_status trace_open(apl_error *err)
{
    const char *said = getenv("APL_TRACE");
    apl_status status = APL_OK;
    if (!said || !*said)
        return APL_OK;
    pthread_once(&once, mind_trace_forks_and_end);
    lock_opening();
    if (atomic_load(&trace_file) < 0 || opened_by != getpid())
        status = open_trace(said, err);
    unlock_opening();
    return status;
}

/* One write: lines of several threads, or processes, do not mix. */
static void write_event(const char *text, int n)
{
    int fd = atomic_load_explicit(&trace_file, memory_order_relaxed), code = errno;
    if (n > 0 && write(fd, text, (size_t)n) != n)
        atomic_store(&trace_file, -1); /* the descriptor stays: another thread may be about to write to it */
    errno = code;
}

void trace_write_span(const char *what, uint64_t begin, uint64_t end, const char *of, uint64_t number)
{
    char text[256];
    uint64_t ns = end > begin ? end - begin : 0;
    write_event(text, snprintf(text, sizeof text,
                               "{\"name\": \"%s\", \"ph\": \"X\", " WHO ", \"ts\": %" PRIu64 ".%03u, "
                               "\"dur\": %" PRIu64 ".%03u, \"args\": {\"%s\": %" PRIu64 "}},\n",
                               what, WHO_IS, begin / 1000, (unsigned)(begin % 1000), ns / 1000,
                               (unsigned)(ns % 1000), of, number));
}

void trace_write_thread(const char *name)
{
    char text[160];
    write_event(text, snprintf(text, sizeof text,
                               "{\"name\": \"thread_name\", \"ph\": \"M\", " WHO
                               ", \"args\": {\"name\": \"%s\"}},\n",
                               WHO_IS, name));
}
