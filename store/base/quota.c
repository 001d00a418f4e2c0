/* Quotas of control groups: see quota.h. */
#include "quota.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOST_CORES 65536u
#define MOST_DEPTH 64 /* groups within each other that are looked at */

/* Digits, and what ends them; 0 for anything else, and for more than any quota has. */
static uint64_t number(const char *text)
{
    uint64_t n = 0;
    for (unsigned digits = 0; *text >= '0' && *text <= '9'; text++, digits++) {
        if (digits == 18)
            return 0;
        n = n * 10 + (uint64_t)(*text - '0');
    }
    return *text == 0 || *text == '\n' || *text == ' ' ? n : 0;
}

unsigned quota_of(const char *quota, const char *period)
{
    uint64_t of = number(quota), in = number(period);
    if (of == 0 || in == 0)
        return 0;
    uint64_t cores = (of - 1) / in + 1;
    return cores < MOST_CORES ? (unsigned)cores : MOST_CORES;
}

unsigned quota_of_max(const char *text)
{
    const char *space = strchr(text, ' ');
    return space ? quota_of(text, space + 1) : 0;
}

/* Is `name` one of those in text[0 ... n-1], which commas separate? Version 2 has none. */
static bool lists(const char *text, size_t n, const char *name)
{
    size_t length = strlen(name);
    for (size_t at = 0, end; at <= n; at = end + 1) {
        for (end = at; end < n && text[end] != ',';)
            end++;
        if (end - at == length && memcmp(text + at, name, length) == 0)
            return true;
    }
    return false;
}

void quota_group(const char *text, const char *controller, char *group, size_t size)
{
    snprintf(group, size, "/");
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        const char *list = memchr(text, ':', (size_t)(end - text));
        const char *path = list ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;
        if (!path || path[1] != '/' || !lists(list + 1, (size_t)(path - list - 1), controller))
            continue;
        if ((size_t)(end - path) <= size)
            snprintf(group, size, "%.*s", (int)(end - path - 1), path + 1);
        if (strstr(group, "/.."))
            snprintf(group, size, "/");
        return;
    }
}

/* ---------------------------------------------------------------------------------------------- the system */

/* The beginning of a file, as a string; "" if it cannot be read. */
static void quota_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, size - 1) : 0;
    text[n > 0 ? n : 0] = 0;
    if (fd >= 0)
        close(fd);
}

static unsigned group_quota(const char *root, const char *group, bool version_2)
{
    char path[4608], quota[64], period[64];
    const char *file = version_2 ? "cpu.max" : "cpu.cfs_quota_us";
    if ((size_t)snprintf(path, sizeof path, "%s%s/%s", root, group, file) >= sizeof path)
        return 0;
    quota_text(path, quota, sizeof quota);
    if (version_2 || !*quota)
        return quota_of_max(quota);
    snprintf(path, sizeof path, "%s%s/cpu.cfs_period_us", root, group);
    quota_text(path, period, sizeof period);
    return quota_of(quota, period);
}

static unsigned smaller(unsigned a, unsigned b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

/* The smallest of the group and those that it is in. In a container the group may be named as it is outside: then only the
 * last of them, the root, is there. */
static unsigned smallest_quota(const char *root, char *group, bool version_2)
{
    unsigned least = 0;
    for (int depth = 0; depth < MOST_DEPTH; depth++) {
        char *slash = strrchr(group, '/');
        bool top = !slash || !slash[1];
        least = smaller(least, group_quota(root, top ? "" : group, version_2));
        if (top)
            break;
        slash[slash == group] = 0;
    }
    return least;
}

static unsigned read_quota(void)
{
    char text[8192], group[4096];
    quota_text("/proc/self/cgroup", text, sizeof text);
    quota_group(text, "", group, sizeof group);
    unsigned version_2 = smallest_quota("/sys/fs/cgroup", group, true);
    quota_group(text, "cpu", group, sizeof group);
    return smaller(version_2, smallest_quota("/sys/fs/cgroup/cpu", group, false));
}

unsigned quota_cores(void)
{
    /* Plus 1. Without a lock, which a fork might find taken: at worst, several threads read the same. */
    static atomic_uint known;
    unsigned cores = atomic_load_explicit(&known, memory_order_relaxed);
    if (cores == 0) {
        cores = read_quota() + 1;
        atomic_store_explicit(&known, cores, memory_order_relaxed);
    }
    return cores - 1;
}
