/* The kernels for x86-64-v4. A group is 32 bytes wide, so the vectors are those of AVX2; what is gained is
 * twice as many registers, which the transposition fills. */
#define FILTER_TABLE filter_avx512
#define FILTER_PLANE plane_restore_avx512
#include "filter.h"

#include "filter_ymm.h"

#include "filter_kernel.h"
