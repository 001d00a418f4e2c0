/* Which variants of assemble() there are. */
#include "assemble_variants.h"

assemble_fn *assemble_for(enum cpu_variant variant)
{
    switch (variant) {
#if defined(__x86_64__)
    case CPU_AVX2:
        return assemble_avx2;
    case CPU_AVX512:
        return assemble_avx512;
#elif defined(__aarch64__)
    case CPU_NEON:
        return assemble_neon;
#endif
    default:
        return assemble_scalar;
    }
}
