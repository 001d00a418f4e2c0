/* The file that a reader offers its figures in: see monitor_file.h. */
#include "monitor_file.h"

#include "whole.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MADE ".new"

/* ----------------------------------------------------------------------------------------- whose file it is */

/* Processes of different namespaces have numbers of their own. 0: the kernel does not tell. */
static unsigned long long pid_namespace(void)
{
    struct stat st;
    return stat("/proc/self/ns/pid", &st) == 0 ? (unsigned long long)st.st_ino : 0;
}

void monitor_file_head(char head[MONITOR_HEAD])
{
    struct utsname names;
    char host[4 * sizeof names.nodename];
    if (uname(&names) != 0)
        names.nodename[0] = 0;
    printable(host, sizeof host, names.nodename, strlen(names.nodename));
    for (char *c = host; *c; c++)
        *c = *c == '"' || *c == '\\' ? '_' : *c;
    snprintf(head, MONITOR_HEAD,
             "{\"apl_monitor\": 1, \"host\": \"%s\", \"pid_namespace\": %llu, \"pid\": ", host,
             pid_namespace());
}

/* ------------------------------------------------------------------------------------------------ clearing */

/* The process that a name is of; 0: it is not the name of such a file. */
static pid_t process_of(const char *name)
{
    char *end;
    if (*name < '1' || *name > '9')
        return 0;
    errno = 0;
    long pid = strtol(name, &end, 10);
    if (errno || pid > INT_MAX || *end++ != '-')
        return 0;
    end += strspn(end, "0123456789");
    return strcmp(end, ".json") == 0 || strcmp(end, ".json" MADE) == 0 ? (pid_t)pid : 0;
}

/* Does the file begin as this machine's do, and with that process? */
static bool is_written_by(int directory, const char *name, pid_t pid)
{
    char wanted[MONITOR_HEAD + 32], head[sizeof wanted];
    struct stat st;
    monitor_file_head(wanted);
    size_t n = strlen(wanted);
    n += (size_t)snprintf(wanted + n, sizeof wanted - n, "%ld,", (long)pid);
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    bool is = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
              read_whole(fd, head, n, 0) == 0 && memcmp(head, wanted, n) == 0;
    close(fd);
    return is;
}

/* By /proc: a sandbox may forbid kill(). Without /proc, nobody is gone. */
static bool is_gone(pid_t pid)
{
    char path[48];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%ld", (long)pid);
    return stat(path, &st) != 0 && errno == ENOENT && stat("/proc/self", &st) == 0;
}

/* What processes left that were killed. */
static void clear_directory(int directory)
{
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    if (!list && fd >= 0)
        close(fd);
    for (const struct dirent *e; list && (e = readdir(list));) {
        pid_t pid = process_of(e->d_name);
        if (pid > 0 && is_gone(pid) && is_written_by(directory, e->d_name, pid))
            (void)unlinkat(directory, e->d_name, 0);
    }
    if (list)
        closedir(list);
}

/* ------------------------------------------------------------------------------------------------- the file */

apl_status monitor_file_open(struct monitor_file *f, const char *directory, apl_error *err)
{
    static atomic_uint readers;
    printable(f->shown, sizeof f->shown, directory, strlen(directory));
    f->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->directory < 0)
        return fail_errno(err, errno, "cannot write figures into %s", f->shown);
    /* relaxed: numbers differ */
    unsigned number = atomic_fetch_add_explicit(&readers, 1, memory_order_relaxed) + 1;
    snprintf(f->name, sizeof f->name, "%ld-%u.json", (long)getpid(), number);
    snprintf(f->made, sizeof f->made, "%ld-%u.json" MADE, (long)getpid(), number);
    clear_directory(f->directory);
    return APL_OK;
}

/* The name may be that of a process that was killed. */
static int create_made(const struct monitor_file *f)
{
    (void)unlinkat(f->directory, f->made, 0);
    return openat(f->directory, f->made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
}

apl_status monitor_file_write(const struct monitor_file *f, const struct buffer *text, apl_error *err)
{
    int fd = create_made(f);
    int code = fd < 0 ? errno : write_whole(fd, text->data, text->size, 0);
    if (fd >= 0 && close(fd) != 0 && !code)
        code = errno;
    if (!code && renameat(f->directory, f->made, f->directory, f->name) != 0)
        code = errno;
    if (code && fd >= 0)
        (void)unlinkat(f->directory, f->made, 0);
    return code ? fail_errno(err, code, "cannot write figures into %s/%s", f->shown, f->name) : APL_OK;
}

void monitor_file_close(struct monitor_file *f)
{
    (void)unlinkat(f->directory, f->name, 0);
    close(f->directory);
    f->directory = -1;
}
