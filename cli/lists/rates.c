#include "rates.h"

#include "keytype.h"
#include "kinds.h"
#include "numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

unsigned rates_lookups(const bly_filter *f) {
    keytype_levels levels;
    /* Without its key a filter says "maybe" to every mark. */
    if (!bly_filter_hasher(f) || kinds_can(bly_filter_geometry(f).kind, BLY_ONLY_COUNTS))
        return 0;
    const keytype type = keytype_recognise(f, &levels);
    return type == KEYTYPE_NONE ? 0 : keytype_most_tries(type, &levels);
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

char *rates_text(double per_lookup, unsigned lookups, char out[RATES_TEXT]) {
    char line[NUMBER_TEXT], lookup[NUMBER_TEXT];
    (void)number_one_in(per_lookup, lookup);
    if (lookups == 0) {
        (void)snprintf(out, RATES_TEXT, "%s lookups", lookup);
        return out;
    }
    (void)number_one_in(rates_requested(per_lookup, lookups), line);
    if (lookups == 1)
        (void)snprintf(out, RATES_TEXT, "%s lines (one lookup per line)", line);
    else
        (void)snprintf(out, RATES_TEXT, "%s lines, %s lookups (up to %u per line)", line, lookup,
                       lookups);
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

void rates_json_requested(json *j, double per_lookup, unsigned lookups) {
    if (lookups)
        json_integer(j, "lookups_per_line", lookups);
    else
        json_null(j, "lookups_per_line");
    put(j, "lookup", "requested", per_lookup);
    if (lookups)
        put(j, "line", "requested", rates_requested(per_lookup, lookups));
}
