/* Distribution functions, from Boost.Math: the one place that knows it. */
#ifndef DISTRIBUTIONS_H
#define DISTRIBUTIONS_H

#ifdef __cplusplus
extern "C" {
#endif

/* P(X >= x) and P(X <= x) of a chi-square variable with df degrees of freedom. */
double chi2_upper(double x, double df);
double chi2_lower(double x, double df);

/* P(|Z| >= |z|) of a standard normal variable; z with P(Z >= z) = p. */
double normal_two_sided(double z);
double normal_upper_quantile(double p);

/* P(D >= d) of Kolmogorov's statistic of n values from a continuous distribution, by its limit with Stephens' correction. */
double kolmogorov_upper(double d, double n);

/* P(X <= k) and P(X >= k) of Poisson and binomial variables. */
double poisson_lower(double k, double mean);
double poisson_upper(double k, double mean);
double binomial_lower(double k, double n, double p);
double binomial_upper(double k, double n, double p);

/* The exact interval of Clopper and Pearson: what chances p would give k of n with more than alpha / 2, in either direction. */
void binomial_interval(double k, double n, double alpha, double *low, double *high);

/*
 * The number k of marked ones among `drawn` of n, of which `marked` are: its standard deviation (0: it has but one
 * value), and k as a standard normal variable z, by Phi(z) = P(X < k) + share P(X = k). With a uniform `share`, z
 * is exactly normal, however few values k can have. Takes time in proportion to the standard deviation.
 */
double hypergeometric_sd(double marked, double drawn, double n);
double hypergeometric_z(double k, double marked, double drawn, double n, double share);

/* P(X = k) of the number of marked ones among `drawn` of n, of which `marked` are marked. */
double hypergeometric_at(unsigned k, unsigned marked, unsigned drawn, unsigned n);

/* The noncentrality that a chi-square test with df degrees of freedom at level alpha finds with probability `power`. */
double chi2_noncentrality(double df, double alpha, double power);

#ifdef __cplusplus
}
#endif
#endif
