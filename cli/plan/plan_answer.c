#include "plan/plan_answer.h"

#include "filters/kind_words.h"
#include "filters/line_window.h"
#include "filters/server_filter.h"
#include "text/help_text.h"
#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"

#include <bloomery/filter.h>
#include <bloomery/redis/bitmap.h>
#include <ctype.h>
#include <string.h>

/* The advice is for counters of the usual width; with others only the size differs. */
static bly_status widen(bly_advice *a, uint32_t counter_bits) {
    bly_status status = bly_plan_counting(a->needs.keys, a->needs.fpr, counter_bits,
                                          a->needs.hash_bits, &a->geometry);
    if (status != BLY_OK)
        return status;
    a->bytes = bly_plan_bytes(&a->geometry);
    a->bits_per_key = 8 * (double)a->bytes / (double)a->needs.keys;
    a->fpr = bly_plan_fpr(&a->geometry, a->needs.keys, a->needs.hash_bits);
    a->cache_lines = a->kind == BLY_COUNTING ? a->geometry.hashes : a->cache_lines;
    return BLY_OK;
}

bly_status plan_kind(const plan_answer *p, bly_kind kind, bly_advice *out) {
    BLY_INIT(*out);
    bly_status status = bly_advise_kind(kind, &p->needs, out);
    const bool widens = p->counter_bits && kind == BLY_COUNTING;
    return status == BLY_OK && widens ? widen(out, p->counter_bits) : status;
}

void plan_fill_lines(plan_answer *p) {
    p->count = 0;
    for (bly_kind kind = bly_kind_next(BLY_KIND_NONE);
         kind != BLY_KIND_NONE && p->count < PLAN_KINDS; kind = bly_kind_next(kind)) {
        if (p->on_server && !remote_holds_kind(kind))
            continue;
        plan_line *line = &p->lines[p->count++];
        *line = (plan_line){.kind = kind};
        line->status = plan_kind(p, kind, &line->advice);
    }
}

/* ---- on a server ----------------------------------------------------------------------------- */

/* The kind that suits the rate; where that is to be found, or space matters, the better one. */
static bly_status choose_for_server(plan_answer *p) {
    bly_advice other = {.struct_size = sizeof other};
    if (p->needs.fpr > 0 && !(p->needs.flags & BLY_NEED_SPACE))
        return plan_kind(p, remote_kind(p->needs.fpr), &p->choice);
    const bly_status status = plan_kind(p, BLY_SPLIT512, &p->choice);
    const bly_status second = plan_kind(p, BLY_SBBF, &other);
    const bool better =
        p->needs.fpr > 0 ? other.bytes < p->choice.bytes : other.fpr < p->choice.fpr;
    if (second == BLY_OK && (status != BLY_OK || better))
        p->choice = other;
    return second == BLY_OK ? second : status;
}

/* For the size alone, for which a secret key does not matter. */
static bly_status hasher_for(const plan_answer *p, bly_hasher *out) {
    const bly_needs *needs = &p->choice.needs;
    if (p->hash && p->hash != BLY_HASH_SIPHASH && bly_hash_available(p->hash))
        return bly_hasher_init(out, p->hash, 0);
    return bly_hasher_default(out, needs->keys, needs->fpr, 0);
}

bly_status plan_on_server(plan_answer *p, bly_kind kind, uint64_t shards, const char **why) {
    *why = NULL;
    p->needs.flags &= ~(uint32_t)BLY_NEED_SHARE; /* its clients always do */
    bly_status status =
        kind == BLY_KIND_NONE ? choose_for_server(p) : plan_kind(p, kind, &p->choice);
    p->suggested = p->choice.kind;
    if (status != BLY_OK)
        return status;
    bly_bitmap_spec spec = {.struct_size = sizeof spec,
                            .capacity = p->choice.needs.keys,
                            .fpr = p->choice.needs.fpr,
                            .kind = p->choice.kind,
                            .shards = (uint32_t)shards};
    status = hasher_for(p, &spec.hasher);
    if (status == BLY_OK)
        status = bly_bitmap_plan(&spec, &p->bitmap);
    if (status == BLY_ETOOBIG)
        *why =
            shards
                ? "it cannot be cut into that number of strings: one holds 512 MB at most, and a "
                  "block at least; leave --shards out"
                : "it would take more than 4096 strings of 512 MB; split the keys among "
                  "several filters, or allow a higher rate";
    return status;
}

const char *plan_why_not(const plan_answer *p, const plan_line *line) {
    if (line->status == BLY_EUNSUPPORTED)
        return bly_advise_why_not(line->kind, &p->needs);
    if (line->status == BLY_EIMPOSSIBLE)
        return "it does not fit into the memory";
    if (line->status == BLY_ETOOBIG)
        return "it would need more than 32 TiB";
    if (line->status == BLY_ERATE)
        return "it cannot have so low a rate";
    return bly_strerror(line->status);
}

uint64_t plan_most_keys(const bly_advice *a) {
    bly_geometry g = a->geometry;
    if (kinds_can(a->kind, BLY_CAN_BUILD))
        return a->needs.keys;
    if (!kinds_hold_slots(a->kind) || kinds_have_levels(a->kind))
        return UINT64_MAX;
    if (kinds_grow(a->kind)) { /* as large as it can get */
        g.size <<= g.hashes - g.detail;
        g.hashes = g.detail;
    }
    return bly_plan_capacity(&g, 0.999, a->needs.hash_bits);
}

static double rate_at(const bly_advice *a, uint64_t keys) {
    double rate;
    bly_advice_expected_fpr(a, &keys, 1, &rate);
    return rate;
}

/* ---- for people ------------------------------------------------------------------------------ */

static unsigned width(void) {
    unsigned columns = message_columns(1);
    return columns < 100 ? columns : 100;
}

static void paragraph(FILE *to, const char *text) {
    (void)fputc('\n', to);
    text_wrap(to, text_all(text), 0, 0, width());
}

static void headline(const plan_answer *p, FILE *to) {
    const bly_advice *a = &p->choice;
    char size[NUMBER_TEXT], keys[NUMBER_TEXT], percent[NUMBER_TEXT], one_in[NUMBER_TEXT];
    char span[NUMBER_TEXT], within[NUMBER_TEXT + 8] = "";
    if (p->seconds)
        (void)snprintf(within, sizeof within, " within %s", number_span(p->seconds, span));
    (void)fprintf(to, "%s%s%s: %s for %s %s%s at a rate of %s (%s)\n",
                  message_style_on(1, STYLE_BOLD), bly_kind_name(a->kind), message_style_off(1),
                  number_bytes(a->bytes, size), number_grouped(a->needs.keys, keys),
                  a->needs.keys == 1 ? "key" : "keys", within, number_percent(a->fpr, percent),
                  number_one_in(a->fpr, one_in));
}

/* The reason as a sentence. */
static void reason(const plan_answer *p, FILE *to) {
    const char *text = p->choice.reason;
    char line[512];
    if (p->own_kind && p->suggested != BLY_KIND_NONE && p->suggested != p->choice.kind)
        (void)snprintf(line, sizeof line, "%c%s. Left to itself, the planner takes %s.",
                       toupper((unsigned char)*text), text + 1, bly_kind_name(p->suggested));
    else
        (void)snprintf(line, sizeof line, "%c%s.", toupper((unsigned char)*text), text + 1);
    paragraph(to, line);
}

/* Of the columns that hold large numbers, with their distance. */
typedef struct widths {
    int name, keys, bytes; /* keys 0: that column is not shown */
} widths;

static int wider(int width_so_far, const char *text) {
    int width_of_text = (int)strlen(text) + 3;
    return width_of_text > width_so_far ? width_of_text : width_so_far;
}

static widths measure(const plan_answer *p) {
    widths w = {12, p->needs.keys == 0 ? 7 : 0, 8};
    char text[NUMBER_TEXT];
    for (size_t i = 0; i < p->count; i++) {
        const int name = (int)strlen(bly_kind_name(p->lines[i].kind));
        w.name = name > w.name ? name : w.name;
        w.bytes = wider(w.bytes, number_grouped(p->lines[i].advice.bytes, text));
        if (w.keys)
            w.keys = wider(w.keys, number_grouped(p->lines[i].advice.needs.keys, text));
    }
    return w;
}

static void table_row(const plan_answer *p, const plan_line *line, widths w, FILE *to) {
    const bly_advice *a = &line->advice;
    char keys[NUMBER_TEXT], bytes[NUMBER_TEXT], size[NUMBER_TEXT], percent[NUMBER_TEXT];
    bool chosen = line->kind == p->choice.kind;
    (void)number_grouped(a->needs.keys, keys);
    (void)fprintf(
        to, "%s%s %-*s%*s%*s%11s%10.2f%6u%10s%s\n", chosen ? message_style_on(1, STYLE_BOLD) : "",
        chosen ? "*" : " ", w.name, bly_kind_name(line->kind), w.keys, w.keys ? keys : "", w.bytes,
        number_grouped(a->bytes, bytes), number_bytes(a->bytes, size), a->bits_per_key,
        a->cache_lines, number_percent(a->fpr, percent), chosen ? message_style_off(1) : "");
}

static void table(const plan_answer *p, FILE *to) {
    const widths w = measure(p);
    (void)fprintf(to, "\n  %-*s%*s%*s%11s%10s%6s%10s\n", w.name, "kind", w.keys,
                  w.keys ? "keys" : "", w.bytes, "bytes", "", "bits/key", "lines", "rate");
    for (size_t i = 0; i < p->count; i++)
        if (p->lines[i].status == BLY_OK)
            table_row(p, &p->lines[i], w, to);
    for (size_t i = 0; i < p->count; i++)
        if (p->lines[i].status != BLY_OK)
            (void)fprintf(to, "%s  %-*s   %s%s\n", message_style_on(1, STYLE_DIM), w.name,
                          bly_kind_name(p->lines[i].kind), plan_why_not(p, &p->lines[i]),
                          message_style_off(1));
}

/* How it got to its size. */
static void remark_on_levels(const bly_advice *a, FILE *to) {
    char text[512], keys[NUMBER_TEXT];
    if (!kinds_have_levels(a->kind) || a->needs.first_keys >= a->needs.keys)
        return;
    (void)snprintf(text, sizeof text,
                   "It is shown as it is after growing from a first level for %s keys to "
                   "%u levels. The better the first guess (--first), the less it takes.",
                   number_grouped(a->needs.first_keys, keys), a->geometry.hashes);
    paragraph(to, text);
}

/* And of one that doubles, which pays for that beforehand. */
static void remark_on_doubling(const bly_advice *a, FILE *to) {
    char text[512], keys[NUMBER_TEXT], grown[NUMBER_TEXT + 32] = "", room[128];
    if (a->kind != BLY_GROWABLE_CUCKOO)
        return;
    const unsigned more = a->geometry.hashes - a->geometry.detail;
    if (a->needs.first_keys < a->needs.keys)
        (void)snprintf(grown, sizeof grown, " after growing from %s keys",
                       number_grouped(a->needs.first_keys, keys));
    if (more)
        (void)snprintf(room, sizeof room,
                       "with room to double %u time%s more, each of which costs a bit per key "
                       "until then",
                       more, more == 1 ? "" : "s");
    else
        (void)snprintf(room, sizeof room, "and cannot double any more");
    (void)snprintf(text, sizeof text, "It is shown as it is%s, %s.", grown, room);
    paragraph(to, text);
}

/* What repeats, and bad luck, do to counters of a fixed width. */
static void remark_on_counters(const bly_advice *a, FILE *to) {
    static const double unheard_of = 1e-18;
    char text[512], share[NUMBER_TEXT];
    const unsigned bits = a->geometry.detail;
    if (a->kind != BLY_COUNTING)
        return;
    const double chance = bly_plan_counter_overflow(&a->geometry, (double)a->needs.keys);
    (void)number_one_in(chance, share);
    (void)snprintf(text, sizeof text,
                   "A counter of %u bits that has reached %u stays there for good. With every key "
                   "in once, %s%s; a key that comes %u times does it to all of its own.",
                   bits, (1U << bits) - 1, chance < unheard_of ? "none" : share,
                   chance < unheard_of ? " does" : " counters does", (1U << bits) - 1);
    paragraph(to, text);
}

/* dedup makes more of it. */
static void remark_on_time(const plan_answer *p, FILE *to) {
    const bly_advice *a = &p->choice;
    char text[512], size[NUMBER_TEXT], span[NUMBER_TEXT], keys[NUMBER_TEXT], rate[NUMBER_TEXT];
    const line_window window = {
        .keys = a->needs.keys, .rate = a->needs.fpr, .span = 1000 * p->seconds};
    const uint64_t bytes = p->seconds ? line_window_bytes(&window) : 0;
    if (bytes == 0)
        return;
    (void)snprintf(text, sizeof text,
                   "The keys are taken to come evenly. bloomery dedup --window %s, for %s lines at "
                   "%s, takes about %s: lines may come all at once, and each of its generations "
                   "has room for all of them.",
                   number_span(p->seconds, span), number_grouped(a->needs.keys, keys),
                   number_percent(a->needs.fpr, rate), number_bytes(bytes, size));
    paragraph(to, text);
}

/* What becomes of it when more keys come. */
static void remark_on_more(const bly_advice *a, FILE *to) {
    char text[512], keys[NUMBER_TEXT], percent[NUMBER_TEXT];
    const char *name = bly_kind_name(a->kind);
    const uint64_t twice = 2 * a->needs.keys, most = plan_most_keys(a);
    (void)number_percent(rate_at(a, twice), percent);
    (void)number_grouped(most, keys);
    if (kinds_can(a->kind, BLY_CAN_BUILD))
        (void)snprintf(text, sizeof text,
                       "It takes no other key once it is built; build it again from all of them.");
    else if (kinds_can(a->kind, BLY_FORGETS))
        (void)snprintf(text, sizeof text,
                       "The rate is that of the window at its fullest. By time, with twice as many "
                       "keys within it as planned, %s answers wrongly at %s.",
                       name, percent);
    else if (most < twice)
        (void)snprintf(
            text, sizeof text,
            "It is sure to take %s keys, and takes few more: then an add says that it is full.",
            keys);
    else
        (void)snprintf(text, sizeof text,
                       "With twice as many keys as planned, %s answers wrongly at %s.", name,
                       percent);
    paragraph(to, text);
}

/* How it lies on a server. */
static void remark_on_strings(const plan_answer *p, FILE *to) {
    char text[512], one[NUMBER_TEXT], all[NUMBER_TEXT];
    const bly_bitmap *b = &p->bitmap;
    if (!p->on_server)
        return;
    (void)number_bytes(bly_bitmap_bytes(b), all);
    if (b->shards == 1)
        (void)snprintf(text, sizeof text,
                       "On a server it is 1 string of %s, which needs no module.", all);
    else
        (void)snprintf(text, sizeof text,
                       "On a server it is %u strings of %s each, %s in all, which need no module. "
                       "In a cluster they lie in %u slots, spread evenly.",
                       (unsigned)b->shards, number_bytes(bly_bitmap_shard_bytes(b, 0), one), all,
                       (unsigned)b->shards);
    paragraph(to, text);
}

static void remarks(const plan_answer *p, FILE *to) {
    const bly_advice *a = &p->choice;
    paragraph(to,
              "Lines are the cache lines that a query for a key that is there reads. The rate is "
              "the share of keys never added that are taken for added ones, once all keys are "
              "in.");
    remark_on_levels(a, to);
    remark_on_doubling(a, to);
    remark_on_counters(a, to);
    remark_on_time(p, to);
    remark_on_more(a, to);
    remark_on_strings(p, to);
    if (a->keyed)
        paragraph(to, "Strangers choose the keys: they must be hashed with siphash under a secret "
                      "key, or a stranger can find keys that are always taken for added ones.");
}

void plan_print(const plan_answer *p, FILE *to) {
    headline(p, to);
    reason(p, to);
    table(p, to);
    remarks(p, to);
}

/* ---- for programs ---------------------------------------------------------------------------- */

static void advice_json(json *j, const bly_advice *a) {
    json_integer(j, "keys", a->needs.keys);
    json_integer(j, "bytes", a->bytes);
    json_real(j, "bits_per_key", a->bits_per_key);
    json_integer(j, "cache_lines", a->cache_lines);
    json_integer(j, "hashes", a->geometry.hashes);
    json_integer(j, "size", a->geometry.size);
    json_integer(j, "hash_bits", a->needs.hash_bits);
    json_real(j, "rate", a->fpr);
    json_real(j, "promised_rate", a->needs.fpr);
    if (plan_most_keys(a) < 2 * a->needs.keys) {
        json_null(j, "rate_at_twice_the_keys");
        json_integer(j, "most_keys", plan_most_keys(a));
    } else
        json_real(j, "rate_at_twice_the_keys", rate_at(a, 2 * a->needs.keys));
    if (kinds_grow(a->kind))
        json_integer(j, "first_keys", a->needs.first_keys);
    if (a->kind == BLY_COUNTING) {
        json_integer(j, "counter_bits", a->geometry.detail);
        json_real(j, "counter_overflow",
                  bly_plan_counter_overflow(&a->geometry, (double)a->needs.keys));
    }
}

/* null for what was to be found. */
static void question_json(json *j, const plan_answer *p) {
    const bly_needs *needs = &p->needs;
    static const struct {
        uint32_t flag;
        const char *name;
    } names[] = {
        {BLY_NEED_REMOVE, "deletes"},      {BLY_NEED_GROW, "grows"},
        {BLY_NEED_STATIC, "static"},       {BLY_NEED_WINDOW, "window"},
        {BLY_NEED_COUNTS, "counts"},       {BLY_NEED_SHARE, "shared"},
        {BLY_NEED_SECRET, "hostile-keys"}, {BLY_NEED_SPACE, "smallest"},
    };
    json_open(j, "asked", '{');
    needs->keys ? json_integer(j, "keys", needs->keys) : json_null(j, "keys");
    needs->fpr > 0 ? json_real(j, "rate", needs->fpr) : json_null(j, "rate");
    needs->bytes ? json_integer(j, "memory", needs->bytes) : json_null(j, "memory");
    if (p->seconds)
        json_integer(j, "window_seconds", p->seconds);
    json_open(j, "needs", '[');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (needs->flags & names[i].flag)
            json_text(j, NULL, names[i].name);
    json_close(j, ']');
    json_close(j, '}');
}

void plan_json(const plan_answer *p, FILE *to) {
    json j = json_begin(to);
    question_json(&j, p);
    json_text(&j, "kind", bly_kind_name(p->choice.kind));
    json_text(&j, "reason", p->choice.reason);
    json_bool(&j, "keyed", p->choice.keyed);
    advice_json(&j, &p->choice);
    if (p->on_server) {
        json_open(&j, "redis", '{');
        json_integer(&j, "shards", p->bitmap.shards);
        json_integer(&j, "shard_bytes", bly_bitmap_shard_bytes(&p->bitmap, 0));
        json_integer(&j, "bytes", bly_bitmap_bytes(&p->bitmap));
        json_close(&j, '}');
    }
    json_open(&j, "kinds", '[');
    for (size_t i = 0; i < p->count; i++) {
        const plan_line *line = &p->lines[i];
        json_open(&j, NULL, '{');
        json_text(&j, "kind", bly_kind_name(line->kind));
        json_bool(&j, "fits", line->status == BLY_OK);
        json_bool(&j, "chosen", line->kind == p->choice.kind);
        json_text(&j, "reason",
                  line->status == BLY_OK ? line->advice.reason : plan_why_not(p, line));
        if (line->status == BLY_OK)
            advice_json(&j, &line->advice);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_end(&j);
}
