/* plan_report.c - a plan for people: the recommended filter, a table of kinds, and remarks. */
#include "filters/kind_words.h"
#include "filters/line_window.h"
#include "plan/plan_answer.h"
#include "text/help_text.h"
#include "text/message.h"
#include "text/numbers.h"

#include <bloomery/redis/bitmap.h>
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

static unsigned width(void) {
    unsigned columns = message_columns(1);
    return columns < 100 ? columns : 100;
}

static void remark(const char *format, ...) PRINTF_LIKE(1, 2);

static void remark(const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)putchar('\n');
    text_wrap(stdout, text_all(text), 0, 0, width());
}

static void headline(const plan_answer *p) {
    const bly_advice *a = &p->choice;
    char within[NUMBER_TEXT + 8] = "";
    if (p->seconds)
        (void)snprintf(within, sizeof within, " within %s", NUMBER_SPAN(p->seconds));
    (void)printf("%s%s%s: %s for %s %s%s, FPR %s (%s)\n", message_style_on(1, STYLE_BOLD),
                 bly_kind_name(a->kind), message_style_off(1), NUMBER_BYTES(a->bytes),
                 NUMBER_GROUPED(a->needs.keys), a->needs.keys == 1 ? "key" : "keys", within,
                 NUMBER_PERCENT(a->fpr), NUMBER_ONE_IN(a->fpr));
}

/* A window by time, as dedup creates it, needs more memory than one whose keys come evenly
 * (filters/line_window.h). */
static void headline_of_dedup(const plan_answer *p) {
    const bly_advice *a = &p->choice;
    const line_window window = {
        .keys = a->needs.keys, .rate = a->needs.fpr, .span = 1000 * p->seconds};
    const uint64_t bytes = p->seconds ? line_window_bytes(&window) : 0;
    char text[256];
    if (bytes == 0)
        return;
    (void)snprintf(
        text, sizeof text,
        "bloomery dedup --window %s needs about %s for as many lines: they may all arrive "
        "at once, so each generation has room for all of them. This plan assumes that "
        "keys arrive evenly.",
        NUMBER_SPAN(p->seconds), NUMBER_BYTES(bytes));
    text_wrap(stdout, text_all(text), 0, 0, width());
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Widths of the columns whose texts have no fixed length, including the space before them. */
typedef struct widths {
    int name, keys; /* keys 0: that column is not shown */
} widths;

static widths measure(const plan_answer *p) {
    widths w = {4, p->needs.keys == 0 ? 7 : 0};
    for (size_t i = 0; i < p->count; i++) {
        const int name = (int)strlen(bly_kind_name(p->lines[i].kind));
        const int keys = (int)strlen(NUMBER_GROUPED(p->lines[i].advice.needs.keys)) + 2;
        w.name = name > w.name ? name : w.name;
        w.keys = w.keys && keys > w.keys ? keys : w.keys;
    }
    return w;
}

/* Prints what the kind is good for or, for the chosen kind, why it is recommended. */
static void put_reason(const plan_answer *p, const plan_line *line) {
    const char *text = line->kind == p->choice.kind ? p->choice.reason : line->advice.reason;
    char sentence[512];
    (void)snprintf(sentence, sizeof sentence, "%c%s.", toupper((unsigned char)*text), text + 1);
    text_wrap(stdout, text_all(sentence), 0, 4, width());
}

static void put_line(const plan_answer *p, const plan_line *line, widths w) {
    const bly_advice *a = &line->advice;
    const bool chosen = line->kind == p->choice.kind;
    (void)printf("%s%s %-*s%*s%11s%10.2f%13u%11s%s\n",
                 chosen ? message_style_on(1, STYLE_BOLD) : "", chosen ? "*" : " ", w.name,
                 bly_kind_name(line->kind), w.keys, w.keys ? NUMBER_GROUPED(a->needs.keys) : "",
                 NUMBER_BYTES(a->bytes), a->bits_per_key, a->cache_lines, NUMBER_PERCENT(a->fpr),
                 chosen ? message_style_off(1) : "");
    put_reason(p, line);
}

static void table(const plan_answer *p, bool all) {
    const widths w = measure(p);
    (void)printf("\n  %-*s%*s%11s%10s%13s%11s\n", w.name, "kind", w.keys, w.keys ? "keys" : "",
                 "size", "bits/key", "cache lines", "FPR");
    for (size_t i = 0; i < p->shown_count; i++)
        put_line(p, &p->lines[p->shown[i]], w);
    if (!all && p->shown_count < p->count)
        (void)printf("%zu more kind%s: --all\n", p->count - p->shown_count,
                     p->count - p->shown_count == 1 ? "" : "s");
    for (size_t i = 0; all && i < p->count; i++)
        if (p->lines[i].status == BLY_OK && !p->lines[i].shown)
            put_line(p, &p->lines[i], w);
    for (size_t i = 0; all && i < p->count; i++)
        if (p->lines[i].status != BLY_OK)
            (void)printf("%s  %-*s   %s%s\n", message_style_on(1, STYLE_DIM), w.name,
                         bly_kind_name(p->lines[i].kind), plan_why_not(p, &p->lines[i]),
                         message_style_off(1));
}

/* ---- remarks --------------------------------------------------------------------------------- */

static void remark_on_choice(const plan_answer *p) {
    if (!p->own_kind || p->suggested == BLY_KIND_NONE || p->suggested == p->choice.kind)
        return;
    remark("Without --kind, the planner recommends %s.", bly_kind_name(p->suggested));
}

/* A filter that grew by levels needs more memory than one created for all keys. */
static void remark_on_levels(const bly_advice *a) {
    if (!kinds_have_levels(a->kind) || a->needs.first_keys >= a->needs.keys)
        return;
    remark("The figures are those after growing to %u levels from a first level for %s keys. A "
           "better first guess (--first) saves memory.",
           a->geometry.hashes, NUMBER_GROUPED(a->needs.first_keys));
}

/* A filter that can double needs memory for that in advance. */
static void remark_on_doubling(const bly_advice *a) {
    char grown[NUMBER_TEXT + 64] = "";
    if (a->kind != BLY_GROWABLE_CUCKOO)
        return;
    const unsigned more = a->geometry.hashes - a->geometry.detail;
    if (a->needs.first_keys < a->needs.keys)
        (void)snprintf(grown, sizeof grown,
                       "The figures are those after growing from a capacity of %s keys. ",
                       NUMBER_GROUPED(a->needs.first_keys));
    if (more)
        remark("%sThe filter can double %u more time%s; each of these costs one bit per key until "
               "then.",
               grown, more, more == 1 ? "" : "s");
    else
        remark("%sThe filter cannot double again.", grown);
}

/* Counters of a fixed width get stuck if a key is added often, or by chance. */
static void remark_on_counters(const bly_advice *a) {
    static const double negligible = 1e-18;
    if (a->kind != BLY_COUNTING)
        return;
    const unsigned bits = a->geometry.detail, max = (1U << bits) - 1;
    const double chance = bly_plan_counter_overflow(&a->geometry, (double)a->needs.keys);
    remark("A counter of %u bits that has reached %u is stuck: it never decreases again. If every "
           "key is added once, %s %s stuck. If a key is added %u times, all its counters are.",
           bits, max, chance < negligible ? "no counter is" : NUMBER_ONE_IN(chance),
           chance < negligible ? "ever" : "counters is", max);
}

/* What happens if more keys are added than planned. */
static void remark_on_more(const plan_answer *p) {
    const bly_advice *a = &p->choice;
    const char *name = bly_kind_name(a->kind);
    const uint64_t twice = 2 * a->needs.keys, max = plan_max_keys(a);
    const char *percent = NUMBER_PERCENT(plan_rate_at(a, twice));
    if (kinds_can(a->kind, BLY_CAN_BUILD))
        remark("Once the filter is built, no key can be added. To add keys, build it again from "
               "all of them.");
    else if (plan_is_counted_window(p, a))
        remark("The FPR is that of a full window, which never contains more keys.");
    else if (p->seconds)
        remark("The FPR is that of a full window. If twice as many keys as planned come within %s, "
               "it is %s.",
               NUMBER_SPAN(p->seconds), percent);
    else if (max < twice)
        remark(
            "%s keys certainly fit. Soon after that the filter is full, and refuses further keys.",
            NUMBER_GROUPED(max));
    else
        remark("With twice as many keys as planned, the FPR of %s is %s.", name, percent);
}

/* How the filter is stored on a server. */
static void remark_on_strings(const plan_answer *p) {
    const bly_bitmap *b = &p->bitmap;
    if (!p->on_server)
        return;
    const char *all = NUMBER_BYTES(bly_bitmap_bytes(b));
    if (b->shards == 1)
        remark("On a server the filter is one string of %s. It needs no module.", all);
    else
        remark("On a server the filter is %u strings of %s each, %s in all. It needs no module. In "
               "a cluster the strings are spread evenly over %u slots.",
               (unsigned)b->shards, NUMBER_BYTES(bly_bitmap_shard_bytes(b, 0)), all,
               (unsigned)b->shards);
}

static void remarks(const plan_answer *p) {
    const bly_advice *a = &p->choice;
    remark("Cache lines: how many of them a lookup of a member reads. FPR: the expected "
           "false-positive rate per lookup, when all keys have been added.");
    remark_on_choice(p);
    remark_on_levels(a);
    remark_on_doubling(a);
    remark_on_counters(a);
    remark_on_more(p);
    remark_on_strings(p);
    if (a->keyed)
        remark("Untrusted keys must be hashed with siphash and a secret key. Otherwise an attacker "
               "can find keys that are false positives.");
}

void plan_print(const plan_answer *p, bool all) {
    headline(p);
    headline_of_dedup(p);
    table(p, all);
    remarks(p);
}
