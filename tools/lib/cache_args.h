/* --cache, --cache-budget and --requests: where commands keep what they read of stores at URLs, and how they ask for it. */
#ifndef CACHE_ARGS_H
#define CACHE_ARGS_H

#include "command_line.h"

/* The cache is that of all stores that are opened, so the environment says it. 0, or an exit status after saying what is wrong. */
int cache_take_directory(void *job, const char *directory);
int cache_take_budget(void *job, const char *value);
int cache_take_requests(void *job, const char *value);

/* Sets a variable of the environment, before there are threads. */
int say_variable(const char *name, const char *value);

#define CACHE_ROWS                                                        \
    {0,                                                                   \
     "cache",                                                             \
     "DIR",                                                               \
     "for a DB at a URL: keep what is read in DIR (default: $APL_CACHE)", \
     OPTION_CALL,                                                         \
     0,                                                                   \
     cache_take_directory},                                               \
        {0,                                                               \
         "cache-budget",                                                  \
         "SIZE",                                                          \
         "the most that DIR may hold, in bytes or with K, M, G or T",     \
         OPTION_CALL,                                                     \
         0,                                                               \
         cache_take_budget},                                              \
        REQUESTS_ROW

#define REQUESTS_ROW                                                                                \
    {                                                                                               \
        0, "requests", "N", "for a DB at a URL: the most requests in flight (256)", OPTION_CALL, 0, \
            cache_take_requests                                                                     \
    }

#endif
