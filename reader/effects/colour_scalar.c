/* The kernels for any machine: on arm64 these are vectors already. */
#define COLOUR_NAME colour_scalar

#include "colour_kernel.h"
