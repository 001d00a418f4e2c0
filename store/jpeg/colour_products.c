/* Which variant of the products of colours runs: see colour_products.h. */
#include "colour_products.h"

colour_products_fn *colour_products_for(enum cpu_variant variant)
{
#if defined(__x86_64__)
    if (variant == CPU_AVX2 || variant == CPU_AVX512)
        return colour_products_avx2;
#endif
    (void)variant;
    return colour_products_scalar;
}
