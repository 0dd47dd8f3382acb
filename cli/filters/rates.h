/* rates.h - the false-positive rate of a list: per lookup, and per line.
 *
 * A filter has a rate per lookup. A line may need several lookups: an address is looked up once for
 * each prefix length that the list has, a domain once for each number of labels. `build -p` asks
 * for a rate per line, and makes the filter for that rate divided by the most lookups that a line
 * can need. The quotient is stored in the file, and the number of lookups by a mark
 * (<bloomery/host/lists.h>): when keys of new widths are added, a line needs more lookups, and the
 * request stays what it was.
 */
#ifndef BLOOMERY_CLI_RATES_H
#define BLOOMERY_CLI_RATES_H

#include "io/line_words.h"
#include "text/json.h"
#include <bloomery/bloomery.h>

/* The most lookups that a line needs, and for how many the rate was requested. Either may be 0: not
 * known. */
typedef struct rates_lookups {
    unsigned now, requested;
} rates_lookups;
rates_lookups rates_lookups_of(const bly_list_info *facts);

/* Per line, from the rate per lookup: of a request, which was divided; and of what will happen, or
 * has. lookups > 0. */
double rates_requested(double per_lookup, unsigned lookups);
double rates_per_line(double per_lookup, unsigned lookups);

/* Whether the rate per line is above the one requested because a line needs more lookups than that
 * was for; and that in words. */
bool rates_are_widened(const bly_filter_info *s, rates_lookups lookups);
enum { RATES_TEXT = 192 };
char *rates_widened_text(const bly_filter_info *s, rates_lookups lookups, char out[RATES_TEXT]);

/* "1 in 1,000 lines, 1 in 3,000 lookups (up to 3 per line)": of a request. */
char *rates_text(double per_lookup, rates_lookups lookups, char out[RATES_TEXT]);

/* "rate_per_lookup_NAME", and "rate_per_line_NAME" unless lookups is 0. */
void rates_json(json *j, const char *name, double per_lookup, unsigned lookups);
/* The same of a request, after "lookups_per_line", which may be null. */
void rates_json_requested(json *j, double per_lookup, rates_lookups lookups);

#endif
