/* rates.h - the false-positive rate of a list: per lookup, and per line.
 *
 * A filter has a rate per lookup. A line may need several lookups: an address is looked up once for
 * each prefix length that the list has, a domain once for each number of labels. `build -p` asks
 * for a rate per line, and makes the filter for that rate divided by the most lookups that a line
 * can need. Only the quotient is stored in the file.
 */
#ifndef BLOOMERY_CLI_RATES_H
#define BLOOMERY_CLI_RATES_H

#include "json.h"
#include <bloomery/bloomery.h>

/* The most lookups that a line needs. 0: not known, since the type of the list's keys is not. */
unsigned rates_lookups(const bly_filter *f);

/* Per line, from the rate per lookup: of a request, which was divided; and of what will happen, or
 * has. lookups > 0. */
double rates_requested(double per_lookup, unsigned lookups);
double rates_per_line(double per_lookup, unsigned lookups);

/* "1 in 1,000 lines, 1 in 3,000 lookups (up to 3 per line)": of a request. */
enum { RATES_TEXT = 160 };
char *rates_text(double per_lookup, unsigned lookups, char out[RATES_TEXT]);

/* "rate_per_lookup_NAME", and "rate_per_line_NAME" unless lookups is 0. */
void rates_json(json *j, const char *name, double per_lookup, unsigned lookups);
/* The same of a request, after "lookups_per_line", which may be null. */
void rates_json_requested(json *j, double per_lookup, unsigned lookups);

#endif
