/* Distribution functions: see distributions.h. */
#include "distributions.h"

/* Errors give NaN or infinity, never an exception: C is what calls. */
#define BOOST_MATH_DOMAIN_ERROR_POLICY               errno_on_error
#define BOOST_MATH_POLE_ERROR_POLICY                 errno_on_error
#define BOOST_MATH_OVERFLOW_ERROR_POLICY             errno_on_error
#define BOOST_MATH_EVALUATION_ERROR_POLICY           errno_on_error
#define BOOST_MATH_ROUNDING_ERROR_POLICY             errno_on_error
#define BOOST_MATH_INDETERMINATE_RESULT_ERROR_POLICY errno_on_error
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/hypergeometric.hpp>
#include <boost/math/distributions/non_central_chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/poisson.hpp>
#include <cmath>

using namespace boost::math;

double chi2_upper(double x, double df)
{
    return x <= 0 ? 1.0 : cdf(complement(chi_squared(df), x));
}

double chi2_lower(double x, double df)
{
    return x <= 0 ? 0.0 : cdf(chi_squared(df), x);
}

double normal_two_sided(double z)
{
    return 2 * cdf(complement(normal(), std::fabs(z)));
}

double normal_upper_quantile(double p)
{
    return quantile(complement(normal(), p));
}

double kolmogorov_upper(double d, double n)
{
    const double root = std::sqrt(n), x = d * (root + 0.12 + 0.11 / root);
    double sum = 0;
    for (int k = 1; k <= 100; k++)
        sum += (k % 2 ? 2 : -2) * std::exp(-2.0 * k * k * x * x);
    return x < 0.2 ? 1.0 : std::fmin(1.0, std::fmax(0.0, sum));
}

double poisson_lower(double k, double mean)
{
    return k < 0 ? 0.0 : cdf(poisson(mean), k);
}

double poisson_upper(double k, double mean)
{
    return k <= 0 ? 1.0 : cdf(complement(poisson(mean), k - 1));
}

double binomial_lower(double k, double n, double p)
{
    return k < 0 ? 0.0 : k >= n ? 1.0 : cdf(binomial(n, p), k);
}

double binomial_upper(double k, double n, double p)
{
    return k <= 0 ? 1.0 : k > n ? 0.0 : cdf(complement(binomial(n, p), k - 1));
}

void binomial_interval(double k, double n, double alpha, double *low, double *high)
{
    *low = k <= 0 ? 0.0 : binomial::find_lower_bound_on_p(n, k, alpha / 2);
    *high = k >= n ? 1.0 : binomial::find_upper_bound_on_p(n, k, alpha / 2);
}

double hypergeometric_at(unsigned k, unsigned marked, unsigned drawn, unsigned n)
{
    const bool possible = k <= marked && k <= drawn && drawn - k <= n - marked;
    return possible ? pdf(hypergeometric(marked, drawn, n), k) : 0.0;
}

static double log_choose(double n, double k)
{
    return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

double hypergeometric_sd(double marked, double drawn, double n)
{
    const double free = marked * (n - marked) * drawn * (n - drawn);
    return n > 1 && free > 0 ? std::sqrt(marked * (n - marked) / n * drawn / n * (n - drawn) / (n - 1)) : 0.0;
}

/* Of the two tails the lighter one is summed, from k outwards: exact where it matters, and short. */
double hypergeometric_z(double k, double marked, double drawn, double n, double share)
{
    const double at = std::exp(log_choose(marked, k) + log_choose(n - marked, drawn - k) - log_choose(n, drawn));
    const double rest = n - marked - drawn;
    const bool low = k < marked / n * drawn;
    double sum = 0, term = at;
    for (double i = k; term > 1e-17 * sum; low ? i-- : i++) {
        term *= low ? i * (rest + i) / ((marked - i + 1) * (drawn - i + 1))
                    : (marked - i) * (drawn - i) / ((i + 1) * (rest + i + 1));
        sum += term;
    }
    const double tail = std::fmin(1 - 1e-16, std::fmax(1e-300, sum + (low ? share : 1 - share) * at));
    const double z = quantile(complement(normal(), tail));
    return low ? -z : z;
}

double chi2_noncentrality(double df, double alpha, double power)
{
    const double critical = quantile(complement(chi_squared(df), alpha));
    return non_central_chi_squared::find_non_centrality(complement(df, critical, power));
}
