/* A plane restored, for x86-64-v4: the instructions are those of AVX2, but the transposition has registers enough. */
#define PLANE_RESTORE plane_restore_avx512
#include "filter_xmm.h"

#include "plane_kernel.h"
