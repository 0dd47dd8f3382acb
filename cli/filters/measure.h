/* measure.h - measures the false-positive rate of a filter by lookups, and estimates how many
 * distinct keys a sketch has counted, both with a 95% confidence interval.
 *
 * To measure a rate, keys that are not in the filter are looked up, and false positives are
 * counted. If a line needs several lookups (health.h), a line is represented by that many keys, and
 * is a false positive if one of them is. Real lines cannot be used, because they could be members.
 * The keys are made so that none can be in the filter. They have 24 bytes: the first eight contain
 * a newline and a NUL, so that no line of a text file, and no entry of a NUL-separated one, is such
 * a key; the other sixteen are random, drawn from the system's generator at that moment. Even a
 * list of 2^48 keys of the same form would contain one of 2^48 such keys with a probability of
 * 2^-32, and a list of a thousand million keys one of a million with a probability of 2^-78. Every
 * match is therefore a false positive.
 *
 * If the filter's hash function is missing (its secret key was not given), random hash values are
 * looked up instead. A good hash function returns such values for random keys.
 *
 * The interval of a rate is Wilson's score interval (1927): the rates under which a count like this
 * one is not among the least likely 5%. Unlike the usual interval it is right for counts near zero,
 * too. The interval of a number of keys is the usual one, computed from the sketch's standard error
 * as for a normal distribution.
 */
#ifndef BLOOMERY_CLI_MEASURE_H
#define BLOOMERY_CLI_MEASURE_H

#include <bloomery/bloomery.h>

typedef struct measurement {
    uint64_t lines, positives; /* lines looked up, and how many were false positives */
    uint64_t positive_lookups; /* false positives among all lookups (lines * lookups) */
    unsigned lookups;          /* per line */
    double rate;               /* positives / lines */
    double low, high;          /* the 95% confidence interval */
    bool hashes; /* hash values were looked up, because the hash function is missing */
} measurement;

/* Measures the rate with `lines` lines, each with `lookups` lookups (1: measures the rate per
 * lookup). On failure, reports the error and returns false. */
bool measure(const bly_filter *f, uint64_t lines, unsigned lookups, measurement *out);

/* Whether the measured rate is more than 10% above the requested one, and the excess is so large
 * that chance causes it in fewer than one of a million measurements. */
bool measure_above(const measurement *m, double requested);

/* Whether the measured rate is above the rate that follows from the bits, by the same margins. If
 * so, the hash function does not distribute the keys evenly. (The lower end of the interval is
 * above it by chance in one of forty measurements, so the interval alone proves nothing.) */
bool measure_blames_hash(const measurement *m, double by_bits);

/* ---- how many distinct keys ------------------------------------------------------------------ */

typedef struct estimate {
    uint64_t keys;
    uint64_t low, high; /* the 95% interval; both are `keys` if the error is below half a key */
    double error;       /* the relative standard error */
} estimate;

/* Estimates how many distinct keys a filter of kind hll has counted. `most` is an upper limit of
 * the number of keys; UINT64_MAX: unknown. */
estimate estimate_of(const bly_filter *sketch, uint64_t most);

/* " (97 to 103 with 95% certainty)", or "" if low and high are equal. */
enum { ESTIMATE_RANGE = 96 };
char *estimate_range(const estimate *e, char out[ESTIMATE_RANGE]);

#endif
