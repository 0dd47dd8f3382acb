/* `bloomery plan`: which filter, how large, how often wrong. */
#include "cli.h"
#include "common_options.h"
#include "plan/plan_answer.h"
#include "plan/plan_svg.h"
#include "plan/plot.h"
#include "text/message.h"
#include "text/numbers.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double default_rate = 0.001;

enum { PLOT_ALWAYS = 2, PLOT_NEVER = 3 };

typedef struct values {
    uint64_t keys, memory, first, shards;
    double rate;
    const char *window;
    bool deletes, grows, fixed, counts, shared, hostile, smallest;
    bly_kind kind;
    unsigned counter_bits; /* 0, or the number of the choice */
    bly_hash_id hash;
    unsigned plot;
    const char *svg;
    bool force, json, plain, all;
} values;

#define AT(field) offsetof(values, field)

static const char window_left_out[] = "as many as --expect";

static const cli_option options[] = {
    OPTION_EXPECT(
        AT(keys),
        "The number of different keys. By default as many as fit into --memory at --rate."),
    OPTION_RATE(AT(rate), "The false-positive rate: 0.001, 0.1%, 1/1000. By default 0.1%, or with "
                          "both --expect and --memory the lowest rate that they allow."),
    OPTION_MEMORY(
        AT(memory),
        "The most memory that the filter may take; by default what --expect and --rate need."),
    {.name = "deletes", .type = CLI_FLAG, .at = AT(deletes), .help = "Keys will be removed."},
    {.name = "grows",
     .type = CLI_FLAG,
     .at = AT(grows),
     .help = "More keys than expected may be added, and the rate must still hold."},
    {.name = "first",
     .type = CLI_COUNT,
     .at = AT(first),
     .metavar = "N",
     .help = "With --grows: the number of keys expected at first; by default a tenth of --expect. "
             "The plan shows the filter after it has grown from there."},
    {.name = "static",
     .type = CLI_FLAG,
     .at = AT(fixed),
     .help = "All keys are known in advance; none is added or removed later."},
    OPTION_WINDOW(AT(window), window_left_out,
                  "Only the last N keys, or those of the last TIME (90s, 15m, 24h, 7d), count; "
                  "older ones are forgotten. 1M is a million keys, 1m a minute. With TIME, "
                  "--expect is the number of keys within it; they are assumed to come evenly."),
    {.name = "counts",
     .type = CLI_FLAG,
     .at = AT(counts),
     .help = "It must be known how often a key was added."},
    {.name = "shared",
     .type = CLI_FLAG,
     .at = AT(shared),
     .help = "Several threads add keys at the same time."},
    {.name = "hostile-keys",
     .type = CLI_FLAG,
     .at = AT(hostile),
     .help = "An attacker may choose the keys."},
    OPTION_SMALLEST(AT(smallest), "Prefer the smallest filter to the fastest."),
    OPTION_KIND(AT(kind), "Plan for this kind, even if another is better. fuse and ribbon imply "
                          "--static, window implies --window, counts implies --counts."),
    OPTION_COUNTER_BITS(AT(counter_bits)),
    OPTION_HASH(AT(hash), "Plan for this hash function. By default xxh3, or a wider one where xxh3 "
                          "has too few bits; with --hostile-keys siphash."),
    OPTION_PLAIN(AT(plain),
                 "The filter will be on a Redis or Valkey server without the module. Compares the "
                 "kinds that can be there, and prints the number of strings."),
    OPTION_SHARDS(AT(shards), "With --plain"),
    {.name = "plot",
     .type = CLI_CHOICE,
     .at = AT(plot),
     .metavar = "WHEN",
     .choices = "auto|always|never",
     .without = "always",
     .help = "Draw the false-positive rates of the kinds shown against the number of keys, "
             "also beyond the planned one. By default on a terminal."},
    {.name = "svg",
     .type = CLI_FILE,
     .at = AT(svg),
     .metavar = "FILE",
     .help =
         "Write the same chart as an SVG picture. - is standard output, which then gets nothing "
         "else."},
    OPTION_FORCE(AT(force), "Replace an existing picture."),
    OPTION_JSON(AT(json), "Print the plan as one JSON object."),
    {.name = "all",
     .type = CLI_FLAG,
     .at = AT(all),
     .help = "Show every kind, and why the others do not fit."},
    {0},
};

/* ---- the question ---------------------------------------------------------------------------- */

static uint32_t flags_of(const values *v) {
    return (v->deletes ? BLY_NEED_REMOVE : 0U) | (v->grows ? BLY_NEED_GROW : 0U) |
           (v->fixed ? BLY_NEED_STATIC : 0U) | (v->window ? BLY_NEED_WINDOW : 0U) |
           (v->counts ? BLY_NEED_COUNTS : 0U) | (v->shared ? BLY_NEED_SHARE : 0U) |
           (v->hostile ? BLY_NEED_SECRET : 0U) | (v->smallest ? BLY_NEED_SPACE : 0U);
}

/* The keys of a window that is given by their number; 0: it is not. */
static uint64_t window_keys(const values *v) {
    uint64_t keys;
    return v->window && !number_count(v->window, &keys) ? keys : 0;
}

/* "--window 2M" where "--window=2M" is meant: there are no operands that it could be. */
static void take_window(values *v, cli_operands *operands) {
    if (v->window != window_left_out || operands->count == 0)
        return;
    v->window = *operands->items++;
    operands->count--;
}

/* What a kind is for goes without saying; what contradicts it is left to be refused. */
static void imply(values *v) {
    const uint32_t can = bly_kind_capabilities(v->kind);
    if (can & BLY_CAN_BUILD && !v->grows && !v->deletes && !v->window)
        v->fixed = true;
    if (can & BLY_FORGETS && !v->window && !v->fixed)
        v->window = window_left_out;
    if (v->kind == BLY_COUNTS)
        v->counts = true;
}

static int check_window(const values *v) {
    uint64_t number;
    if (!v->window || v->window == window_left_out)
        return CLI_OK;
    if (number_count(v->window, &number) && number_duration(v->window, &number))
        return message_error("--window cannot be '%s': it must be a number of keys, such as 1M, or "
                             "a time: a whole number of seconds, minutes, hours or days, such as "
                             "90s, 15m, 24h, 7d",
                             v->window);
    if (window_keys(v) && v->keys)
        return message_error("--window=%s says how many keys there are; leave out --expect, which "
                             "goes with a time",
                             v->window);
    return CLI_OK;
}

static int check_server(const values *v) {
    if (v->plain)
        return plan_check_server(flags_of(v), v->kind, v->shards);
    return v->shards ? message_error("--shards goes with --plain") : CLI_OK;
}

static int check(const values *v, cli_operands operands) {
    if (operands.count)
        return message_error("'%s' is one word too many; try --help", operands.items[0]);
    if (check_window(v) != CLI_OK)
        return CLI_ERROR;
    if (!v->keys && !window_keys(v) && !v->memory)
        return message_error(
            "say how many keys there will be (-n 1e8), or how much memory there is "
            "(-m 64M)");
    if (v->counter_bits && v->kind != BLY_COUNTING)
        return message_error("--counter-bits goes with --kind counting");
    if (v->counter_bits && v->memory)
        return message_error("--counter-bits goes with a number of keys and a rate; leave out "
                             "--memory");
    if (v->first && !v->grows)
        return message_error("--first goes with --grows");
    if (v->first > v->keys && v->keys)
        return message_error("--first cannot be more than --expect");
    if (v->hostile && v->hash != BLY_HASH_NONE && v->hash != BLY_HASH_SIPHASH)
        return message_error("--hostile-keys wants --hash siphash: %s has no secret key, so anyone "
                             "can compute it",
                             bly_hash_name(v->hash));
    return check_server(v);
}

/* A plan may be for another machine; but who makes the filter here should know. */
static void warn_of_lack(const bly_needs *needs, bly_hash_id hash) {
    if (hash == BLY_HASH_NONE && (needs->flags & BLY_NEED_SECRET))
        hash = BLY_HASH_SIPHASH;
    if (hash != BLY_HASH_NONE && !bly_hash_available(hash))
        message_warn("this build has no %s; bloomery hash --list shows what it has",
                     bly_hash_name(hash));
}

static bly_needs needs_of(const values *v) {
    bly_needs needs = {.keys = v->keys ? v->keys : window_keys(v),
                       .fpr = v->rate,
                       .bytes = v->memory,
                       .flags = flags_of(v)};
    if (needs.fpr == 0 && !(needs.keys && v->memory))
        needs.fpr = default_rate;
    if (v->hash == BLY_HASH_SIPHASH)
        needs.flags |= BLY_NEED_SECRET;
    needs.hash_bits = bly_hash_bits(v->hash);
    needs.first_keys = v->first;
    return needs;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static bly_status find_here(const values *v, plan_answer *p) {
    bly_advice suggested = {.struct_size = sizeof suggested};
    bly_status status = bly_advise(&p->needs, &suggested);
    if (status == BLY_OK)
        p->suggested = suggested.kind;
    if (p->own_kind)
        status = plan_kind(p, v->kind, &p->choice);
    else if (status == BLY_OK)
        p->choice = suggested;
    return status;
}

/* *why: what to say of a failure, or NULL. */
static bly_status find(const values *v, plan_answer *p, const char **why) {
    *why = NULL;
    *p = (plan_answer){.needs = needs_of(v),
                       .hash = v->hash,
                       .own_kind = v->kind != BLY_KIND_NONE,
                       .on_server = v->plain};
    p->counter_bits = v->counter_bits ? 1U << v->counter_bits : 0;
    if (v->window && !window_keys(v) && number_duration(v->window, &p->seconds))
        p->seconds = 0;
    const bly_status status =
        v->plain ? plan_on_server(p, v->kind, v->shards, why) : find_here(v, p);
    if (status == BLY_OK)
        plan_fill_lines(p);
    return status;
}

static bool wants_plot(const values *v) {
    if (v->plot == PLOT_ALWAYS || v->plot == PLOT_NEVER)
        return v->plot == PLOT_ALWAYS;
    return isatty(STDOUT_FILENO);
}

static bool draw_svg(const values *v, const plan_answer *p, chart *c) {
    chart_make(c, p, svg_medium());
    return svg_write(c, v->svg, v->force);
}

static int show(const values *v, const plan_answer *p, chart *c) {
    bool alone = v->svg && strcmp(v->svg, "-") == 0;
    if (v->svg && !draw_svg(v, p, c))
        return CLI_ERROR;
    if (alone)
        return CLI_OK;
    if (v->json) {
        plan_json(p, stdout);
        return CLI_OK;
    }
    plan_print(p, v->all, stdout);
    if (wants_plot(v)) {
        plot_style style = plot_style_here();
        chart_make(c, p, plot_medium(style));
        plot_print(c, style, stdout);
    }
    return CLI_OK;
}

static int run(void *untyped, cli_operands operands) {
    values *v = untyped;
    take_window(v, &operands);
    imply(v);
    int status = check(v, operands);
    if (status)
        return status;
    plan_answer *p = calloc(1, sizeof *p);
    chart *c = calloc(1, sizeof *c);
    if (!p || !c)
        status = message_error("out of memory");
    else {
        const char *why;
        bly_status found = find(v, p, &why);
        if (found == BLY_OK)
            warn_of_lack(&p->needs, v->hash);
        if (found == BLY_OK)
            status = show(v, p, c);
        else
            status =
                why ? message_error("%s", why) : plan_refuse(&p->needs, v->kind, v->hash, found);
    }
    free(p);
    free(c);
    return status;
}

const cli_command command_plan = {
    .name = "plan",
    .operands = "",
    .summary = "Choose a kind of filter and its size",
    .description =
        "Of the number of keys, the rate of false positives and the memory, give any two: plan "
        "finds the third, chooses the kind of filter that suits, and compares it with up to five "
        "others that fit. --all shows every kind. All three may be given; memory is then a limit.\n"
        "\n"
        "The choice depends on what else is needed: keys that come and go, numbers that nobody "
        "knows "
        "beforehand, keys that strangers choose. A need that no kind of this version meets is "
        "refused.\n"
        "\n"
        "The rates are computed, not looked up: blocks that fill unevenly and collisions of the "
        "hash "
        "function itself are counted in. A filter made to a plan keeps the rate.\n"
        "\n"
        "The drawing shows what happens when more keys come than planned: a Bloom filter of fixed "
        "size "
        "goes on working, and its rate rises along the curve. The curve of a kind that takes no "
        "more "
        "keys ends there: a cuckoo filter when it is full, fuse and ribbon with the keys they are "
        "built from.\n"
        "\n"
        "With --plain the filter is one for a Redis or Valkey server that has no module, where it "
        "lies "
        "in strings of at most 512 MB, each in a slot of its own in a cluster.",
    .examples = "# a hundred million keys, one wrong answer in a thousand\n"
                "bloomery plan -n 1e8 -p 0.1%\n"
                "# how many keys fit into 64 MiB at one percent\n"
                "bloomery plan -m 64M -p 1%\n"
                "# the rate that ten million keys get in 16 MiB\n"
                "bloomery plan -n 10M -m 16M\n"
                "# a number of keys that is only a guess\n"
                "bloomery plan -n 1e6 --grows\n"
                "# a blocklist that is built once and shipped, as small as can be\n"
                "bloomery plan -n 5M -p 0.1% --static --smallest\n"
                "# keys that come and go\n"
                "bloomery plan -n 1e6 --deletes\n"
                "# the events of a day, two million of them\n"
                "bloomery plan --window=24h -n 2M\n"
                "# a chart, for a report\n"
                "bloomery plan -n 1e6 -p 1/1000 --svg rates.svg\n"
                "# ten thousand million keys, seen by all crawlers of a cluster\n"
                "bloomery plan -n 10G -p 1% --plain\n"
                "# the size alone, for a script\n"
                "bloomery plan -n 1e8 -p 0.1% --json | jq .bytes\n",
    .options = options,
    .most_used = {"expect", "rate", "memory"},
    .values_size = sizeof(values),
    .run = run,
};
