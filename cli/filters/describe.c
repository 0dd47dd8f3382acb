/* describe.c - the part of a filter's description that is the same for every kind.
 *
 * A description contains the facts of a handle, and those that a list records in its marks. Some
 * facts are unknown for a filter on a server, or if only the header of a file was read. Their rows
 * are omitted.
 */
#include "filters/describe.h"

#include "cli.h"
#include "filters/kind_words.h"
#include "io/list_lines.h"
#include "text/numbers.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { MAX_PREFIX_V4 = 32, MAX_PREFIX_V6 = 128, LEVELS_TEXT = 1024 };
enum { BAR_CELLS = 24, CELLS_TEXT = 96, MARKS_TEXT = NUMBER_TEXT + 32, LOOKUPS_TEXT = 80 };

bool describe(description *d, filter_handle *h, bool list) {
    *d = (description){.name = h->name,
                       .can = h->capabilities,
                       .filter = handle_filter(h),
                       .out = stdout,
                       .list = {.struct_size = sizeof d->list}};
    if (handle_get_facts(h, &d->facts, true) != BLY_OK)
        return handle_failed(h) == CLI_OK;
    if (!(h->capabilities & HANDLE_LOOKS_UP) || !(h->capabilities & HANDLE_DESCRIBES))
        return true;
    const bool wanted = list || d->filter;
    d->examined = wanted && !d->facts.key_missing;
    if (!d->examined) {
        d->list.type = bly_list_type_of_rule(d->facts.key_rule);
        d->lacks_key = wanted && (d->list.type == BLY_LIST_NONE || bly_list_is_typed(d->list.type));
        if (wanted && d->list.type != BLY_LIST_NONE && !bly_list_has_levels(d->list.type))
            d->lookups = (rates_lookups){1, 1};
        return true;
    }
    const bly_list_source source = handle_list(h);
    if (bly_list_examine_source(&source, &d->list) != BLY_OK)
        return handle_failed(h) == CLI_OK;
    d->lookups = (rates_lookups){d->list.lookups, d->list.requested_lookups};
    return true;
}

/* Whether the type is known. */
static bool is_typed(const description *d) {
    return d->list.type != BLY_LIST_NONE;
}

static bool is_within_rate(const description *d) {
    return health_of(&d->facts.info) == HEALTH_GOOD &&
           !rates_are_widened(&d->facts.info, d->lookups);
}

/* A filter that was built from no keys is treated as one with a single key. */
static double bits_per_key(const description *d) {
    const uint64_t keys = d->facts.info.capacity ? d->facts.info.capacity : 1;
    return (double)bly_plan_bits(&d->facts.geometry) / (double)keys;
}

/* ---- rows ------------------------------------------------------------------------------------ */

void describe_name(FILE *out, const char *name) {
    char text[MESSAGE_TEXT];
    (void)fprintf(out, "%s%s%s\n", message_style_on(fileno(out), STYLE_BOLD),
                  message_escape(name, text, sizeof text), message_style_off(fileno(out)));
}

void describe_row(FILE *out, const char *label, const char *format, ...) {
    va_list args;
    (void)fprintf(out, "  %s%-10s%s ", message_style_on(fileno(out), STYLE_DIM), label,
                  message_style_off(fileno(out)));
    va_start(args, format);
    (void)vfprintf(out, format, args);
    va_end(args);
    (void)fputc('\n', out);
}

char *describe_bar(double share, char out[DESCRIBE_BAR]) {
    static const char *const eighths[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    const bool blocks = message_utf8();
    share = share > 0 ? fmin(share, 1) : 0;
    /* Rounds down, so that the bar is full only if the whole capacity is used. But a single key
     * already shows. */
    unsigned parts = (unsigned)floor(share * BAR_CELLS * 8);
    if (share > 0 && parts == 0)
        parts = 1;
    char *at = stpcpy(out, blocks ? "▕" : "[");
    for (unsigned i = 0; i < BAR_CELLS; i++) {
        const unsigned part = parts > 8 * i ? parts - 8 * i : 0;
        if (blocks)
            at = stpcpy(at, eighths[part < 8 ? part : 8]);
        else
            *at++ = part >= 4 ? '#' : ' ';
    }
    (void)stpcpy(at, blocks ? "▏" : "]");
    return out;
}

/* ---- place, hash and type -------------------------------------------------------------------- */

static void print_place(const description *d) {
    const handle_facts *f = &d->facts;
    const char *bytes = NUMBER_BYTES(f->bytes);
    char on[64] = ", all on one server";
    if (f->nodes > 1)
        (void)snprintf(on, sizeof on, ", on %u servers", (unsigned)f->nodes);
    if (f->shards > 1)
        describe_row(d->out, "strings", "%u, of %s each, %s in all%s", (unsigned)f->shards,
                     NUMBER_BYTES(f->shard_bytes), bytes, on);
    else if (f->shards == 1)
        describe_row(d->out, "strings", "1, of %s", bytes);
    else if (f->bytes < 1024)
        describe_row(d->out, "file", "%s", bytes);
    else
        describe_row(d->out, "file", "%s (%s bytes)", bytes, NUMBER_GROUPED(f->bytes));
}

static void print_hash(const description *d) {
    const unsigned long long seed = d->facts.seed;
    const char *name = bly_hash_name(d->facts.hash);
    if (d->facts.keyed)
        describe_row(d->out, "hash", "%s with a secret key, whose id is %016llx", name, seed);
    else if (bly_hash_is_custom(d->facts.hash))
        describe_row(d->out, "hash", "%s, tag %016llx", name, seed);
    else
        describe_row(d->out, "hash", "%s, seed %llu", name, seed);
}

static void print_type(const description *d) {
    if (is_typed(d))
        describe_row(d->out, "type", "%s", line_type_words(d->list.type));
    else if (d->facts.key_missing && (d->can & HANDLE_LOOKS_UP))
        describe_row(d->out, "type", "%s",
                     d->facts.keyed ? "unknown without its key"
                                    : "unknown without its hash function");
    else if (d->examined)
        describe_row(d->out, "type", "unknown: keys of several types, or too many keys");
}

/* The levels from `first` to `last` that the list has, such as "/8, /16 to /24"; "" for none. */
static char *levels_text(const description *d, unsigned first, unsigned last, const char *sign,
                         char out[LEVELS_TEXT]) {
    size_t used = 0;
    out[0] = '\0';
    for (unsigned level = first; level <= last; level++) {
        const unsigned begin = level;
        if (!bly_list_levels_contain(&d->list.levels, level))
            continue;
        while (level < last && bly_list_levels_contain(&d->list.levels, level + 1))
            level++;
        used += (size_t)snprintf(out + used, LEVELS_TEXT - used, "%s%s%u", used ? ", " : "", sign,
                                 begin - first);
        if (level > begin)
            used += (size_t)snprintf(out + used, LEVELS_TEXT - used, "%s%s%u",
                                     level == begin + 1 ? ", " : " to ", sign, level - first);
    }
    return out;
}

static void print_levels(const description *d) {
    char v4[LEVELS_TEXT], v6[LEVELS_TEXT];
    const char *chance = d->list.chance_levels ? ", some of them by chance" : "";
    if (!d->examined || !is_typed(d) || !bly_list_has_levels(d->list.type))
        return;
    if (d->list.type == BLY_LIST_DOMAIN) {
        if (*levels_text(d, 0, BLY_LIST_LEVELS - 1, "", v4))
            describe_row(d->out, "labels", "%s per domain%s", v4, chance);
        return;
    }
    (void)levels_text(d, 0, MAX_PREFIX_V4, "/", v4);
    (void)levels_text(d, BLY_LIST_V6, BLY_LIST_V6 + MAX_PREFIX_V6, "/", v6);
    if (*v4 || *v6)
        describe_row(d->out, "prefixes", "%s%s%s%s%s%s", *v4 ? "IPv4 " : "", v4,
                     *v4 && *v6 ? "; " : "", *v6 ? "IPv6 " : "", v6, chance);
}

/* ---- number of keys -------------------------------------------------------------------------- */

/* The number of keys without the marks, which the user did not add. */
static uint64_t unmarked(const description *d, uint64_t keys) {
    return keys > d->list.marks ? keys - d->list.marks : 0;
}

/* Whether the count includes copies of keys, while the estimate is of different keys. */
static bool counts_copies(const description *d) {
    return kinds_can(d->facts.geometry.kind, BLY_CAN_COUNT) &&
           !kinds_limit_copies(d->facts.geometry.kind);
}

/* Writes the estimated number of keys, or "" if it is not estimated. */
static char *estimate_text(const description *d, char out[64]) {
    const double keys = d->facts.info.estimated_keys;
    out[0] = '\0';
    if (!d->facts.has_bits || kinds_can(d->facts.geometry.kind, BLY_CAN_BUILD))
        return out;
    if (!isfinite(keys) || keys >= 0x1p63)
        return strcpy(out, "too many to estimate");
    (void)snprintf(out, 64,
                   counts_copies(d) ? "including copies; %s different keys estimated"
                                    : "%s estimated",
                   NUMBER_GROUPED(unmarked(d, (uint64_t)llround(keys))));
    return out;
}

static bool has_no_capacity(const description *d) {
    const bly_filter_info *s = &d->facts.info;
    return unmarked(d, s->capacity) == 0 || (kinds_can(s->kind, BLY_CAN_BUILD) && s->count == 0);
}

static void print_keys(const description *d) {
    const bly_filter_info *s = &d->facts.info;
    char estimate[64], marks[MARKS_TEXT] = "";
    const double bits = bits_per_key(d);
    const uint64_t most = unmarked(d, s->capacity);
    if (d->list.marks)
        (void)snprintf(marks, sizeof marks, " and %s%s marks",
                       d->list.chance_levels ? "at least " : "", NUMBER_GROUPED(d->list.marks));
    else if (d->lacks_key)
        (void)strcpy(marks, ", including any marks");
    (void)estimate_text(d, estimate);
    describe_row(d->out, "keys", "%s counted%s%s%s%s", NUMBER_GROUPED(unmarked(d, s->count)),
                 *estimate ? ", " : "", estimate, *marks == ' ' ? "," : "", marks);
    if (has_no_capacity(d))
        describe_row(d->out, "capacity", "none: it was built from no keys");
    else
        describe_row(d->out, "capacity", "%s%s key%s%s, %.*f bits per key",
                     kinds_can(s->kind, BLY_FORGETS) ? "the last " : "", NUMBER_GROUPED(most),
                     most == 1 ? "" : "s", marks,
                     bits < 9.95    ? 2
                     : bits < 99.95 ? 1
                                    : 0,
                     bits);
}

/* ---- rates ----------------------------------------------------------------------------------- */

/* One row of rates, per line or per lookup; `note` is appended. */
static void print_rate(const description *d, const char *label, rates_lookups of,
                       const char *note) {
    const bly_filter_info *s = &d->facts.info;
    const double current = rates_per_line(s->current_fpr, of.now);
    const double requested = rates_requested(s->requested_fpr, of.requested);
    const char *requested_text = NUMBER_PERCENT(requested);
    const char *now = NUMBER_PERCENT(current), *one_in = NUMBER_ONE_IN(current);
    if (!d->facts.has_rates)
        describe_row(d->out, label, "%s requested (%s)%s", requested_text, NUMBER_ONE_IN(requested),
                     note);
    else if (!(current > 0))
        describe_row(d->out, label, "%s requested, no false positives while it is empty%s",
                     requested_text, note);
    else if (!d->facts.has_bits)
        describe_row(d->out, label, "%s requested, %s expected (%s)%s", requested_text, now, one_in,
                     note);
    else if (kinds_can(s->kind, BLY_CAN_BUILD))
        describe_row(d->out, label, "%s requested, %s by construction (%s)%s", requested_text, now,
                     one_in, note);
    else
        describe_row(d->out, label, "%s requested, %s expected, %s current (%s)%s", requested_text,
                     NUMBER_PERCENT(rates_per_line(s->expected_fpr, of.now)), now, one_in, note);
}

/* In a list that is too full, some levels are false positives. The rate that was requested per line
 * is then not known. */
static void print_chance(const description *d, const char *lookups) {
    const double rate = rates_per_line(d->facts.info.current_fpr, d->lookups.now);
    describe_row(d->out, "per line", "%s current (%s)%s; too full: some %s are false positives",
                 NUMBER_PERCENT(rate), NUMBER_ONE_IN(rate), lookups,
                 d->list.type == BLY_LIST_DOMAIN ? "numbers of labels" : "prefix lengths");
}

static void print_rates(const description *d) {
    const rates_lookups one = {1, 1}, of = d->lookups;
    char note[LOOKUPS_TEXT];
    if (of.now <= 1) {
        print_rate(d, "rate", one, of.now ? ", per line and per lookup" : ", per lookup");
        return;
    }
    const int used = snprintf(note, sizeof note, ", up to %u lookups", of.now);
    if (of.requested && of.requested != of.now)
        (void)snprintf(note + used, sizeof note - (size_t)used, " (requested for %u)",
                       of.requested);
    if (d->list.chance_levels)
        print_chance(d, note);
    else
        print_rate(d, "per line", of, note);
    print_rate(d, "per lookup", one, "");
}

/* ---- fill ------------------------------------------------------------------------------------ */

static message_style colour_of(const description *d) {
    const bly_filter_info *s = &d->facts.info;
    if (health_of(s) == HEALTH_GOOD)
        return STYLE_GREEN;
    return s->current_fpr > 2 * s->requested_fpr ? STYLE_RED : STYLE_YELLOW;
}

/* The share of the capacity that is used. Up to the capacity, the count misses almost no keys, and
 * the estimate has a random error. Above it, more and more new keys are false positives and are not
 * counted. Copies use no capacity, unless each has a slot. A window is full when all its
 * generations are full, including the current one. */
static double used_share(const description *d) {
    const bly_filter_info *s = &d->facts.info;
    const double marks = (double)d->list.marks, count = (double)unmarked(d, s->count);
    const double room = fmax(1, (double)unmarked(d, s->capacity));
    bly_window_info w = {.struct_size = sizeof w};
    if (d->filter && bly_window_get_info(d->filter, &w) == BLY_OK)
        return count / ((w.generations + 1.0) * (double)w.generation_keys);
    if (counts_copies(d))
        return fmax(0, s->estimated_keys - marks) / room;
    return (count <= room ? count : fmax(count, s->estimated_keys - marks)) / room;
}

/* What is filled, in words. */
static const char *cells_of(bly_kind kind) {
    return kinds_hold_slots(kind)           ? "slots in use"
           : kinds_can(kind, BLY_CAN_COUNT) ? "counters in use"
                                            : "bits set";
}

/* "47.5% of its slots in use, 95.1% at its capacity" (a cuckoo filter accepts a few keys more). ""
 * for an overlay, whose parts differ, and if the bits are not known. */
static char *cells_text(const description *d, char out[CELLS_TEXT]) {
    const bly_geometry *g = &d->facts.geometry;
    out[0] = '\0';
    if (g->kind == BLY_OVERLAY || !d->facts.has_bits)
        return out;
    const int used = snprintf(out, CELLS_TEXT, "; %.1f%% of its %s", 100 * d->facts.info.fill,
                              cells_of(g->kind));
    if (!kinds_have_levels(g->kind))
        (void)snprintf(out + used, CELLS_TEXT - (size_t)used, ", %.1f%% %s",
                       100 * bly_plan_fill(g, (double)d->facts.info.capacity),
                       kinds_hold_slots(g->kind) ? "at its capacity" : "when full");
    return out;
}

static void print_fill(const description *d) {
    char bar[DESCRIBE_BAR], of[48] = "", cells[CELLS_TEXT];
    const double used = used_share(d);
    if (used > 0 && used < 0.005)
        (void)snprintf(of, sizeof of, "less than 1%% of its capacity");
    else if (used < 100)
        (void)snprintf(of, sizeof of, "%.0f%% of its capacity", 100 * used);
    else
        (void)snprintf(of, sizeof of, "far more than its capacity");
    describe_row(d->out, "fill", "%s%s%s %s%s", message_style_on(fileno(d->out), colour_of(d)),
                 describe_bar(used, bar), message_style_off(fileno(d->out)), of,
                 cells_text(d, cells));
}

/* Prints what is unknown without the filter's key. */
static void print_unknown(const description *d) {
    const char *levels = d->list.type == BLY_LIST_DOMAIN ? "numbers of labels and "
                         : d->list.type == BLY_LIST_IP   ? "prefix lengths and "
                                                         : "";
    if (d->lacks_key)
        describe_row(d->out, "note", "%s%snumber of marks: unknown without its %s",
                     d->lookups.now ? ""
                     : *levels      ? "rate per line, "
                                    : "rate per line and ",
                     levels, d->facts.keyed ? "key; use --key-file" : "hash function");
}

static void print_health(const description *d) {
    const bly_filter_info *s = &d->facts.info;
    char text[HEALTH_TEXT], widened[RATES_TEXT];
    if (health_of(s) != HEALTH_GOOD && !kinds_can(s->kind, BLY_CAN_BUILD))
        describe_row(d->out, "health", "%s%s%s", message_style_on(fileno(d->out), colour_of(d)),
                     health_text(s, text), message_style_off(fileno(d->out)));
    if (rates_are_widened(s, d->lookups))
        describe_row(d->out, "health", "%s%s%s", message_style_on(fileno(d->out), STYLE_YELLOW),
                     rates_widened_text(s, d->lookups, widened), message_style_off(fileno(d->out)));
}

/* ---- text ------------------------------------------------------------------------------------ */

/* A filter of go-zero stores nothing but its bits. */
static void print_gozero(const description *d) {
    const bly_filter_info *s = &d->facts.info;
    char estimate[64];
    describe_row(d->out, "kind", "go-zero: %u bits per key, anywhere in one string",
                 (unsigned)s->hashes);
    describe_row(d->out, "bits", "%s, of which %.1f%% are set", NUMBER_GROUPED(s->bits),
                 100 * s->fill);
    print_place(d);
    describe_row(d->out, "keys", "%s", estimate_text(d, estimate));
    describe_row(d->out, "rate", "%s current (%s), per lookup", NUMBER_PERCENT(s->current_fpr),
                 NUMBER_ONE_IN(s->current_fpr));
}

static void print_native(const description *d) {
    const bly_geometry *g = &d->facts.geometry;
    char shape[KINDS_SHAPE];
    describe_row(d->out, "kind", "%s: %s", bly_kind_name(g->kind), kinds_meaning(g->kind));
    describe_row(d->out, "shape", "%s", kinds_shape(g, shape));
    print_place(d);
    print_hash(d);
    print_type(d);
    print_levels(d);
    if (kinds_can(d->facts.geometry.kind, BLY_CARDINALITY_ONLY)) {
        describe_distinct(d);
        return;
    }
    print_keys(d);
    print_rates(d);
    if (d->facts.has_rates && !has_no_capacity(d) && !kinds_can(g->kind, BLY_CAN_BUILD))
        print_fill(d);
    if (d->facts.has_rates)
        print_health(d);
    describe_stuck(d);
    describe_changes(d);
    describe_window(d);
    describe_levels(d);
    if (kinds_can(d->facts.geometry.kind, BLY_FORGETS))
        describe_row(d->out, "note", "old keys are forgotten: \"no\" means \"not in the window\"");
    print_unknown(d);
    if (d->facts.approximate)
        describe_row(d->out, "note",
                     "an intersection: it contains every common key, and perhaps some others");
}

void description_print(const description *d) {
    const handle_facts *f = &d->facts;
    describe_name(d->out, d->name);
    if (d->can & HANDLE_DESCRIBES)
        print_native(d);
    else
        print_gozero(d);
    if (f->shards && f->expires_ms < 0)
        describe_row(d->out, "expires", "never");
    else if (f->shards)
        describe_row(d->out, "expires", "in %s", NUMBER_TIME((double)f->expires_ms / 1000));
    if (f->stamp)
        describe_row(d->out, "stamp", "%016llx", (unsigned long long)f->stamp);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_place(const description *d, json *j) {
    const handle_facts *f = &d->facts;
    if (!f->shards) {
        json_integer(j, "file_bytes", f->bytes);
        return;
    }
    json_text(j, "form", d->can & HANDLE_DESCRIBES ? "native" : "go-zero");
    json_integer(j, "bytes", f->bytes);
    json_integer(j, "shards", f->shards);
    json_integer(j, "servers", f->nodes);
    json_integer_or_null(j, "expires_ms", f->expires_ms >= 0, (uint64_t)f->expires_ms);
}

static void json_id(json *j, const char *name, uint64_t id) {
    char text[20];
    (void)snprintf(text, sizeof text, "%016llx", (unsigned long long)id);
    json_text(j, name, text);
}

static void json_hash(const description *d, json *j) {
    const handle_facts *f = &d->facts;
    const char *hash = bly_hash_name(f->hash);
    json_text(j, "hash", hash ? hash : "custom");
    json_bool(j, "keyed", f->keyed);
    if (f->keyed)
        json_id(j, "key_id", f->seed);
    else if (bly_hash_is_custom(f->hash))
        json_id(j, "hash_tag", f->seed);
    else
        json_integer(j, "seed", f->seed);
}

/* Writes the parameters that the filter was created with. */
static void json_plan(const description *d, json *j) {
    const bly_geometry *g = &d->facts.geometry;
    json_integer(j, "hashes", g->hashes);
    json_integer(j, "size", g->size);
    json_integer(j, "detail", g->detail);
    json_bool(j, "forgets", kinds_can(d->facts.geometry.kind, BLY_FORGETS));
    json_bool(j, "foldable", (g->options & BLY_FOLDABLE) != 0);
    json_bool(j, "textbook", (g->options & BLY_TEXTBOOK) != 0);
    json_hash(d, j);
    json_integer(j, "capacity", d->facts.info.capacity);
    json_integer(j, "count", d->facts.info.count);
    json_real(j, "bits_per_key", bits_per_key(d));
    rates_json_requested(j, d->facts.info.requested_fpr, d->lookups);
    json_bool(j, "approximate", d->facts.approximate);
}

static void json_bits(const description *d, json *j) {
    const bly_filter_info *s = &d->facts.info;
    json_integer(j, "bits", s->bits);
    if (!d->facts.has_bits)
        return;
    json_integer(j, "set_bits", s->set_bits);
    json_real(j, "fill", s->fill);
    json_real(j, "estimated_keys", s->estimated_keys);
}

static void json_levels(const description *d, json *j, const char *name, unsigned first,
                        unsigned last) {
    if (!d->examined) {
        json_null(j, name);
        return;
    }
    json_open(j, name, '[');
    for (unsigned level = first; level <= last; level++)
        if (bly_list_levels_contain(&d->list.levels, level))
            json_integer(j, NULL, level - first);
    json_close(j, ']');
}

static void json_type(const description *d, json *j) {
    const bool known = is_typed(d) && d->examined;
    json_text(j, "type", line_type_words(d->list.type));
    json_integer_or_null(j, "marks", known, d->list.marks);
    if (!is_typed(d) || !bly_list_has_levels(d->list.type))
        return;
    if (known)
        json_bool(j, "levels_by_chance", d->list.chance_levels);
    else
        json_null(j, "levels_by_chance");
    if (d->list.type == BLY_LIST_DOMAIN)
        json_levels(d, j, "labels", 0, BLY_LIST_LEVELS - 1);
    if (d->list.type != BLY_LIST_IP)
        return;
    json_levels(d, j, "prefixes_ipv4", 0, MAX_PREFIX_V4);
    json_levels(d, j, "prefixes_ipv6", BLY_LIST_V6, BLY_LIST_V6 + MAX_PREFIX_V6);
}

void description_json(const description *d) {
    const bly_filter_info *s = &d->facts.info;
    const bool describes = (d->can & HANDLE_DESCRIBES) != 0;
    json j = json_begin(stdout);
    json_text(&j, "file", d->name);
    json_place(d, &j);
    json_text(&j, "kind", bly_kind_name(d->facts.geometry.kind));
    if (describes)
        json_plan(d, &j);
    if (d->facts.has_rates) {
        json_bits(d, &j);
        if (describes)
            rates_json(&j, "expected", s->expected_fpr, d->lookups.now);
        rates_json(&j, "current", d->facts.has_bits ? s->current_fpr : NAN, d->lookups.now);
    }
    if (d->facts.has_rates && describes) {
        json_bool(&j, "within_requested_rate", is_within_rate(d));
        json_type(d, &j);
        describe_kind_json(d, &j);
    }
    if (d->facts.stamp)
        json_id(&j, "stamp", d->facts.stamp);
    json_end(&j);
}
