/* Which variant of the kernels runs. */
#include "colour.h"

const struct colour *colour_for(enum cpu_variant variant)
{
    switch (variant) {
#if defined(__x86_64__)
    case CPU_AVX2:
        return &colour_avx2;
    case CPU_AVX512:
        return &colour_avx512;
#endif
    default:
        return &colour_scalar;
    }
}
