/* The options of a cache: see cache_args.h. */
#define _POSIX_C_SOURCE 200809L /* setenv() */
#include "cache_args.h"

#include "args.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int say_variable(const char *name, const char *value)
{
    return setenv(name, value, 1) == 0 ? 0 : failed("out of memory");
}

/* What makes room in a cache would not know what else is there. */
int cache_take_directory(void *job, const char *directory)
{
    static const char *const stores[] = {"data.mdb", "set.apl"};
    char path[4096];
    struct stat st;
    (void)job;
    if (*directory == 0)
        return misuse("--cache: which directory?");
    if (strstr(directory, "://"))
        return misuse("%s is a URL: a cache is a directory of this machine", shown_db(directory));
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++)
        if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, stores[i]) < sizeof path &&
            stat(path, &st) == 0)
            return misuse("%s has a %s: a cache needs a directory of its own", shown(directory), stores[i]);
    return say_variable("APL_CACHE", directory);
}

int cache_take_budget(void *job, const char *value)
{
    uint64_t bytes;
    (void)job;
    if (!parse_size(value, 1, UINT64_MAX, &bytes))
        return misuse("--cache-budget takes a number of bytes, or of K, M, G or T, such as 100G");
    return say_variable("APL_CACHE_BUDGET", value);
}

int cache_take_requests(void *job, const char *value)
{
    uint64_t number;
    (void)job;
    if (!parse_number(value, 1, 1024, &number))
        return misuse("--requests takes a number, 1 to 1024");
    return say_variable("APL_REMOTE_REQUESTS", value);
}
