#include "filters/describe_parts.h"

#include "filters/kind_words.h"
#include "filters/measure.h"
#include "text/numbers.h"

#include <bloomery/host/describe.h>

static bool known(const card *c, uint32_t capabilities) {
    return c->filter && kinds_can(c->header.geometry.kind, capabilities);
}

/* ---- how many -------------------------------------------------------------------------------- */

void card_distinct(const card *c, FILE *to) {
    char keys[NUMBER_TEXT], range[ESTIMATE_RANGE], error[NUMBER_TEXT];
    if (c->filter) {
        const estimate e = estimate_of(c->filter, UINT64_MAX);
        card_line(to, "distinct", "%s%s", number_grouped(e.keys, keys), estimate_range(&e, range));
    }
    card_line(to, "error", "%s, the standard error", number_percent(c->header.fpr, error));
    card_line(to, "note", "it tells how many keys there are, not which");
}

static void json_distinct(const card *c, json *j) {
    const estimate e = estimate_of(c->filter, UINT64_MAX);
    json_open(j, "distinct", '{');
    json_integer(j, "keys", e.keys);
    json_integer(j, "low", e.low);
    json_integer(j, "high", e.high);
    json_real(j, "error", e.error);
    json_close(j, '}');
}

/* ---- counters -------------------------------------------------------------------------------- */

/* Counters that stay at their limit are of no more use to keys that are removed. When they are more
 * than a tenth of those in use, it is time for a new filter. */
static bool too_many_stuck(const card *c) {
    static const double most = 0.1;
    const double counters = (double)bly_geometry_counters(&c->header.geometry);
    return (double)c->stats.stuck > most * c->stats.fill * counters;
}

void card_stuck(const card *c, FILE *to) {
    char some[NUMBER_TEXT];
    if (!known(c, BLY_CAN_COUNT) || c->stats.stuck == 0)
        return;
    card_line(to, "stuck",
              "%s counter%s reached the limit, and stay%s there: keys that came so often cannot be "
              "removed%s",
              number_grouped(c->stats.stuck, some), c->stats.stuck == 1 ? " has" : "s have",
              c->stats.stuck == 1 ? "s" : "", too_many_stuck(c) ? "; build it again" : "");
}

/* ---- lookups per line -------------------------------------------------------------------------
 */

char *card_lookups(rates_lookups of, char out[CARD_LOOKUPS]) {
    const int used = snprintf(out, CARD_LOOKUPS, ", up to %u lookups", of.now);
    if (of.requested && of.requested != of.now)
        (void)snprintf(out + used, CARD_LOOKUPS - (size_t)used, " (requested for %u)",
                       of.requested);
    return out;
}

void card_chance(FILE *to, bly_list_type type, double rate, const char *lookups) {
    char now[NUMBER_TEXT], one_in[NUMBER_TEXT];
    card_line(to, "per line", "%s current (%s)%s: too full, %s seem to be present by chance",
              number_percent(rate, now), number_one_in(rate, one_in), lookups,
              type == BLY_LIST_DOMAIN ? "numbers of labels" : "prefix lengths");
}

/* ---- changes --------------------------------------------------------------------------------- */

static bool too_many_changes(const card *c, uint64_t changes) {
    return changes > bly_filter_count(c->filter) / 5;
}

void card_changes(const card *c, FILE *to) {
    bly_overlay_info info = {.struct_size = sizeof info};
    char gone[NUMBER_TEXT], more[NUMBER_TEXT], keys[NUMBER_TEXT], missed[NUMBER_TEXT];
    if (!c->filter || bly_overlay_get_info(c->filter, &info) != BLY_OK)
        return;
    const bly_filter *base = bly_overlay_base(c->filter);
    card_line(to, "over", "%s, of %s keys", bly_kind_name(bly_filter_geometry(base).kind),
              number_grouped(bly_filter_count(base), keys));
    card_line(to, "changes", "%s removed, %s added beside it%s", number_grouped(info.deleted, gone),
              number_grouped(info.added, more),
              too_many_changes(c, info.deleted + info.added)
                  ? "; that is more than a fifth of its keys: build the list again"
                  : "");
    if (c->stats.miss_bound > 0)
        card_line(to, "misses", "at most %s of the keys in it",
                  number_one_in(c->stats.miss_bound, missed));
}

static void json_changes(const card *c, json *j) {
    bly_overlay_info info = {.struct_size = sizeof info};
    if (bly_overlay_get_info(c->filter, &info) != BLY_OK)
        return;
    const bly_filter *base = bly_overlay_base(c->filter);
    json_open(j, "overlay", '{');
    json_text(j, "base", bly_kind_name(bly_filter_geometry(base).kind));
    json_integer(j, "base_keys", bly_filter_count(base));
    json_integer(j, "removed", info.deleted);
    json_integer(j, "added", info.added);
    json_real(j, "miss_bound", c->stats.miss_bound);
    json_bool(j, "rebuild", too_many_changes(c, info.deleted + info.added));
    json_close(j, '}');
}

void card_json_more(const card *c, json *j) {
    if (known(c, BLY_CARDINALITY_ONLY))
        json_distinct(c, j);
    if (known(c, BLY_CAN_COUNT) && bly_geometry_counters(&c->header.geometry)) {
        json_integer(j, "counters", bly_geometry_counters(&c->header.geometry));
        json_integer(j, "stuck", c->stats.stuck);
        json_bool(j, "rebuild", c->stats.stuck > 0 && too_many_stuck(c));
    }
    json_changes(c, j);
}
