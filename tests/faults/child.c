#define _GNU_SOURCE
#include "child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("FAIL ", stdout);
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
    fflush(stdout);
    _exit(2);
}

static void path_in(const struct place *place, const char *name, char path[512])
{
    if (place)
        snprintf(path, 512, "%s/%s", place->folder, name);
    else
        snprintf(path, 512, "%s", name);
}

void place_make(struct place *place, const char *parent, unsigned number)
{
    char path[512];
    snprintf(place->folder, sizeof place->folder, "%s/place%u", parent, number);
    if (mkdir(place->folder, 0777) != 0 && errno != EEXIST)
        die("%s: %s", place->folder, strerror(errno));
    path_in(place, "control", path);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || ftruncate(fd, sizeof *place->control) != 0)
        die("%s: %s", path, strerror(errno));
    place->control = mmap(NULL, sizeof *place->control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (place->control == MAP_FAILED)
        die("%s: %s", path, strerror(errno));
    close(fd);
}

/* ------------------------------------------------------------------------------------------------- runs */

static void redirect(int to, const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || dup2(fd, to) < 0)
        _exit(99);
    close(fd);
}

static void become(const struct place *place, const char *injector, const char *trace,
                   const char *const *argv, unsigned seconds)
{
    if (chdir(place->folder) != 0)
        _exit(99);
    redirect(STDIN_FILENO, "in");
    redirect(STDOUT_FILENO, "out");
    redirect(STDERR_FILENO, "err");
    setenv("FAULT_CONTROL", "control", 1);
    if (trace)
        setenv("FAULT_TRACE", trace, 1);
    if (injector)
        setenv("LD_PRELOAD", injector, 1);
    alarm(seconds);
    execv(argv[0], (char *const *)argv);
    _exit(98);
}

/* Control characters but the end of lines make no part of a message. */
static void take_message(const struct place *place, struct outcome *o)
{
    struct file f = file_read(place, "err");
    size_t n = f.size < sizeof o->message - 1 ? f.size : sizeof o->message - 1;
    if (n)
        memcpy(o->message, f.bytes, n);
    o->message[n] = 0;
    for (size_t i = 0; i < f.size; i++)
        o->lines += f.bytes[i] == '\n';
    o->lines += f.size > 0 && f.bytes[f.size - 1] != '\n';
    free(f.bytes);
    f = file_read(place, "out");
    o->said_bytes = f.size;
    o->said = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < f.size; i++)
        o->said = (o->said ^ f.bytes[i]) * 0x100000001b3u;
    free(f.bytes);
}

struct outcome place_run(const struct place *place, const char *injector, const char *trace,
                         const char *const *argv, unsigned seconds, unsigned microseconds)
{
    struct outcome o = {0};
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        die("fork: %s", strerror(errno));
    if (child == 0)
        become(place, injector, trace, argv, seconds);
    if (microseconds) {
        usleep(microseconds);
        kill(child, SIGKILL);
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            die("waitpid: %s", strerror(errno));
    if (WIFSIGNALED(status))
        o.signal = WTERMSIG(status);
    else
        o.status = WEXITSTATUS(status);
    take_message(place, &o);
    return o;
}

/* ------------------------------------------------------------------------------------------------ files */

struct file file_read(const struct place *place, const char *name)
{
    char path[512];
    struct file f = {0};
    struct stat st;
    path_in(place, name, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return f;
    if (fstat(fd, &st) != 0 || !(f.bytes = malloc((size_t)st.st_size + 1)))
        die("%s: %s", path, strerror(errno));
    for (ssize_t n = 1; n > 0 && f.size < (size_t)st.st_size; f.size += (size_t)n)
        if ((n = read(fd, f.bytes + f.size, (size_t)st.st_size - f.size)) < 0)
            die("%s: %s", path, strerror(errno));
    close(fd);
    return f;
}

bool file_equal(const struct file *a, const struct file *b)
{
    return !a->bytes == !b->bytes && a->size == b->size &&
           (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0);
}

bool file_is(const struct place *place, const char *name, const struct file *expected)
{
    struct file f = file_read(place, name);
    bool equal = file_equal(&f, expected);
    free(f.bytes);
    return equal;
}

static void empty(const char *folder)
{
    char path[1024];
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (struct dirent *e; (e = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unlink(path);
    }
    closedir(dir);
}

void place_put(const struct place *place, const char *name, const struct file *f)
{
    char path[768];
    snprintf(path, sizeof path, "%s/db/%s", place->folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
    if (fd < 0 || write(fd, f->bytes, f->size) != (ssize_t)f->size || close(fd) != 0)
        die("%s: %s", path, strerror(errno));
}

void place_remove(const struct place *place, const char *folder)
{
    char path[512];
    path_in(place, folder, path);
    empty(path);
    if (rmdir(path) != 0 && errno != ENOENT)
        die("%s: %s", path, strerror(errno));
}

void place_set(const struct place *place, const struct file *store)
{
    char path[512];
    place_remove(place, "db");
    if (!store->bytes)
        return;
    path_in(place, "db", path);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        die("%s: %s", path, strerror(errno));
    place_put(place, "data.mdb", store);
}

bool place_litter(const struct place *place, const char *also, char found[256])
{
    char path[512];
    bool any = false;
    path_in(place, "db", path);
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && !any && (e = readdir(dir));) {
        const char *name = e->d_name;
        any = strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, "data.mdb") != 0 &&
              (!also || strcmp(name, also) != 0);
        snprintf(found, 256, "%s", name);
    }
    if (dir)
        closedir(dir);
    return any;
}

bool place_has(const struct place *place, const char *name)
{
    char path[512];
    struct stat st;
    path_in(place, name, path);
    return lstat(path, &st) == 0;
}

uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u; /* SplitMix64 */
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}
