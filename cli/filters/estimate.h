/* estimate.h - how many different keys a sketch has seen, and how sure that is. */
#ifndef BLOOMERY_CLI_ESTIMATE_H
#define BLOOMERY_CLI_ESTIMATE_H

#include <bloomery/bloomery.h>

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
