/* A plane restored, for x86-64-v3. */
#define PLANE_RESTORE plane_restore_avx2
#include "filter_xmm.h"

#include "plane_kernel.h"
