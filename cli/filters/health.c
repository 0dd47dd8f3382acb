#include "filters/health.h"

#include "filters/kind_words.h"
#include "text/message.h"
#include "text/numbers.h"

#include <bloomery/host/describe.h>
#include <math.h>
#include <stdio.h>

/* What chance has filled: counters, or bits. */
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
    static const char *const words[] = {"", "too full: ", "wrong too often: "};
    char keys[NUMBER_TEXT], room[NUMBER_TEXT], now[NUMBER_TEXT], asked[NUMBER_TEXT];
    const char *word = words[health_of(s)];
    (void)number_grouped(s->capacity, room);
    (void)number_percent(s->current_fpr, now);
    (void)number_percent(s->requested_fpr, asked);
    if (isfinite(s->estimated_keys) && s->estimated_keys < 0x1p63)
        (void)snprintf(out, HEALTH_TEXT,
                       "%sabout %s keys in a filter made for %s; false-positive rate per lookup is "
                       "now %s (requested: %s)",
                       word, number_grouped((uint64_t)llround(s->estimated_keys), keys), room, now,
                       asked);
    else
        (void)snprintf(out, HEALTH_TEXT,
                       "%severy bit of a filter made for %s keys is set; every lookup matches",
                       word, room);
    return out;
}

bool health_warn(const char *path, const bly_filter_info *s) {
    char text[HEALTH_TEXT];
    if (health_of(s) == HEALTH_GOOD)
        return false;
    message_warn("%s: is %s; build a larger one", path, health_text(s, text));
    return true;
}

bool health_worth_writing(const char *path, const bly_filter_info *s, const char *advice) {
    char now[NUMBER_TEXT];
    if (!(s->current_fpr > 0.5))
        return true;
    (void)message_error("%s: is not written: its false-positive rate per lookup would be %s; %s",
                        path, number_percent(s->current_fpr, now), advice);
    return false;
}
