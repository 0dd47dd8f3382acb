/* mixture.h - a block's rate, averaged over how many keys blocks receive. Internal. */
#ifndef BLYI_FILTER_BINOMIAL_MEAN_H
#define BLYI_FILTER_BINOMIAL_MEAN_H

/* The rate of a block with i keys. Pure: of k and i alone. */
typedef double (*blyi_block_rate)(unsigned k, double i);

/* The mean of f(k, i) over i ~ Binomial(n, 1/z): what a block's rate f is on average when n keys
 * are spread over z blocks. */
double blyi_binomial_mean(double n, double z, blyi_block_rate f, unsigned k);

/* The same of m <= 4 functions at once, which is quicker. */
void blyi_binomial_means(double n, double z, const blyi_block_rate *f, unsigned m, unsigned k,
                         double *out);

/* f(k, i), for i that is a whole number. */
double blyi_memoised(blyi_block_rate f, unsigned k, double i);

/* The mean of a function that is not worth remembering. */
double blyi_binomial_mean_uncached(double n, double z, blyi_block_rate f, unsigned k);

#endif
