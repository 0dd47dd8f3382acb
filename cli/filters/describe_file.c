#include "filters/describe_parts.h"

#include "filters/health.h"
#include "filters/kind_words.h"
#include "io/line_words.h"
#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

enum { HEADER_BYTES = 64, BAR_CELLS = 24, BAR_MAX = 40, CELLS_TEXT = 96 };

card card_of(const char *path, const bly_file_info *header, const bly_filter *filter) {
    card c = {.path = path, .header = *header, .filter = filter};
    if (!filter)
        return c;
    BLY_INIT(c.stats);
    bly_filter_get_info(filter, &c.stats);
    /* Without its key a filter says "maybe" to every mark. */
    if (bly_filter_hasher(filter) && !kinds_can(header->geometry.kind, BLY_CARDINALITY_ONLY)) {
        bly_list_info facts = {.struct_size = sizeof facts};
        bly_list_examine(filter, &facts);
        c.type = facts.type;
        c.typed = c.type != BLY_LIST_NONE;
        c.marks = facts.marks;
        c.by_chance = facts.chance_levels;
        c.lookups = rates_lookups_of(&facts);
    } else if (header->key_rule != BLY_KEYS_UNRECORDED) {
        c.type = bly_list_type_of_rule(header->key_rule);
        c.typed = !kinds_can(header->geometry.kind, BLY_CARDINALITY_ONLY);
    }
    return c;
}

/* Of one built from no keys: what it has. */
static double bits_per_key(const card *c) {
    const uint64_t keys = c->header.capacity ? c->header.capacity : 1;
    return (double)bly_plan_bits(&c->header.geometry) / (double)keys;
}

static bool can(const card *c, uint32_t capabilities) {
    return kinds_can(c->header.geometry.kind, capabilities);
}

/* ---- the bar --------------------------------------------------------------------------------- */

char *card_bar(double share, unsigned cells, char out[CARD_BAR]) {
    static const char *const eighths[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    const bool blocks = message_utf8();
    if (cells > BAR_MAX)
        cells = BAR_MAX;
    share = share > 0 ? fmin(share, 1) : 0;
    /* A key or more shows; a bar is full only when nothing is left. */
    unsigned parts = (unsigned)floor(share * cells * 8);
    if (share > 0 && parts == 0)
        parts = 1;
    char *at = stpcpy(out, blocks ? "▕" : "[");
    for (unsigned i = 0; i < cells; i++) {
        const unsigned part = parts > 8 * i ? parts - 8 * i : 0;
        if (blocks)
            at = stpcpy(at, eighths[part < 8 ? part : 8]);
        else
            *at++ = part >= 4 ? '#' : ' ';
    }
    (void)stpcpy(at, blocks ? "▏" : "]");
    return out;
}

/* ---- for people ------------------------------------------------------------------------------ */

void card_line(FILE *to, const char *label, const char *format, ...) {
    va_list args;
    (void)fprintf(to, "  %s%-10s%s ", message_style_on(STDOUT_FILENO, STYLE_DIM), label,
                  message_style_off(STDOUT_FILENO));
    va_start(args, format);
    (void)vfprintf(to, format, args);
    va_end(args);
    (void)fputc('\n', to);
}

static message_style colour_of(const card *c) {
    if (health_of(&c->stats) == HEALTH_GOOD)
        return STYLE_GREEN;
    return c->stats.current_fpr > 2 * c->stats.requested_fpr ? STYLE_RED : STYLE_YELLOW;
}

static void print_shape(const card *c, FILE *to) {
    const bly_geometry *g = &c->header.geometry;
    char shape[KINDS_SHAPE], bytes[NUMBER_TEXT], exact[NUMBER_TEXT];
    const uint64_t file = c->header.body_bytes + HEADER_BYTES;
    card_line(to, "kind", "%s: %s", bly_kind_name(g->kind), kinds_meaning(g->kind));
    card_line(to, "shape", "%s", kinds_shape(g, shape));
    if (file < 1024)
        card_line(to, "file", "%s", number_bytes(file, bytes));
    else
        card_line(to, "file", "%s (%s bytes)", number_bytes(file, bytes),
                  number_grouped(file, exact));
}

static void print_hash(const card *c, FILE *to) {
    const unsigned long long seed = c->header.seed;
    const char *name = bly_hash_name(c->header.hash);
    if (c->header.keyed)
        card_line(to, "hash", "%s with a secret key, whose id is %016llx", name, seed);
    else if (bly_hash_is_custom(c->header.hash))
        card_line(to, "hash", "%s, tag %016llx", name, seed);
    else
        card_line(to, "hash", "%s, seed %llu", name, seed);
    if (c->typed)
        card_line(to, "type", "%s", line_type_words(c->type));
    else if (c->filter && !can(c, BLY_CARDINALITY_ONLY))
        card_line(to, "type", "%s",
                  c->header.keyed                      ? "not to be told without its key"
                  : bly_hash_is_custom(c->header.hash) ? "not to be told without its hash function"
                                                       : "several, or it is too full to tell");
}

/* Without the marks, which no user has put there. */
static uint64_t unmarked(const card *c, uint64_t keys) {
    return keys > c->marks ? keys - c->marks : 0;
}

/* Whether the count is not one of different keys, while the estimate is. */
static bool counts_copies(const card *c) {
    return can(c, BLY_CAN_COUNT) && !kinds_limit_copies(c->header.geometry.kind);
}

static void print_keys(const card *c, FILE *to) {
    char count[NUMBER_TEXT], room[NUMBER_TEXT], estimate[NUMBER_TEXT];
    char marks[NUMBER_TEXT + 32] = "";
    const double keys = c->stats.estimated_keys;
    const uint64_t most = unmarked(c, c->header.capacity);
    if (c->marks)
        (void)snprintf(marks, sizeof marks, " and %s%s marks", c->by_chance ? "at least " : "",
                       number_grouped(c->marks, count));
    (void)number_grouped(unmarked(c, c->header.count), count);
    if (!c->filter || can(c, BLY_CAN_BUILD))
        card_line(to, "keys", "%s counted%s%s", count, *marks ? "," : "", marks);
    else if (counts_copies(c) && isfinite(keys) && keys < 0x1p63)
        card_line(to, "keys", "%s counted, with their copies; %s different ones estimated%s%s",
                  count, number_grouped(unmarked(c, (uint64_t)llround(keys)), estimate),
                  *marks ? "," : "", marks);
    else if (isfinite(keys) && keys < 0x1p63)
        card_line(to, "keys", "%s counted, %s estimated%s%s", count,
                  number_grouped(unmarked(c, (uint64_t)llround(keys)), estimate), *marks ? "," : "",
                  marks);
    else
        card_line(to, "keys", "%s counted, too many to estimate%s%s", count, *marks ? "," : "",
                  marks);
    if (can(c, BLY_CAN_BUILD) && c->header.count == 0) {
        card_line(to, "capacity", "none: it was built from no keys");
        return;
    }
    const double bits = bits_per_key(c);
    card_line(to, "capacity", "%s%s key%s%s, %.*f bits per key",
              can(c, BLY_FORGETS) ? "the last " : "", number_grouped(most, room),
              most == 1 ? "" : "s", marks,
              bits < 9.95    ? 2
              : bits < 99.95 ? 1
                             : 0,
              bits);
}

/* One row of rates, per line or per lookup: `note` says which, if the label does not. */
static void print_rate(const card *c, FILE *to, const char *label, rates_lookups of,
                       const char *note) {
    char asked[NUMBER_TEXT], expected[NUMBER_TEXT], now[NUMBER_TEXT], one_in[NUMBER_TEXT];
    const double current = rates_per_line(c->stats.current_fpr, of.now);
    const double requested = rates_requested(c->header.fpr, of.requested);
    (void)number_percent(requested, asked);
    (void)number_percent(current, now);
    (void)number_one_in(current, one_in);
    if (!c->filter)
        card_line(to, label, "%s requested (%s)%s", asked, number_one_in(requested, one_in), note);
    else if (current > 0 && can(c, BLY_CAN_BUILD))
        card_line(to, label, "%s requested, %s by its construction (%s)%s", asked, now, one_in,
                  note);
    else if (current > 0)
        card_line(to, label, "%s requested, %s expected, %s current (%s)%s", asked,
                  number_percent(rates_per_line(c->stats.expected_fpr, of.now), expected), now,
                  one_in, note);
    else
        card_line(to, label, "%s requested, no false positives while it is empty%s", asked, note);
}

static void print_rates(const card *c, FILE *to) {
    const rates_lookups one = {1, 1};
    char note[CARD_LOOKUPS];
    if (c->lookups.now <= 1) {
        print_rate(c, to, "rate", one,
                   c->lookups.now ? ", per line and per lookup" : ", per lookup");
        return;
    }
    (void)card_lookups(c->lookups, note);
    if (c->by_chance)
        card_chance(to, c->type, rates_per_line(c->stats.current_fpr, c->lookups.now), note);
    else
        print_rate(c, to, "per line", c->lookups, note);
    print_rate(c, to, "per lookup", one, "");
}

/* The share of the capacity that is used. Up to it the count misses next to nothing, while the
 * estimate is off by chance; past it more and more keys look present already and are not counted.
 * What counts copies takes no more room for them, unless each has a slot. */
static double used_share(const bly_filter_info *s) {
    const double count = (double)s->count, room = (double)s->capacity;
    if (kinds_can(s->kind, BLY_CAN_COUNT) && !kinds_limit_copies(s->kind))
        return s->estimated_keys / room;
    return (count <= room ? count : fmax(count, s->estimated_keys)) / room;
}

/* A window is full when all its generations are, the one being filled too. */
static double window_share(const card *c) {
    bly_window_info w = {.struct_size = sizeof w};
    if (bly_window_get_info(c->filter, &w) != BLY_OK)
        return 0;
    return (double)c->stats.count / ((w.generations + 1.0) * (double)w.generation_keys);
}

/* What there is to fill. */
static const char *cells_of(bly_kind kind) {
    return kinds_hold_slots(kind)           ? "slots in use"
           : kinds_can(kind, BLY_CAN_COUNT) ? "counters in use"
                                            : "bits set";
}

/* "47.5% of its slots in use, 95.1% at its capacity", of which a cuckoo filter takes a few keys
 * more; "" for an overlay, whose parts differ. */
static char *cells_text(const card *c, char out[CELLS_TEXT]) {
    const bly_geometry *g = &c->header.geometry;
    int used =
        snprintf(out, CELLS_TEXT, "%.1f%% of its %s", 100 * c->stats.fill, cells_of(g->kind));
    if (g->kind == BLY_OVERLAY)
        out[0] = '\0';
    else if (!kinds_have_levels(g->kind))
        (void)snprintf(out + used, CELLS_TEXT - (size_t)used, ", %.1f%% %s",
                       100 * bly_plan_fill(g, (double)c->stats.capacity),
                       kinds_hold_slots(g->kind) ? "at its capacity" : "when full");
    return out;
}

static void print_fill(const card *c, FILE *to) {
    char bar[CARD_BAR], of[48] = "", text[HEALTH_TEXT], cells[CELLS_TEXT];
    const double used = can(c, BLY_FORGETS) ? window_share(c) : used_share(&c->stats);
    (void)cells_text(c, cells);
    if (used > 0 && used < 0.005)
        (void)snprintf(of, sizeof of, "less than 1%% of its capacity");
    else if (used < 100)
        (void)snprintf(of, sizeof of, "%.0f%% of its capacity", 100 * used);
    else
        (void)snprintf(of, sizeof of, "far more than its capacity");
    card_line(to, "fill", "%s%s%s %s%s%s", message_style_on(STDOUT_FILENO, colour_of(c)),
              card_bar(used, BAR_CELLS, bar), message_style_off(STDOUT_FILENO), of,
              *of && *cells ? "; " : "", cells);
    if (health_of(&c->stats) != HEALTH_GOOD)
        card_line(to, "health", "%s%s%s", message_style_on(STDOUT_FILENO, colour_of(c)),
                  health_text(&c->stats, text), message_style_off(STDOUT_FILENO));
}

/* Of any kind, also of one whose bits are not told. */
static void print_widened(const card *c, FILE *to) {
    char text[RATES_TEXT];
    if (c->filter && rates_are_widened(&c->stats, c->lookups))
        card_line(to, "health", "%s%s%s", message_style_on(STDOUT_FILENO, STYLE_YELLOW),
                  rates_widened_text(&c->stats, c->lookups, text),
                  message_style_off(STDOUT_FILENO));
}

static void print_window(const card *c, FILE *to) {
    bly_window_info w = {.struct_size = sizeof w};
    char keys[NUMBER_TEXT], active[NUMBER_TEXT], slice[NUMBER_TEXT], arrivals[NUMBER_TEXT];
    if (!c->filter || bly_window_get_info(c->filter, &w) != BLY_OK)
        return;
    (void)number_grouped(w.generation_keys, keys);
    (void)number_grouped(w.active_keys, active);
    if (w.span == 0) {
        card_line(to, "window",
                  "%u generations of %s arrival%s, and %s in the one being filled, "
                  "of %s key%s",
                  w.generations, keys, w.generation_keys == 1 ? "" : "s",
                  number_grouped(w.active_arrivals, arrivals), active,
                  w.active_keys == 1 ? "" : "s");
        return;
    }
    card_line(to, "window", "%u generations of %s key%s, and %s in the one being filled",
              w.generations, keys, w.generation_keys == 1 ? "" : "s", active);
    card_line(to, "clock", "%s; it spans %s ticks, a generation %s%s",
              number_grouped(w.now, active), number_grouped(w.span, keys),
              number_grouped(w.slice, slice),
              w.now > 1000000000000 ? " (of dedup, they are milliseconds)" : "");
}

static void print_levels(const card *c, FILE *to) {
    char count[NUMBER_TEXT], room[NUMBER_TEXT], now[NUMBER_TEXT], bytes[NUMBER_TEXT];
    for (size_t i = 0; i < bly_filter_level_count(c->filter); i++) {
        bly_filter_info s = {.struct_size = sizeof s};
        bly_filter_get_info(bly_filter_level(c->filter, i), &s);
        card_line(to, i ? "" : "levels", "%zu: %s of %s keys, %s, %s, %s now", i + 1,
                  number_grouped(s.count, count), number_grouped(s.capacity, room),
                  bly_kind_name(s.kind), number_bytes(s.bytes, bytes),
                  number_percent(s.current_fpr, now));
    }
}

void card_print(const card *c, FILE *to) {
    char name[MESSAGE_TEXT];
    (void)fprintf(to, "%s%s%s\n", message_style_on(STDOUT_FILENO, STYLE_BOLD),
                  message_escape(c->path, name, sizeof name), message_style_off(STDOUT_FILENO));
    print_shape(c, to);
    print_hash(c, to);
    if (can(c, BLY_CARDINALITY_ONLY)) {
        card_distinct(c, to);
        return;
    }
    print_keys(c, to);
    print_rates(c, to);
    if (c->filter && !can(c, BLY_CAN_BUILD))
        print_fill(c, to);
    print_widened(c, to);
    card_stuck(c, to);
    card_changes(c, to);
    print_window(c, to);
    if (c->filter && kinds_have_levels(c->header.geometry.kind))
        print_levels(c, to);
    if (can(c, BLY_FORGETS))
        card_line(to, "note", "forgets old keys: a \"no\" is about the window alone");
    if (c->header.approximate)
        card_line(to, "note",
                  "an intersection: it holds every common key, and perhaps some others");
}

/* ---- for programs ---------------------------------------------------------------------------- */

static void json_window(const card *c, json *j) {
    bly_window_info w = {.struct_size = sizeof w};
    if (bly_window_get_info(c->filter, &w) != BLY_OK)
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

static void json_levels(const card *c, json *j) {
    json_open(j, "levels", '[');
    for (size_t i = 0; i < bly_filter_level_count(c->filter); i++) {
        const bly_filter *level = bly_filter_level(c->filter, i);
        bly_filter_info s = {.struct_size = sizeof s};
        bly_filter_get_info(level, &s);
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

static void json_filter(const card *c, json *j) {
    const bly_filter_info *s = &c->stats;
    json_integer(j, "bits", s->bits);
    json_integer(j, "set_bits", s->set_bits);
    json_real(j, "fill", s->fill);
    json_real(j, "estimated_keys", s->estimated_keys);
    rates_json(j, "expected", s->expected_fpr, c->lookups.now);
    rates_json(j, "current", s->current_fpr, c->lookups.now);
    json_bool(j, "keeps_promise", health_of(s) == HEALTH_GOOD && !rates_are_widened(s, c->lookups));
    if (c->typed)
        json_text(j, "type", line_type_words(c->type));
    else
        json_null(j, "type");
    if (c->typed && bly_filter_hasher(c->filter))
        json_integer(j, "marks", c->marks);
    else
        json_null(j, "marks");
    if (kinds_have_levels(c->header.geometry.kind))
        json_levels(c, j);
    json_window(c, j);
    card_json_more(c, j);
}

void card_json(const card *c, FILE *to) {
    const bly_file_info *h = &c->header;
    const char *hash = bly_hash_name(h->hash);
    char id[20];
    json j = json_begin(to);
    json_text(&j, "file", c->path);
    json_integer(&j, "file_bytes", h->body_bytes + HEADER_BYTES);
    json_text(&j, "kind", bly_kind_name(h->geometry.kind));
    json_integer(&j, "hashes", h->geometry.hashes);
    json_integer(&j, "size", h->geometry.size);
    json_integer(&j, "detail", h->geometry.detail);
    json_bool(&j, "forgets", can(c, BLY_FORGETS));
    json_bool(&j, "foldable", (h->geometry.options & BLY_FOLDABLE) != 0);
    json_bool(&j, "textbook", (h->geometry.options & BLY_TEXTBOOK) != 0);
    json_text(&j, "hash", hash ? hash : "custom");
    json_bool(&j, "keyed", h->keyed);
    (void)snprintf(id, sizeof id, "%016llx", (unsigned long long)h->seed);
    if (h->keyed)
        json_text(&j, "key_id", id);
    else if (bly_hash_is_custom(h->hash))
        json_text(&j, "hash_tag", id);
    else
        json_integer(&j, "seed", h->seed);
    json_integer(&j, "capacity", h->capacity);
    json_integer(&j, "count", h->count);
    json_real(&j, "bits_per_key", bits_per_key(c));
    rates_json_requested(&j, h->fpr, c->lookups);
    json_bool(&j, "approximate", h->approximate);
    if (c->filter)
        json_filter(c, &j);
    json_end(&j);
}
