/* Random numbers of the distribution Beta(alpha, alpha): the same on every machine. */
#ifndef BETA_H
#define BETA_H

#include <stdint.h>

/* From 0 to 1, of the numbers that Philox makes of the key and counter[0 ... 2], the fourth counted up from 1; alpha is from
 * 0.001 to 1000. */
double beta_draw(double alpha, uint64_t key, const uint32_t counter[3]);

#endif
