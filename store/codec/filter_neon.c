/* The kernels for arm64. */
#define FILTER_TABLE filter_neon
#define FILTER_PLANE plane_restore_neon
#include "filter.h"

#include "filter_neon.h"

#include "filter_kernel.h"
