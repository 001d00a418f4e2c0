/* Run-time dispatch: one question, answered once. */
#include "cpu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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

static void choose(void)
{
    for (int v = 0; v < CPU_VARIANTS; v++)
        if (cpu_can(v))
            chosen = v;
    const char *forced = getenv("APL_CPU");
    for (int v = 0; forced && v < CPU_VARIANTS; v++)
        if (strcmp(forced, names[v]) == 0 && cpu_can(v))
            chosen = v;
}

enum cpu_variant cpu_variant(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose);
    return chosen;
}
