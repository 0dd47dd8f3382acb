/* measure.h - two numbers of a filter that are known only up to chance, each with the interval in
 * which the truth lies in 95 of 100 cases: its false-positive rate, measured by lookups, and how
 * many distinct keys a sketch has counted.
 *
 * To measure a rate, keys that are not in the filter are looked up, and false positives are
 * counted. Where a line needs several lookups (health.h), as many such keys stand for a line, and
 * the line is a false positive if one of them is. Real lines will not do: they could be members, of
 * a block or domain in the list, and nobody could tell. The keys are made so that none can be in
 * the filter. They have 24 bytes: the first eight contain a newline and a NUL, so that no line of a
 * text file, and no entry of a NUL-separated one, is such a key; the other sixteen are random,
 * drawn from the system's generator at that moment. Even a list of 2^48 keys of the same form would
 * meet one of its own in 2^48 lookups with a probability of 2^-32; a list of a thousand million
 * keys in a million lookups with one of 2^-78. Every match is therefore a false positive.
 *
 * Where the filter's hash function is missing (its secret key was not given), random hash values
 * are looked up instead, which is what a good hash function makes of random keys.
 *
 * The interval of a rate is Wilson's score interval (1927): the rates under which a count like this
 * one is not among the least likely 5%. Unlike the usual interval it is right for counts near zero
 * too. That of a number of keys is the normal one, with the sketch's standard error.
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

/* ---- how many distinct keys ------------------------------------------------------------------ */

typedef struct estimate {
    uint64_t keys;
    uint64_t low, high; /* the truth lies here in 95 of 100 cases; keys alone where that is certain
                           enough */
    double error;       /* the standard error, as a share */
} estimate;

/* Of a filter of kind hll. There are no more than `most` keys, that much is known; UINT64_MAX:
 * nothing is. */
estimate estimate_of(const bly_filter *sketch, uint64_t most);

/* "" for a number without doubt, else " (97 to 103 with 95% certainty)". */
enum { ESTIMATE_RANGE = 96 };
char *estimate_range(const estimate *e, char out[ESTIMATE_RANGE]);

#endif
