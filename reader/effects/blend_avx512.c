/* The kernels for x86-64-v4. */
#define BLEND_NAME blend_avx512

#include "blend_kernel.h"
