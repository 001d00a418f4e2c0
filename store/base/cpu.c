/* Run-time dispatch: one question, answered once; and, where the widest registers need not be the fastest, a race. */
#include "cpu.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WARM_UPS 4 /* runs that do not count: caches, and clocks that slow down for wide registers */
#define ROUNDS   8
#define CLEARLY \
    83 /* percent of the narrower one's time: what is gained by less in the cache is lost in memory */

static const char *const names[CPU_VARIANTS] = {"scalar", "avx2", "avx512", "neon"};

const char *cpu_variant_name(enum cpu_variant variant)
{
    return names[variant];
}

int cpu_can(enum cpu_variant variant)
{
    switch (variant) {
    case CPU_SCALAR:
        return 1;
#if defined(__x86_64__)
    case CPU_AVX2:
        return __builtin_cpu_supports("avx2") && /* unreached: other processors */
               __builtin_cpu_supports("bmi2");   /* unreached: other processors */
    case CPU_AVX512:
        return cpu_can(CPU_AVX2) &&                  /* unreached: other processors */
               __builtin_cpu_supports("avx512f") &&  /* unreached: other processors */
               __builtin_cpu_supports("avx512bw") && /* unreached: other processors */
               __builtin_cpu_supports("avx512cd") && /* unreached: other processors */
               __builtin_cpu_supports("avx512dq") && /* unreached: other processors */
               __builtin_cpu_supports("avx512vl");   /* unreached: other processors */
#elif defined(__aarch64__)
    case CPU_NEON:
        return 1;
#endif
    default:
        return 0;
    }
}

static enum cpu_variant chosen;
static bool is_forced; /* by APL_CPU */

static void choose(void)
{
    for (int v = 0; v < CPU_VARIANTS; v++)
        if (cpu_can(v))
            chosen = v;
    const char *forced = getenv("APL_CPU");
    for (int v = 0; forced && v < CPU_VARIANTS; v++)
        if (strcmp(forced, names[v]) == 0 && cpu_can(v)) {
            chosen = v;
            is_forced = true;
        }
}

enum cpu_variant cpu_variant(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose);
    return chosen;
}

/* ------------------------------------------------------------------------------------------- the race */

static uint64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The least time of some runs. */
static uint64_t time_variant(enum cpu_variant variant, cpu_run_fn *run, void *user)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < WARM_UPS + ROUNDS; i++) {
        uint64_t begin = nanoseconds();
        run(variant, user);
        uint64_t took = nanoseconds() - begin;
        if (i >= WARM_UPS && took < least)
            least = took;
    }
    return least;
}

/* From the narrowest to the widest, one after another: a run of the widest may slow the clock for those that follow. */
enum cpu_variant cpu_fastest(cpu_run_fn *run, void *user)
{
    enum cpu_variant widest = cpu_variant(), fastest = widest;
    uint64_t least = UINT64_MAX;
    for (int v = CPU_SCALAR + 1; v <= (int)widest && !is_forced; v++) {
        if (!cpu_can(v) || (least == UINT64_MAX && v == (int)widest))
            continue;
        uint64_t took = time_variant((enum cpu_variant)v, run, user);
        if (least != UINT64_MAX && took > least * CLEARLY / 100)
            continue;
        least = took;
        fastest = (enum cpu_variant)v;
    }
    return fastest;
}
