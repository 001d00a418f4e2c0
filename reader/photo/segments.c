/* Which variant decodes segments. */
#include "segments.h"

segments_decode *segments_for(enum cpu_variant variant)
{
    switch (variant) {
#if defined(__x86_64__)
    case CPU_AVX2:
        return segments_avx2;
    case CPU_AVX512:
        return segments_avx512;
#elif defined(__aarch64__)
    case CPU_NEON:
        return segments_neon;
#endif
    default:
        return segments_scalar;
    }
}
