/* Random numbers of the normal distribution, of mean 0 and standard deviation 1: the same on every machine. */
#ifndef NOISE_H
#define NOISE_H

#include <stdint.h>

#define NOISE_BITS  12
#define NOISE_STEPS (1 << NOISE_BITS)

/* The quantiles of (i + 1/2) / NOISE_STEPS, made at the first call; thread-safe. A number of NOISE_BITS random bits picks one. */
const float *noise_quantiles(void);

#endif
