/* A plane restored, for arm64. */
#define PLANE_RESTORE plane_restore_neon
#include "filter_neon.h"

#include "plane_kernel.h"
