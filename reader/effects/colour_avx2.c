/* The kernels for x86-64-v3. */
#define COLOUR_NAME colour_avx2

#include "colour_kernel.h"
