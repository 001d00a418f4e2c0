/* Clock, reading and memory, simulated: see sim.h. */
#define _GNU_SOURCE
#include "sim.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MOST_DAMAGES 64
#define MILLISECOND  1000000u

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __real_nanosleep(const struct timespec *t, struct timespec *left);
ssize_t __real_pread(int fd, void *to, size_t bytes, off_t offset);
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__real_aligned_alloc(size_t align, size_t bytes);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t most);
void __real_free(void *p);
void *__real_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *p, size_t bytes);
int __real_madvise(void *p, size_t bytes, int advice);
void __real_abort(void) __attribute__((noreturn));

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_nanosleep(const struct timespec *t, struct timespec *left);
ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t offset);
ssize_t __wrap___pread_chk(int fd, void *to, size_t bytes, off_t offset, size_t room);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t most);
void __wrap_free(void *p);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void *p, size_t bytes);
int __wrap_madvise(void *p, size_t bytes, int advice);
void __wrap_abort(void) __attribute__((noreturn));

struct sim_faults sim_faults;
uint64_t sim_faults_made;

static struct damage {
    uint64_t offset, bytes;
} damages[MOST_DAMAGES];
static unsigned damage_count;
static int64_t allocations, mapped;

void sim_calls_begin(void)
{
    sim_faults = (struct sim_faults){0};
    sim_faults_made = 0;
    damage_count = 0;
}

void sim_may_fail(bool may)
{
    sim_current->may_fail = may;
}

void sim_sound(bool sound)
{
    sim_current->sound = sound;
}

uint64_t sim_locked(void)
{
    return sim_current->locked;
}

int64_t sim_memory(void)
{
    return allocations;
}

int64_t sim_mapped(void)
{
    return mapped;
}

/* -------------------------------------------------------------------------------------------------------- time */

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    if (!sim_current || (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME))
        return __real_clock_gettime(clock, t);
    sim_point("clock", 0, PLACE);
    uint64_t ns = sim_now();
    t->tv_sec = (time_t)(ns / 1000000000u);
    t->tv_nsec = (long)(ns % 1000000000u);
    return 0;
}

int __wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
    if (!sim_current)
        return __real_nanosleep(t, left);
    sim_point("sleep", 0, PLACE);
    sim_wait(FOR_TIME, NULL, 0, sim_now() + (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec);
    return 0;
}

/* ----------------------------------------------------------------------------------------------------- reading */

void sim_damage(uint64_t offset, uint64_t bytes)
{
    if (damage_count == MOST_DAMAGES)
        sim_fail("more damage than there is room for");
    damages[damage_count++] = (struct damage){offset, bytes};
}

/* One bit in the middle of each place. */
static void damage(uint8_t *to, uint64_t bytes, uint64_t offset)
{
    for (unsigned i = 0; i < damage_count; i++) {
        uint64_t at = damages[i].offset + damages[i].bytes / 2;
        if (at >= offset && at - offset < bytes)
            to[at - offset] ^= 1;
    }
}

static void take_time(void)
{
    uint64_t until = sim_now();
    if (sim_chance(sim_faults.delay))
        until += sim_below(2 * MILLISECOND);
    if (sim_chance(sim_faults.hang))
        until += 5000 * (uint64_t)MILLISECOND;
    if (until > sim_now())
        sim_wait(FOR_TIME, NULL, 0, until);
}

static ssize_t read_some(int fd, void *to, size_t bytes, off_t offset, const void *place)
{
    sim_point("read", (uint64_t)offset, place);
    if (sim_current->sound)
        return __real_pread(fd, to, bytes, offset);
    take_time();
    if (sim_chance(sim_faults.interrupt)) {
        errno = EINTR;
        return -1;
    }
    if (sim_chance(sim_faults.io_error)) {
        sim_faults_made++;
        errno = EIO;
        return -1;
    }
    if (bytes > 1 && sim_chance(sim_faults.cut))
        bytes = 1 + sim_below((uint32_t)bytes);
    ssize_t n = __real_pread(fd, to, bytes, offset);
    if (n > 0)
        damage(to, (uint64_t)n, (uint64_t)offset);
    return n;
}

ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t offset)
{
    return sim_current ? read_some(fd, to, bytes, offset, PLACE) : __real_pread(fd, to, bytes, offset);
}

ssize_t __wrap___pread_chk(int fd, void *to, size_t bytes, off_t offset, size_t room)
{
    (void)room;
    return sim_current ? read_some(fd, to, bytes, offset, PLACE) : __real_pread(fd, to, bytes, offset);
}

/* ------------------------------------------------------------------------------------------------------ memory */

static bool refused(void)
{
    if (!sim_current || !sim_current->may_fail || !sim_chance(sim_faults.nomem))
        return false;
    sim_faults_made++;
    errno = ENOMEM;
    return true;
}

/* Only what is simulated: else there are other threads. */
static void *counted(void *p)
{
    allocations += sim_current && p;
    return p;
}

void *__wrap_malloc(size_t bytes)
{
    return refused() ? NULL : counted(__real_malloc(bytes));
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    return refused() ? NULL : counted(__real_calloc(n, bytes));
}

void *__wrap_realloc(void *p, size_t bytes)
{
    if (refused())
        return NULL;
    void *q = __real_realloc(p, bytes);
    return p ? q : counted(q);
}

void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
    return refused() ? NULL : counted(__real_aligned_alloc(align, bytes));
}

char *__wrap_strdup(const char *s)
{
    return refused() ? NULL : counted(__real_strdup(s));
}

char *__wrap_strndup(const char *s, size_t most)
{
    return refused() ? NULL : counted(__real_strndup(s, most));
}

void __wrap_free(void *p)
{
    allocations -= sim_current && p;
    __real_free(p);
}

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    void *p = refused() ? MAP_FAILED : __real_mmap(at, bytes, protection, flags, fd, offset);
    mapped += sim_current && p != MAP_FAILED ? (int64_t)((bytes + 4095) / 4096) : 0;
    return p;
}

int __wrap_munmap(void *p, size_t bytes)
{
    mapped -= sim_current ? (int64_t)((bytes + 4095) / 4096) : 0;
    return __real_munmap(p, bytes);
}

/* Huge pages would only take time to clear. */
int __wrap_madvise(void *p, size_t bytes, int advice)
{
    return sim_current ? 0 : __real_madvise(p, bytes, advice);
}

/* ------------------------------------------------------------------------------------------------------ ending */

void __wrap_abort(void)
{
    if (sim_current)
        sim_fail("it gives up");
    __real_abort();
}
