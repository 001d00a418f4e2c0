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

/* One of the two for at most 45 degrees, in radians: a series from the term of x^first on. */
static inline double exact_series(double x, int first)
{
    double sum = 1;
    for (int k = 16 + first; k > first; k -= 2)
        sum = 1 - x * x / (k * (k - 1)) * sum;
    return first ? x * sum : sum;
}

/* Of quarter + degrees, where `quarter` is 0 (the sine) or 1 (the cosine) right angles. */
static inline double exact_wave(double degrees, int quarter)
{
    double within = fmod(degrees, 360), right = rint(within / 90);
    double x = (within - 90 * right) * (3.14159265358979323846 / 180);
    int turns = ((int)right + quarter + 4) % 4;
    double wave = exact_series(x, turns % 2 == 0);
    return turns < 2 ? wave : -wave;
}

static inline double exact_sine(double degrees)
{
    return exact_wave(degrees, 0);
}

static inline double exact_cosine(double degrees)
{
    return exact_wave(degrees, 1);
}

#endif
