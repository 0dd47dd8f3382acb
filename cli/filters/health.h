/* health.h - a filter's false-positive rates, and whether they are still those requested.
 *
 * A filter has a rate per lookup. A line may need several lookups: an address is looked up once for
 * each prefix length that the list has, a domain once for each number of labels. `build -p`
 * requests a rate per line, and creates the filter for that rate divided by the most lookups that a
 * line can need. The quotient is stored in the file, and the number of lookups in a mark
 * (<bloomery/host/lists.h>). If keys of new widths are added, a line needs more lookups, but the
 * requested rate does not change.
 *
 * A filter is planned for a number of keys and a rate. With more keys it continues to work, but its
 * rate rises. It counts as failing when the rate that its bits give is above the one requested by
 * more than a tenth, and by more than chance explains. Chance moves the share of bits set in a
 * filter of m bits by about 0.55 / sqrt(m) of its value, and so a false-positive rate p by about k
 * times that share, where k = log2(1/p) is the number of bits per key. A deviation of more than
 * five times this size is not chance, and neither is any excess in a filter with more keys than its
 * capacity. For a million bits that is 3% at a rate of 0.1%; it matters only for lists of a few
 * hundred keys.
 *
 * A filter that forgets keys has no capacity in this sense: any number of keys may be added.
 */
#ifndef BLOOMERY_CLI_HEALTH_H
#define BLOOMERY_CLI_HEALTH_H

#include "text/json.h"

#include <bloomery/bloomery.h>
#include <bloomery/host/lists.h>

/* A rate up to this many times the requested one is accepted. */
#define HEALTH_MARGIN 1.1

typedef enum health {
    HEALTH_GOOD,
    HEALTH_OVERFULL, /* failing, with more keys than its capacity */
    HEALTH_WORSE     /* failing with fewer keys: too many bits are set by chance, or the filter was
                        planned too small */
} health;
health health_of(const bly_filter_info *s);

/* Whether the filter has more different keys than its capacity. Keys are counted, or estimated if
 * the kind counts copies that take no space. */
bool health_past_capacity(const bly_filter_info *s);

/* "too full: about 2,000 keys (capacity: 1,000); false-positive rate ..."; without "too full: " if
 * the filter is not failing. */
enum { HEALTH_TEXT = 256 };
char *health_text(const bly_filter_info *s, char out[HEALTH_TEXT]);

/* Warns with that text if the filter is failing, and returns whether it is. */
bool health_warn(const char *path, const bly_filter_info *s);

/* A filter with a higher false-positive rate is not written. */
#define HEALTH_MAX_RATE 0.5
/* Whether the rate of a filter is at most HEALTH_MAX_RATE. If not, reports that the filter is not
 * worth writing, followed by `advice`: what to do instead. */
bool health_worth_writing(const char *path, const bly_filter_info *s, const char *advice);

/* ---- per lookup and per line ----------------------------------------------------------------- */

/* The most lookups that a line needs, and the number that the rate was requested for. 0: not
 * known. */
typedef struct rates_lookups {
    unsigned now, requested;
} rates_lookups;
rates_lookups rates_lookups_of(const bly_filter *list);

/* The requested rate per line, from the requested rate per lookup. lookups > 0. */
double rates_requested(double per_lookup, unsigned lookups);
/* The expected or current rate per line, from the expected or current rate per lookup. lookups > 0.
 */
double rates_per_line(double per_lookup, unsigned lookups);

/* Whether the rate per line is above the requested one because a line now needs more lookups. */
bool rates_are_widened(const bly_filter_info *s, rates_lookups lookups);
enum { RATES_TEXT = 192 };
/* Writes a text that says so. */
char *rates_widened_text(const bly_filter_info *s, rates_lookups lookups, char out[RATES_TEXT]);

/* A requested rate: "1 in 1,000 lines, 1 in 3,000 lookups (up to 3 per line)". */
char *rates_text(double per_lookup, rates_lookups lookups, char out[RATES_TEXT]);

/* Writes the members "rate_per_lookup_NAME" and "rate_per_line_NAME". A rate that is unknown
 * (per_lookup is NAN, or lookups is 0) is null. */
void rates_json(json *j, const char *name, double per_lookup, unsigned lookups);
/* Writes "lookups_per_line" (null if unknown), then the same members for the requested rate. */
void rates_json_requested(json *j, double per_lookup, rates_lookups lookups);

#endif
