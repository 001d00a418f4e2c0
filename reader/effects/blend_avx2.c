/* The kernels for x86-64-v3. */
#define BLEND_NAME blend_avx2

#include "blend_kernel.h"
