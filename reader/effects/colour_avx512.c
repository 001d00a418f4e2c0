/* The kernels for x86-64-v4. */
#define COLOUR_NAME colour_avx512

#include "colour_kernel.h"
