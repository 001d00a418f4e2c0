/* The kernels for x86-64-v3. */
#define FILTER_TABLE filter_avx2
#define FILTER_PLANE plane_restore_avx2
#include "filter.h"

#include "filter_ymm.h"

#include "filter_kernel.h"
