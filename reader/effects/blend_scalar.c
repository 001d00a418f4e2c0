/* The kernels for any machine: on arm64 these are vectors already. */
#define BLEND_NAME blend_scalar

#include "blend_kernel.h"
