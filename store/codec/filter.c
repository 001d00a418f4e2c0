/* Which table of kernels. */
#include "filter.h"

const struct filter *filter_for(enum cpu_variant variant)
{
    switch (variant) {
#if defined(__x86_64__)
    case CPU_AVX2:
        return &filter_avx2;
    case CPU_AVX512:
        return &filter_avx512;
#elif defined(__aarch64__)
    case CPU_NEON:
        return &filter_neon;
#endif
    default:
        return &filter_scalar;
    }
}
