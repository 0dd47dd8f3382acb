/* describe_kinds.c - the rows of a description that only some kinds have: sketches, counters,
 * overlays, windows and levels. */
#include "filters/describe.h"

#include "filters/kind_words.h"
#include "filters/measure.h"
#include "text/numbers.h"

#include <bloomery/host/describe.h>

static bool known(const description *d, uint32_t capabilities) {
    return d->filter && kinds_can(d->facts.geometry.kind, capabilities);
}

/* ---- sketches -------------------------------------------------------------------------------- */

void describe_distinct(const description *d) {
    char range[ESTIMATE_RANGE];
    if (d->filter) {
        const estimate e = estimate_of(d->filter, UINT64_MAX);
        describe_row(d->out, "distinct", "%s%s", NUMBER_GROUPED(e.keys), estimate_range(&e, range));
    }
    describe_row(d->out, "error", "%s, the standard error",
                 NUMBER_PERCENT(d->facts.info.requested_fpr));
    describe_row(d->out, "note", "it counts different keys, and cannot look them up");
}

static void json_distinct(const description *d, json *j) {
    const estimate e = estimate_of(d->filter, UINT64_MAX);
    json_open(j, "distinct", '{');
    json_integer(j, "keys", e.keys);
    json_integer(j, "low", e.low);
    json_integer(j, "high", e.high);
    json_real(j, "error", e.error);
    json_close(j, '}');
}

/* ---- counters -------------------------------------------------------------------------------- */

/* Keys whose counters are all at the limit cannot be removed. If more than a tenth of the counters
 * in use are at the limit, the user should build a new filter. */
static bool too_many_stuck(const description *d) {
    static const double most = 0.1;
    const double counters = (double)bly_geometry_counters(&d->facts.geometry);
    return (double)d->facts.info.stuck > most * d->facts.info.fill * counters;
}

void describe_stuck(const description *d) {
    if (!known(d, BLY_CAN_COUNT) || d->facts.info.stuck == 0)
        return;
    describe_row(d->out, "stuck",
                 "%s counter%s reached the limit and will stay there: keys added that often cannot "
                 "be removed%s",
                 NUMBER_GROUPED(d->facts.info.stuck), d->facts.info.stuck == 1 ? " has" : "s have",
                 too_many_stuck(d) ? "; build the list again" : "");
}

/* ---- overlays -------------------------------------------------------------------------------- */

static bool too_many_changes(const description *d, uint64_t changes) {
    return changes > bly_filter_count(d->filter) / 5;
}

void describe_changes(const description *d) {
    bly_overlay_info info = {.struct_size = sizeof info};
    if (!d->filter || bly_overlay_get_info(d->filter, &info) != BLY_OK)
        return;
    const bly_filter *base = bly_overlay_base(d->filter);
    describe_row(d->out, "over", "%s with %s keys", bly_kind_name(bly_filter_geometry(base).kind),
                 NUMBER_GROUPED(bly_filter_count(base)));
    describe_row(d->out, "changes", "%s removed, %s added%s", NUMBER_GROUPED(info.deleted),
                 NUMBER_GROUPED(info.added),
                 too_many_changes(d, info.deleted + info.added)
                     ? "; more than a fifth of its keys: build the list again"
                     : "");
    if (d->facts.info.miss_bound > 0)
        describe_row(d->out, "misses", "at most %s of its keys",
                     NUMBER_ONE_IN(d->facts.info.miss_bound));
}

static void json_changes(const description *d, json *j) {
    bly_overlay_info info = {.struct_size = sizeof info};
    if (bly_overlay_get_info(d->filter, &info) != BLY_OK)
        return;
    const bly_filter *base = bly_overlay_base(d->filter);
    json_open(j, "overlay", '{');
    json_text(j, "base", bly_kind_name(bly_filter_geometry(base).kind));
    json_integer(j, "base_keys", bly_filter_count(base));
    json_integer(j, "removed", info.deleted);
    json_integer(j, "added", info.added);
    json_real(j, "miss_bound", d->facts.info.miss_bound);
    json_bool(j, "rebuild", too_many_changes(d, info.deleted + info.added));
    json_close(j, '}');
}

/* ---- windows --------------------------------------------------------------------------------- */

void describe_window(const description *d) {
    bly_window_info w = {.struct_size = sizeof w};
    if (!d->filter || bly_window_get_info(d->filter, &w) != BLY_OK)
        return;
    const char *keys = NUMBER_GROUPED(w.generation_keys), *active = NUMBER_GROUPED(w.active_keys);
    if (w.span == 0) {
        describe_row(d->out, "window",
                     "%u generations of %s arrival%s; the current one has %s, of %s key%s",
                     w.generations, keys, w.generation_keys == 1 ? "" : "s",
                     NUMBER_GROUPED(w.active_arrivals), active, w.active_keys == 1 ? "" : "s");
        return;
    }
    describe_row(d->out, "window", "%u generations of %s key%s; the current one has %s",
                 w.generations, keys, w.generation_keys == 1 ? "" : "s", active);
    describe_row(d->out, "clock", "%s; the window spans %s ticks, a generation %s%s",
                 NUMBER_GROUPED(w.now), NUMBER_GROUPED(w.span), NUMBER_GROUPED(w.slice),
                 w.now > 1000000000000 ? " (in dedup, ticks are milliseconds)" : "");
}

/* ---- levels ---------------------------------------------------------------------------------- */

void describe_levels(const description *d) {
    if (!d->filter || !kinds_have_levels(d->facts.geometry.kind))
        return;
    for (size_t i = 0; i < bly_filter_level_count(d->filter); i++) {
        const bly_filter_info s = filter_info(bly_filter_level(d->filter, i));
        describe_row(d->out, i ? "" : "levels", "%zu: %s of %s keys, %s, %s, %s now", i + 1,
                     NUMBER_GROUPED(s.count), NUMBER_GROUPED(s.capacity), bly_kind_name(s.kind),
                     NUMBER_BYTES(s.bytes), NUMBER_PERCENT(s.current_fpr));
    }
}

static void json_window(const description *d, json *j) {
    bly_window_info w = {.struct_size = sizeof w};
    if (bly_window_get_info(d->filter, &w) != BLY_OK)
        return;
    json_open(j, "window", '{');
    json_integer(j, "generations", w.generations);
    json_integer(j, "generation_keys", w.generation_keys);
    json_integer(j, "active_keys", w.active_keys);
    json_integer(j, "ordinal", w.ordinal);
    json_integer(j, "span", w.span);
    json_integer(j, "slice", w.slice);
    json_integer(j, "now", w.now);
    json_integer(j, "active_arrivals", w.active_arrivals);
    json_integer(j, "arrivals", w.arrivals);
    json_close(j, '}');
}

static void json_levels(const description *d, json *j) {
    json_open(j, "levels", '[');
    for (size_t i = 0; i < bly_filter_level_count(d->filter); i++) {
        const bly_filter *level = bly_filter_level(d->filter, i);
        const bly_filter_info s = filter_info(level);
        json_open(j, NULL, '{');
        json_text(j, "kind", bly_kind_name(s.kind));
        json_integer(j, "hashes", s.hashes);
        json_integer(j, "size", s.size);
        json_integer(j, "bytes", s.bytes);
        json_integer(j, "capacity", s.capacity);
        json_integer(j, "count", s.count);
        json_real(j, "estimated_keys", s.estimated_keys);
        json_real(j, "fill", s.fill);
        json_real(j, "rate_per_lookup_requested", s.requested_fpr);
        json_real(j, "rate_per_lookup_current", s.current_fpr);
        json_close(j, '}');
    }
    json_close(j, ']');
}

void describe_kind_json(const description *d, json *j) {
    if (!d->filter)
        return;
    if (kinds_have_levels(d->facts.geometry.kind))
        json_levels(d, j);
    json_window(d, j);
    if (known(d, BLY_CARDINALITY_ONLY))
        json_distinct(d, j);
    if (known(d, BLY_CAN_COUNT) && bly_geometry_counters(&d->facts.geometry)) {
        json_integer(j, "counters", bly_geometry_counters(&d->facts.geometry));
        json_integer(j, "stuck", d->facts.info.stuck);
        json_bool(j, "rebuild", d->facts.info.stuck > 0 && too_many_stuck(d));
    }
    json_changes(d, j);
}
