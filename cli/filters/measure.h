/* measure.h - a filter's false-positive rate, found by lookups.
 *
 * Keys that are not in the filter are looked up, and how often it says "maybe" is counted. Where a
 * line needs several lookups (rates.h), as many such keys stand for a line, and the line is a false
 * positive if one of them is: real lines could be members, of a block or domain in the list, and
 * nobody could tell. The keys are made so that none can be in the filter: 24 bytes, of which the
 * first eight hold a newline and a NUL (so no line of a text file, and no entry of a NUL-separated
 * one, is such a key), and the other sixteen are random, drawn from the system's generator at that
 * moment. Even a list of 2^48 keys of the same form, asked 2^48 times, would meet one of its own
 * with a chance of 2^-32; a million questions to a thousand million keys, with one of 2^-78. Every
 * "maybe" is therefore a false positive.
 *
 * A filter whose hash function is not at hand (its secret key was not given) is asked with random
 * hash values instead, which is what a good hash function makes of random keys.
 *
 * The interval is Wilson's score interval (1927): the rates under which a count like the one seen
 * is not among the least likely 5%. Unlike the usual one it is right for counts near zero too.
 */
#ifndef BLOOMERY_CLI_MEASURE_H
#define BLOOMERY_CLI_MEASURE_H

#include <bloomery/bloomery.h>

typedef struct measurement {
    uint64_t asked, wrong;  /* lines, and those that were false positives */
    uint64_t wrong_lookups; /* the same of asked * lookups lookups */
    unsigned lookups;       /* per line */
    double rate;            /* wrong / asked */
    double low, high;       /* of the 95% interval */
    bool hashes;            /* hash values were looked up, for want of its hash function */
} measurement;

/* Looks up so many lines, each by so many lookups (1: the rate per lookup). false: reported. */
bool measure(const bly_filter *f, uint64_t lines, unsigned lookups, measurement *out);

/* The measured rate is above what the filter promises by more than a tenth, and by more than chance
 * gives in one of a million measurements. */
bool measure_broken(const measurement *m, double promise);

/* It is above what the bits set in the filter give, by more than a tenth and more than that chance:
 * its hash function does not spread the keys asked for as it should. (That the interval alone is
 * above happens by chance in one measurement of forty.) */
bool measure_blames_hash(const measurement *m, double by_bits);

#endif
