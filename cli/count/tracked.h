/* tracked.h - what is certain of the estimates of a sketch.
 *
 * A sketch of counts answers for any key, too high at times. So keys are also followed in a table
 * of fixed size, as by the Space-Saving algorithm (Metwally, Agrawal and El Abbadi 2005): when a
 * key comes that is not in it, the one with the lowest count of eight makes room, and the sketch
 * says how often the new one came before. From then on it is counted exactly. Its count is the sum
 * of the two; only the first is an estimate, so no count is above the truth by more than that. A
 * key of which the sketch says that it never came before has an exact count.
 */
#ifndef BLOOMERY_CLI_TRACKED_H
#define BLOOMERY_CLI_TRACKED_H

#include <bloomery/bloomery.h>

typedef struct tracked_key {
    uint64_t fingerprint;
    uint64_t before; /* by the sketch */
    uint64_t since;  /* exactly; 0: there is no key here */
} tracked_key;

typedef struct tracked {
    tracked_key *keys;
    uint64_t buckets;
} tracked;

/* As many keys as fit into so many bytes, eight at least. false: there is no memory. */
bool tracked_open(tracked *t, uint64_t bytes);
void tracked_close(tracked *t); /* one that is all zero, too */
uint64_t tracked_bytes(const tracked *t);

/* The key has come once more; `sketch` is the sketch before that is noted there. */
tracked_key tracked_count(tracked *t, const bly_filter *sketch, bly_hash h);

/* What is known of a key; `since` is 0 if nothing is. */
tracked_key tracked_find(const tracked *t, bly_hash h);

#endif
