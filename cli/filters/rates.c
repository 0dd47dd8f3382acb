#include "filters/rates.h"

#include "filters/health.h"
#include "text/numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

rates_lookups rates_lookups_of(const bly_list_info *facts) {
    return (rates_lookups){facts->lookups, facts->requested_lookups};
}

/* Without the last digit, which the division may have changed. */
double rates_requested(double per_lookup, unsigned lookups) {
    char digits[32];
    if (lookups == 1)
        return per_lookup;
    (void)snprintf(digits, sizeof digits, "%.14g", fmin(per_lookup * lookups, 1));
    return strtod(digits, NULL);
}

double rates_per_line(double per_lookup, unsigned lookups) {
    return lookups == 1 ? per_lookup : -expm1(lookups * log1p(-per_lookup));
}

bool rates_are_widened(const bly_filter_info *s, rates_lookups lookups) {
    return lookups.requested > 0 && lookups.now > lookups.requested &&
           rates_per_line(s->current_fpr, lookups.now) >
               HEALTH_MARGIN * rates_requested(s->requested_fpr, lookups.requested);
}

char *rates_widened_text(const bly_filter_info *s, rates_lookups lookups, char out[RATES_TEXT]) {
    char now[NUMBER_TEXT], asked[NUMBER_TEXT];
    (void)snprintf(out, RATES_TEXT,
                   "a line needs up to %u lookups instead of %u, and the false-positive rate per "
                   "line is now %s (requested: %s)",
                   lookups.now, lookups.requested,
                   number_percent(rates_per_line(s->current_fpr, lookups.now), now),
                   number_percent(rates_requested(s->requested_fpr, lookups.requested), asked));
    return out;
}

char *rates_text(double per_lookup, rates_lookups lookups, char out[RATES_TEXT]) {
    char line[NUMBER_TEXT], lookup[NUMBER_TEXT];
    (void)number_one_in(per_lookup, lookup);
    if (lookups.requested == 0) {
        (void)snprintf(out, RATES_TEXT, "%s lookups", lookup);
        return out;
    }
    (void)number_one_in(rates_requested(per_lookup, lookups.requested), line);
    if (lookups.now == 1)
        (void)snprintf(out, RATES_TEXT, "%s lines (one lookup per line)", line);
    else
        (void)snprintf(out, RATES_TEXT, "%s lines, %s lookups (up to %u per line)", line, lookup,
                       lookups.now);
    return out;
}

static void put(json *j, const char *unit, const char *name, double rate) {
    char full[64];
    (void)snprintf(full, sizeof full, "rate_per_%s_%s", unit, name);
    json_real(j, full, rate);
}

void rates_json(json *j, const char *name, double per_lookup, unsigned lookups) {
    put(j, "lookup", name, per_lookup);
    if (lookups)
        put(j, "line", name, rates_per_line(per_lookup, lookups));
}

void rates_json_requested(json *j, double per_lookup, rates_lookups lookups) {
    if (lookups.now)
        json_integer(j, "lookups_per_line", lookups.now);
    else
        json_null(j, "lookups_per_line");
    put(j, "lookup", "requested", per_lookup);
    if (lookups.requested)
        put(j, "line", "requested", rates_requested(per_lookup, lookups.requested));
}
