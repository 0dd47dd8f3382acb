/* health.h - whether a filter still does what it was made for.
 *
 * A filter was made for so many keys, and with these answers wrongly at no more than the rate
 * asked. With more keys it goes on working, and answers wrongly more often. It counts as failing
 * when the rate that its bits give is above what was asked by more than a tenth, and by more than
 * chance. Chance moves the share of bits set in a filter of m bits by about 0.55 / sqrt(m) of its
 * value, and so a rate p of k bits by k times that, where k is about log2(1/p); more than five
 * times as much is no chance, and neither is anything in a filter with more keys than it was made
 * for. For a million bits that is 3% at a rate of 0.1%; only for lists of a few hundred keys does
 * it matter.
 *
 * A filter that forgets keys has no number of keys that it was made for in this sense: it may have
 * been given any number.
 */
#ifndef BLOOMERY_CLI_HEALTH_H
#define BLOOMERY_CLI_HEALTH_H

#include <bloomery/filter.h>

/* How far above the rate asked is still taken for the rate asked. */
#define HEALTH_MARGIN 1.1

typedef enum health {
    HEALTH_GOOD,
    HEALTH_OVERFULL, /* failing, with more keys than it was made for */
    HEALTH_WORSE     /* failing, though its keys are no more: they lie badly, or it was made too
                        small */
} health;
health health_of(const bly_filter_info *s);

/* Whether there are more different keys in it than it was made for: as counted, or, of a kind whose
 * count is one of copies that take no room, as estimated. */
bool health_past_capacity(const bly_filter_info *s);

/* "too full: about 2,000 keys in a filter made for 1,000: ..." and how often it is wrong. Of a good
 * one only the second half. */
enum { HEALTH_TEXT = 256 };
char *health_text(const bly_filter_info *s, char out[HEALTH_TEXT]);

/* Warns, with that text, if it is failing. */
bool health_warn(const char *path, const bly_filter_info *s);

/* A filter that says "maybe" to more than half of all keys is not worth writing. Reports and is
 * false if it is one; `advice` is what to do instead. */
bool health_worth_writing(const char *path, const bly_filter_info *s, const char *advice);

#endif
