/* Functions that the C library may round differently from machine to machine, made of operations that IEEE 754 defines to the
 * bit. Close enough for drawing random numbers; not for tables of logarithms. */
#ifndef EXACT_H
#define EXACT_H

#include <math.h>

/* e^x. */
static inline double exact_exp(double x)
{
    double small = x / 256, sum = 1;
    for (int k = 8; k >= 1; k--)
        sum = 1 + small / k * sum;
    for (int k = 0; k < 8; k++)
        sum *= sum;
    return sum;
}

/* The natural logarithm, but for a result on the very edge. */
static inline double exact_log(double x)
{
    return rint(log(x) * 0x1p40) * 0x1p-40;
}

#endif
