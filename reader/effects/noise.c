/* Quantiles of the normal distribution, by Newton's method on its series: see noise.h. */
#include "noise.h"

#include "exact.h"

#include <pthread.h>

#define ROOT_2_PI 2.50662827463100050242
#define TERMS     80 /* of the series, for |x| < 4 */

static float quantiles[NOISE_STEPS];

static double density_of(double x)
{
    return exact_exp(-x * x / 2) / ROOT_2_PI;
}

/* The probability of a number from 0 to x: density * (x + x^3 / 3 + x^5 / (3 * 5) + ...). */
static double area_to(double x)
{
    double term = x, sum = x;
    for (int k = 1; k < TERMS; k++) {
        term *= x * x / (2 * k + 1);
        sum += term;
    }
    return sum * density_of(x);
}

static void make_quantiles(void)
{
    double x = 0;
    for (int i = 0; i < NOISE_STEPS / 2; i++) {
        double area = (i + 0.5) / NOISE_STEPS;
        for (int k = 0; k < 6; k++)
            x -= (area_to(x) - area) / density_of(x);
        quantiles[NOISE_STEPS / 2 + i] = (float)x;
        quantiles[NOISE_STEPS / 2 - 1 - i] = (float)-x;
    }
}

const float *noise_quantiles(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_quantiles);
    return quantiles;
}
