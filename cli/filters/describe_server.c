#include "filters/describe_server.h"

#include "filters/describe_parts.h"
#include "filters/health.h"
#include "filters/kind_words.h"
#include "filters/server_facts.h"
#include "text/message.h"
#include "text/numbers.h"

#include <bloomery/redis/filter.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { BAR_CELLS = 24 };

static bool is_gozero(const card_live *c) {
    return c->bitmap->form == BLY_BITMAP_GOZERO;
}

bool card_live_of(card_live *c, const remote *r, bool type) {
    bly_list_info known = {.struct_size = sizeof known};
    *c = (card_live){.name = r->at.name, .bitmap = bly_redis_filter_bitmap(r->filter)};
    if (!live_facts_look(r, &c->facts))
        return false;
    c->stats = live_facts_stats(c->bitmap, &c->facts);
    c->keyed = c->bitmap->hasher.id == BLY_HASH_SIPHASH;
    if (c->keyed && c->bitmap->key_rule != BLY_KEYS_UNRECORDED) {
        c->type = bly_list_type_of_rule(c->bitmap->key_rule);
        c->typed = true;
    }
    if (!type || c->keyed || is_gozero(c))
        return true;
    if (!live_facts_examine(r, &known))
        return false;
    c->type = known.type;
    c->typed = c->type != BLY_LIST_NONE;
    c->marks = known.marks;
    c->by_chance = known.chance_levels;
    c->lookups = rates_lookups_of(&known);
    return true;
}

/* Without the marks, which no user has put there. */
static uint64_t unmarked(const card_live *c, uint64_t keys) {
    return keys > c->marks ? keys - c->marks : 0;
}

/* ---- for people ------------------------------------------------------------------------------ */

static message_style colour_of(const bly_filter_info *s) {
    if (health_of(s) == HEALTH_GOOD)
        return STYLE_GREEN;
    return s->current_fpr > 2 * s->requested_fpr ? STYLE_RED : STYLE_YELLOW;
}

static void print_place(const card_live *c, FILE *to) {
    char bytes[NUMBER_TEXT], one[NUMBER_TEXT], on[64] = "";
    const unsigned shards = c->bitmap->shards;
    (void)number_bytes(c->facts.bytes, bytes);
    if (shards == 1) {
        card_line(to, "strings", "1, of %s", bytes);
        return;
    }
    if (c->facts.nodes > 1)
        (void)snprintf(on, sizeof on, ", on %u servers", (unsigned)c->facts.nodes);
    else
        (void)snprintf(on, sizeof on, ", all on one server");
    card_line(to, "strings", "%u, of %s each, %s in all%s", shards,
              number_bytes(bly_bitmap_shard_bytes(c->bitmap, 0), one), bytes, on);
}

static void print_hash(const card_live *c, FILE *to) {
    const bly_hasher *h = &c->bitmap->hasher;
    const char *name = bly_hash_name((bly_hash_id)h->id);
    if (c->keyed)
        card_line(to, "hash", "%s with a secret key, whose id is %016llx", name,
                  (unsigned long long)h->seed);
    else
        card_line(to, "hash", "%s, seed %llu", name, (unsigned long long)h->seed);
    if (c->typed)
        card_line(to, "type", "%s", line_type_words(c->type));
    else if (c->keyed)
        card_line(to, "type", "not to be told without its key");
}

static void print_keys(const card_live *c, FILE *to) {
    char count[NUMBER_TEXT], room[NUMBER_TEXT], number[NUMBER_TEXT], marks[NUMBER_TEXT + 32] = "";
    const double bits =
        (double)c->stats.bits / (double)(c->bitmap->capacity ? c->bitmap->capacity : 1);
    if (c->marks)
        (void)snprintf(marks, sizeof marks, " and %s%s marks", c->by_chance ? "at least " : "",
                       number_grouped(c->marks, number));
    card_line(to, "keys", "%s counted%s%s", number_grouped(unmarked(c, c->facts.count), count),
              *marks ? "," : "", marks);
    card_line(to, "capacity", "%s keys%s, %.1f bits per key",
              number_grouped(unmarked(c, c->bitmap->capacity), room), marks, bits);
}

static void print_rate(const card_live *c, FILE *to, const char *label, rates_lookups of,
                       const char *note) {
    char asked[NUMBER_TEXT], now[NUMBER_TEXT], one_in[NUMBER_TEXT];
    const double expected = rates_per_line(c->facts.expected_fpr, of.now);
    (void)number_percent(rates_requested(c->bitmap->fpr, of.requested), asked);
    if (expected > 0)
        card_line(to, label, "%s requested, %s expected for the number of its keys (%s)%s", asked,
                  number_percent(expected, now), number_one_in(expected, one_in), note);
    else
        card_line(to, label, "%s requested, no false positives while it is empty%s", asked, note);
}

static void print_rates(const card_live *c, FILE *to) {
    const rates_lookups one = {1, 1};
    char note[CARD_LOOKUPS];
    if (c->lookups.now <= 1) {
        print_rate(c, to, "rate", one,
                   c->lookups.now ? ", per line and per lookup" : ", per lookup");
        return;
    }
    (void)card_lookups(c->lookups, note);
    if (c->by_chance)
        card_chance(to, c->type, rates_per_line(c->facts.expected_fpr, c->lookups.now), note);
    else
        print_rate(c, to, "per line", c->lookups, note);
    print_rate(c, to, "per lookup", one, "");
}

static void print_fill(const card_live *c, FILE *to) {
    char bar[CARD_BAR], text[HEALTH_TEXT], widened[RATES_TEXT];
    const bly_filter_info *s = &c->stats;
    const double used = (double)s->count / (double)(s->capacity ? s->capacity : 1);
    card_line(to, "fill", "%s%s%s %s%.0f%% of its capacity",
              message_style_on(STDOUT_FILENO, colour_of(s)), card_bar(used, BAR_CELLS, bar),
              message_style_off(STDOUT_FILENO), used > 0 && used < 0.005 ? "less than " : "",
              used > 0 && used < 0.005 ? 1 : 100 * used);
    if (health_of(s) != HEALTH_GOOD)
        card_line(to, "health", "%s%s%s", message_style_on(STDOUT_FILENO, colour_of(s)),
                  health_text(s, text), message_style_off(STDOUT_FILENO));
    if (rates_are_widened(s, c->lookups))
        card_line(to, "health", "%s", rates_widened_text(s, c->lookups, widened));
}

/* go-zero's tells nothing of itself but its bits. */
static void print_gozero(const card_live *c, FILE *to) {
    char bits[NUMBER_TEXT], keys[NUMBER_TEXT], now[NUMBER_TEXT], one_in[NUMBER_TEXT];
    const double estimated = c->stats.estimated_keys;
    card_line(to, "kind", "go-zero: %d bits of a key anywhere in one string", BLY_BITMAP_HASHES);
    card_line(to, "bits", "%s, of which %.1f%% are set", number_grouped(c->stats.bits, bits),
              100 * c->stats.fill);
    print_place(c, to);
    if (isfinite(estimated) && estimated < 0x1p63)
        card_line(to, "keys", "%s estimated", number_grouped((uint64_t)llround(estimated), keys));
    else
        card_line(to, "keys", "too many to estimate");
    card_line(to, "rate", "%s current (%s), per lookup", number_percent(c->stats.current_fpr, now),
              number_one_in(c->stats.current_fpr, one_in));
}

static void print_expiry(const card_live *c, FILE *to) {
    char time[NUMBER_TEXT];
    if (c->facts.expires_ms < 0)
        card_line(to, "expires", "never");
    else
        card_line(to, "expires", "in %s", number_time((double)c->facts.expires_ms / 1000, time));
}

void card_live_print(const card_live *c, FILE *to) {
    char shape[KINDS_SHAPE], name[MESSAGE_TEXT];
    const bly_geometry *g = &c->bitmap->geometry;
    (void)fprintf(to, "%s%s%s\n", message_style_on(STDOUT_FILENO, STYLE_BOLD),
                  message_escape(c->name, name, sizeof name), message_style_off(STDOUT_FILENO));
    if (is_gozero(c)) {
        print_gozero(c, to);
        print_expiry(c, to);
        return;
    }
    card_line(to, "kind", "%s: %s", bly_kind_name(g->kind), kinds_meaning(g->kind));
    card_line(to, "shape", "%s", kinds_shape(g, shape));
    print_place(c, to);
    print_hash(c, to);
    print_keys(c, to);
    print_rates(c, to);
    print_fill(c, to);
    print_expiry(c, to);
    card_line(to, "stamp", "%016llx", (unsigned long long)c->bitmap->stamp);
}

/* ---- for programs ---------------------------------------------------------------------------- */

static void json_hash(const card_live *c, json *j) {
    const bly_hasher *h = &c->bitmap->hasher;
    char id[20];
    json_text(j, "hash", bly_hash_name((bly_hash_id)h->id));
    json_bool(j, "keyed", c->keyed);
    (void)snprintf(id, sizeof id, "%016llx", (unsigned long long)h->seed);
    if (c->keyed)
        json_text(j, "key_id", id);
    else
        json_integer(j, "seed", h->seed);
}

/* What only one of ours has. */
static void json_own(const card_live *c, json *j) {
    char stamp[20];
    json_integer(j, "hashes", c->bitmap->geometry.hashes);
    json_integer(j, "size", c->bitmap->geometry.size);
    json_hash(c, j);
    json_integer(j, "capacity", c->bitmap->capacity);
    json_integer(j, "count", c->facts.count);
    rates_json_requested(j, c->bitmap->fpr, c->lookups);
    json_bool(j, "keeps_promise",
              health_of(&c->stats) == HEALTH_GOOD && !rates_are_widened(&c->stats, c->lookups));
    if (c->typed)
        json_text(j, "type", line_type_words(c->type));
    else
        json_null(j, "type");
    if (c->typed && !c->keyed)
        json_integer(j, "marks", c->marks);
    else
        json_null(j, "marks");
    (void)snprintf(stamp, sizeof stamp, "%016llx", (unsigned long long)c->bitmap->stamp);
    json_text(j, "stamp", stamp);
}

void card_live_json(const card_live *c, FILE *to) {
    json j = json_begin(to);
    json_text(&j, "file", c->name);
    json_text(&j, "form", is_gozero(c) ? "go-zero" : "native");
    json_text(&j, "kind", bly_kind_name(c->bitmap->geometry.kind));
    json_integer(&j, "bits", c->stats.bits);
    json_integer(&j, "bytes", c->facts.bytes);
    json_integer(&j, "shards", c->bitmap->shards);
    json_integer(&j, "servers", c->facts.nodes);
    if (c->facts.expires_ms < 0)
        json_null(&j, "expires_ms");
    else
        json_integer(&j, "expires_ms", (uint64_t)c->facts.expires_ms);
    rates_json(&j, "current", c->stats.current_fpr, c->lookups.now);
    if (is_gozero(c)) {
        json_integer(&j, "set_bits", c->stats.set_bits);
        json_real(&j, "fill", c->stats.fill);
        json_real(&j, "estimated_keys", c->stats.estimated_keys);
    } else
        json_own(c, &j);
    json_end(&j);
}
