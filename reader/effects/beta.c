/* Rejection: Joehnk (1964) for alpha up to 1, in logarithms, and Cheng's BB (1978) above; see beta.h. */
#include "beta.h"

#include "exact.h"
#include "random.h"

#include <stdbool.h>

#define LARGE 40.0 /* e to minus that is nothing beside 1 */
#define TRIES 1000

/* Two numbers above 0 and below 1, each. */
struct pair {
    double u, v;
};

static double unit(uint32_t word)
{
    return (word + 0.5) * 0x1p-32;
}

static double power(double x)
{
    return x < -LARGE ? 0 : exact_exp(x < LARGE ? x : LARGE);
}

/* u^(1 / alpha) and v^(1 / alpha), if they add up to 1 at most: the share of the first. */
static bool draw_small(double alpha, struct pair p, double *x)
{
    double a = exact_log(p.u) / alpha, b = exact_log(p.v) / alpha;
    if (power(a) + power(b) > 1)
        return false;
    *x = b - a > LARGE ? 0 : b - a < -LARGE ? 1 : 1 / (1 + power(b - a));
    return true;
}

static bool draw_large(double alpha, struct pair p, double *x)
{
    double beta = 1 / sqrt(alpha), gamma = alpha + sqrt(alpha);
    double v = beta * exact_log(p.u / (1 - p.u)), w = alpha * power(v), z = p.u * p.u * p.v;
    double r = gamma * v - exact_log(4), s = alpha + r - w;
    *x = w / (alpha + w);
    if (s + 1 + exact_log(5) >= 5 * z)
        return true;
    return r + 2 * alpha * exact_log(2 * alpha / (alpha + w)) >= exact_log(z);
}

double beta_draw(double alpha, uint64_t key, const uint32_t counter[3])
{
    double x = 0.5;
    for (uint32_t block = 1; block < TRIES; block++) {
        const uint32_t all[4] = {counter[0], counter[1], counter[2], block};
        uint32_t words[4];
        philox(key, all, words);
        for (int i = 0; i < 4; i += 2) {
            struct pair p = {unit(words[i]), unit(words[i + 1])};
            if (alpha > 1 ? draw_large(alpha, p, &x) : draw_small(alpha, p, &x))
                return x;
        }
    }
    return 0.5;
}
