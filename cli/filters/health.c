/* health.c - compares a filter's false-positive rates with those requested, in numbers and in
 * words. */
#include "filters/health.h"

#include "filters/kind_words.h"
#include "text/message.h"
#include "text/numbers.h"

#include <bloomery/host/describe.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The number of counters or bits that the keys are distributed over. */
static double cells_of(const bly_filter_info *s) {
    const bly_geometry g = {.kind = s->kind, .size = s->size, .hashes = s->hashes};
    const uint64_t counters = bly_geometry_counters(&g);
    return (double)(counters ? counters : s->bits);
}

bool health_past_capacity(const bly_filter_info *s) {
    const bool copies = kinds_can(s->kind, BLY_CAN_COUNT) && !kinds_limit_copies(s->kind);
    return copies ? s->estimated_keys > (double)s->capacity : s->count > s->capacity;
}

health health_of(const bly_filter_info *s) {
    const bool forgets = kinds_can(s->kind, BLY_FORGETS);
    const double deviation = 0.55 * -log2(s->requested_fpr) / sqrt(cells_of(s));
    const double chance = health_past_capacity(s) && !forgets ? 0 : 5 * deviation;
    const double limit = fmin(HEALTH_MARGIN * (1 + chance) * s->requested_fpr, 0.99);
    if (!(s->current_fpr > limit))
        return HEALTH_GOOD;
    return s->estimated_keys > (double)s->capacity ? HEALTH_OVERFULL : HEALTH_WORSE;
}

char *health_text(const bly_filter_info *s, char out[HEALTH_TEXT]) {
    static const char *const words[] = {"", "too full: ", "too many false positives: "};
    const char *word = words[health_of(s)];
    if (isfinite(s->estimated_keys) && s->estimated_keys < 0x1p63)
        (void)snprintf(out, HEALTH_TEXT,
                       "%sabout %s keys (capacity: %s); false-positive rate per lookup is now %s "
                       "(requested: %s)",
                       word, NUMBER_GROUPED((uint64_t)llround(s->estimated_keys)),
                       NUMBER_GROUPED(s->capacity), NUMBER_PERCENT(s->current_fpr),
                       NUMBER_PERCENT(s->requested_fpr));
    else
        (void)snprintf(out, HEALTH_TEXT,
                       "%severy bit is set (capacity: %s keys), so every lookup matches", word,
                       NUMBER_GROUPED(s->capacity));
    return out;
}

bool health_warn(const char *path, const bly_filter_info *s) {
    char text[HEALTH_TEXT];
    if (health_of(s) == HEALTH_GOOD)
        return false;
    message_warn("%s: %s; build a larger filter", path, health_text(s, text));
    return true;
}

bool health_worth_writing(const char *path, const bly_filter_info *s, const char *advice) {
    if (!(s->current_fpr > HEALTH_MAX_RATE))
        return true;
    return message_fail(
        "%s: was not written, because its false-positive rate per lookup would be %s; %s", path,
        NUMBER_PERCENT(s->current_fpr), advice);
}

/* ---- per lookup and per line ----------------------------------------------------------------- */

rates_lookups rates_lookups_of(const bly_filter *list) {
    bly_list_info info = {.struct_size = sizeof info};
    bly_list_examine(list, &info);
    return (rates_lookups){info.lookups, info.requested_lookups};
}

/* Rounds away the last digits, which the division may have changed. */
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
    (void)snprintf(out, RATES_TEXT,
                   "a line now needs up to %u lookups instead of %u, so the false-positive rate "
                   "per line is %s (requested: %s)",
                   lookups.now, lookups.requested,
                   NUMBER_PERCENT(rates_per_line(s->current_fpr, lookups.now)),
                   NUMBER_PERCENT(rates_requested(s->requested_fpr, lookups.requested)));
    return out;
}

char *rates_text(double per_lookup, rates_lookups lookups, char out[RATES_TEXT]) {
    const char *lookup = NUMBER_ONE_IN(per_lookup);
    const char *line =
        lookups.requested ? NUMBER_ONE_IN(rates_requested(per_lookup, lookups.requested)) : NULL;
    if (!line)
        (void)snprintf(out, RATES_TEXT, "%s lookups", lookup);
    else if (lookups.now == 1)
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
    put(j, "line", name, lookups ? rates_per_line(per_lookup, lookups) : NAN);
}

void rates_json_requested(json *j, double per_lookup, rates_lookups lookups) {
    json_integer_or_null(j, "lookups_per_line", lookups.now, lookups.now);
    put(j, "lookup", "requested", per_lookup);
    put(j, "line", "requested",
        lookups.requested ? rates_requested(per_lookup, lookups.requested) : NAN);
}
