/* cmd_plan.c - bloomery plan: computes which kind of filter meets stated needs, its size and its
 * false-positive rate. */
#include "cli.h"
#include "common_options.h"
#include "plan/plan_answer.h"
#include "plan/plan_svg.h"
#include "plan/plot.h"
#include "text/message.h"
#include "text/numbers.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

static const double default_rate = 0.001;

enum { PLOT_ALWAYS = 2, PLOT_NEVER = 3 };

typedef struct plan_options {
    uint64_t keys, memory, first, shards;
    double rate;
    const char *window;
    bool deletes, grows, fixed, counts, shared, hostile, smallest;
    bly_kind kind;
    unsigned counter_bits; /* 1: 2 bits, 2: 4 bits, 3: 8 bits, 4: 16 bits; 0: not given */
    bly_hash_id hash;
    unsigned plot;
    const char *svg;
    bool force, json, plain, all;
} plan_options;

#define AT(field) offsetof(plan_options, field)

static const char default_window[] = "as many as --expect";

static const cli_option options[] = {
    OPTION_EXPECT(
        AT(keys),
        "The number of different keys. By default as many as fit into --memory at --rate."),
    OPTION_RATE(AT(rate), "The false-positive rate: 0.001, 0.1%, 1/1000. By default 0.1%, or with "
                          "both --expect and --memory the lowest rate that they allow."),
    OPTION_MEMORY(
        AT(memory),
        "The maximum size of the filter. By default as much as --expect and --rate need."),
    OPTION_FLAG("deletes", 0, AT(deletes), "Keys will be removed."),
    OPTION_FLAG("grows", 0, AT(grows),
                "More keys than expected may be added, and the rate must not rise."),
    OPTION_VALUE(
        "first", 0, CLI_COUNT, AT(first), "N",
        "With --grows: the number of keys that the filter is created for, by default a tenth of "
        "--expect. The plan shows the filter after it has grown to --expect keys."),
    OPTION_FLAG("static", 0, AT(fixed),
                "All keys are known in advance; none is added or removed later."),
    OPTION_WINDOW(AT(window), default_window,
                  "Older keys are forgotten: only the last N keys count, or those of the last TIME "
                  "(90s, 15m, 24h, 7d). 1M is a million keys, 1m a minute. With TIME, --expect is "
                  "the number of keys within it, which are assumed to arrive evenly."),
    OPTION_FLAG("counts", 0, AT(counts), "The filter must count how often a key was added."),
    OPTION_FLAG("shared", 0, AT(shared), "Several threads add keys at the same time."),
    OPTION_FLAG("hostile-keys", 0, AT(hostile), "An attacker may choose the keys."),
    OPTION_SMALLEST(AT(smallest), "Recommend the smallest kind instead of the fastest."),
    OPTION_KIND(AT(kind), "Plan for the kind KIND, even if another is better. fuse and ribbon "
                          "imply --static, window implies --window, counts implies --counts."),
    OPTION_COUNTER_BITS(AT(counter_bits)),
    OPTION_HASH(AT(hash), "Plan for the hash function HASH. The default is xxh3, or a wider one if "
                          "xxh3 has too few bits; with --hostile-keys it is siphash."),
    OPTION_PLAIN(AT(plain),
                 "Plan for a Redis or Valkey server without the module. Compares only the kinds "
                 "that can be stored there, and prints the number of strings."),
    OPTION_SHARDS(AT(shards), "With --plain"),
    {.name = "plot",
     .type = CLI_CHOICE,
     .at = AT(plot),
     .metavar = "WHEN",
     .choices = "auto|always|never",
     .without = "always",
     .help = "Draw a chart of the false-positive rates by number of keys, also beyond the planned "
             "number. By default only on a terminal."},
    OPTION_VALUE("svg", 0, CLI_FILE, AT(svg), "FILE",
                 "Write the chart as SVG to FILE. If FILE is -, the chart is all that is printed."),
    OPTION_FORCE(AT(force), "Replace an existing SVG file."),
    OPTION_JSON(AT(json), "Print the plan as one JSON object."),
    OPTION_FLAG("all", 0, AT(all),
                "Show every kind in the table, and for those that do not fit the reason. The chart "
                "is the same as without --all."),
    {0},
};

/* ---- the needs ------------------------------------------------------------------------------- */

static uint32_t flags_of(const plan_options *o) {
    return (o->deletes ? BLY_NEED_REMOVE : 0U) | (o->grows ? BLY_NEED_GROW : 0U) |
           (o->fixed ? BLY_NEED_STATIC : 0U) | (o->window ? BLY_NEED_WINDOW : 0U) |
           (o->counts ? BLY_NEED_COUNTS : 0U) | (o->shared ? BLY_NEED_SHARE : 0U) |
           (o->hostile ? BLY_NEED_SECRET : 0U) | (o->smallest ? BLY_NEED_SPACE : 0U);
}

/* The number N of --window=N; 0 without --window, or if its value is a time. */
static uint64_t window_keys(const plan_options *o) {
    uint64_t keys;
    return o->window && !number_count(o->window, &keys) ? keys : 0;
}

/* Accepts "--window 2M" for "--window=2M": there are no operands, so 2M cannot be one. */
static void accept_separate_window(plan_options *o, cli_operands *operands) {
    if (o->window != default_window || operands->count == 0)
        return;
    o->window = *operands->items++;
    operands->count--;
}

/* Some kinds imply a need. If another need contradicts it, planning fails with a message. */
static void add_implied_needs(plan_options *o) {
    const uint32_t can = bly_kind_capabilities(o->kind);
    if (can & BLY_CAN_BUILD && !o->grows && !o->deletes && !o->window)
        o->fixed = true;
    if (can & BLY_FORGETS && !o->window && !o->fixed)
        o->window = default_window;
    if (o->kind == BLY_COUNTS)
        o->counts = true;
}

static int check_window(const plan_options *o) {
    uint64_t number;
    if (!o->window || o->window == default_window)
        return CLI_OK;
    if (number_count(o->window, &number) && number_duration(o->window, &number))
        return message_error(
            "--window cannot be '%s': it must be a number of keys, such as 1M, or a time: a whole "
            "number of seconds, minutes, hours or days, such as 90s, 15m, 24h, 7d",
            o->window);
    if (window_keys(o) && o->keys)
        return message_error(
            "--window=%s and --expect both give the number of keys; leave out --expect", o->window);
    return CLI_OK;
}

static int check_server(const plan_options *o) {
    if (o->plain)
        return plan_check_server(flags_of(o), o->kind, o->shards);
    return o->shards ? message_error("--shards needs --plain") : CLI_OK;
}

static int check(const plan_options *o, cli_operands operands) {
    if (operands.count)
        return message_error("unexpected argument '%s'; see --help", operands.items[0]);
    if (check_window(o) != CLI_OK)
        return CLI_ERROR;
    if (!o->keys && !window_keys(o) && !o->memory)
        return message_error("give the number of keys (-n 1e8) or the memory (-m 64M)");
    if (o->counter_bits && o->kind != BLY_COUNTING)
        return message_error("--counter-bits needs --kind counting");
    if (o->counter_bits && o->memory)
        return message_error(
            "--counter-bits and --memory cannot be combined; use --expect and --rate");
    if (o->first && !o->grows)
        return message_error("--first needs --grows");
    if (o->first > o->keys && o->keys)
        return message_error("--first cannot be more than --expect");
    if (o->hostile && o->hash != BLY_HASH_NONE && o->hash != BLY_HASH_SIPHASH)
        return message_error("--hostile-keys needs --hash siphash: %s has no secret key, so an "
                             "attacker can compute it",
                             bly_hash_name(o->hash));
    return check_server(o);
}

/* Only a warning, because the plan may be for another machine. */
static void warn_of_missing_hash(const bly_needs *needs, bly_hash_id hash) {
    if (hash == BLY_HASH_NONE && (needs->flags & BLY_NEED_SECRET))
        hash = BLY_HASH_SIPHASH;
    if (hash != BLY_HASH_NONE && !bly_hash_available(hash))
        message_warn(
            "this build does not have %s; use bloomery hash --list to see which functions it has",
            bly_hash_name(hash));
}

static bly_needs needs_of(const plan_options *o) {
    bly_needs needs = {.keys = o->keys ? o->keys : window_keys(o),
                       .fpr = o->rate,
                       .bytes = o->memory,
                       .flags = flags_of(o)};
    if (needs.fpr == 0 && !(needs.keys && o->memory))
        needs.fpr = default_rate;
    if (o->hash == BLY_HASH_SIPHASH)
        needs.flags |= BLY_NEED_SECRET;
    needs.hash_bits = bly_hash_bits(o->hash);
    needs.first_keys = o->first;
    return needs;
}

/* ---- planning -------------------------------------------------------------------------------- */

static bly_status plan_in_memory(const plan_options *o, plan_answer *p) {
    bly_advice suggested = {.struct_size = sizeof suggested};
    bly_status status = bly_advise(&p->needs, &suggested);
    if (status == BLY_OK)
        p->suggested = suggested.kind;
    if (p->own_kind)
        status = plan_kind(p, o->kind, &p->choice);
    else if (status == BLY_OK)
        p->choice = suggested;
    return status;
}

/* On failure, *why is the message, or NULL if plan_refuse should explain the status. */
static bly_status make_plan(const plan_options *o, plan_answer *p, const char **why) {
    *why = NULL;
    *p = (plan_answer){.needs = needs_of(o),
                       .hash = o->hash,
                       .own_kind = o->kind != BLY_KIND_NONE,
                       .on_server = o->plain};
    p->counter_bits = o->counter_bits ? 1U << o->counter_bits : 0;
    if (o->window && !window_keys(o) && number_duration(o->window, &p->seconds))
        p->seconds = 0;
    const bly_status status =
        o->plain ? plan_on_server(p, o->kind, o->shards, why) : plan_in_memory(o, p);
    if (status == BLY_OK)
        plan_fill_lines(p);
    return status;
}

static bool wants_plot(const plan_options *o) {
    if (o->plot == PLOT_ALWAYS || o->plot == PLOT_NEVER)
        return o->plot == PLOT_ALWAYS;
    return isatty(STDOUT_FILENO);
}

static int show(const plan_options *o, const plan_answer *p) {
    if (o->svg && !svg_write(p, o->svg, o->force))
        return CLI_ERROR;
    if (o->svg && strcmp(o->svg, "-") == 0)
        return CLI_OK;
    if (o->json) {
        plan_json(p);
        return CLI_OK;
    }
    plan_print(p, o->all);
    if (wants_plot(o))
        plot_print(p, o->all);
    return CLI_OK;
}

static int run(void *untyped, cli_operands operands) {
    plan_options *o = untyped;
    plan_answer p;
    const char *why;
    accept_separate_window(o, &operands);
    add_implied_needs(o);
    if (check(o, operands) != CLI_OK)
        return CLI_ERROR;
    const bly_status status = make_plan(o, &p, &why);
    if (why)
        return message_error("%s", why);
    if (status != BLY_OK)
        return plan_refuse(&p, o->kind, status);
    warn_of_missing_hash(&p.needs, o->hash);
    return show(o, &p);
}

const cli_command command_plan = {
    .name = "plan",
    .operands = "",
    .summary = "Choose a kind of filter and its size",
    .brief =
        "Computes the kind and the size of a filter. Give any two of the number of keys (-n), the "
        "false-positive rate (-p) and the memory (-m): plan computes the third, recommends a kind, "
        "and compares it with up to five others. -n or -m alone is planned for a rate of 0.1%.",
    .description =
        "All three values may be given; the memory is then a limit.\n"
        "\n"
        "The choice of the kind depends on what else is needed: --deletes, --grows, --static, "
        "--window, --counts, --shared, --hostile-keys or --smallest. If no kind has all of this, "
        "an error says what to change. --all shows every kind, and why a kind does not fit.\n"
        "\n"
        "Rates are computed from formulas, which include blocks that fill unevenly and collisions "
        "of the hash function. A filter created as planned keeps its rate.\n"
        "\n"
        "The chart shows what happens if more keys are added than planned. That of a window by "
        "number ends at N, because no more keys are ever within it. A Bloom filter of fixed "
        "size continues to work, and its rate rises. The curve of a kind that accepts no more keys "
        "ends: for a cuckoo filter when it is full, for fuse and ribbon at the keys that they are "
        "built from.\n"
        "\n"
        "With --plain, the filter is stored in strings of a Redis or Valkey server. A string has "
        "at most 512 MiB. In a cluster, each string is in a hash slot of its own.",
    .examples = "# a hundred million keys, one wrong answer in a thousand\n"
                "bloomery plan -n 1e8 -p 0.1%\n"
                "# how many keys fit into 64 MiB at one percent\n"
                "bloomery plan -m 64M -p 1%\n"
                "# the lowest rate for ten million keys in 16 MiB\n"
                "bloomery plan -n 10M -m 16M\n"
                "# the number of keys is only a guess\n"
                "bloomery plan -n 1e6 --grows\n"
                "# a blocklist that is built once, as small as possible\n"
                "bloomery plan -n 5M -p 0.1% --static --smallest\n"
                "# keys are added and removed\n"
                "bloomery plan -n 1e6 --deletes\n"
                "# the events of a day, two million of them\n"
                "bloomery plan --window=24h -n 2M\n"
                "# write a chart for a report\n"
                "bloomery plan -n 1e6 -p 1/1000 --svg rates.svg\n"
                "# ten thousand million keys on a Redis cluster without the module\n"
                "bloomery plan -n 10G -p 1% --plain\n"
                "# print only the size, for a script\n"
                "bloomery plan -n 1e8 -p 0.1% --json | jq .bytes\n",
    .options = options,
    .most_used = {"expect", "rate", "memory"},
    .values_size = sizeof(plan_options),
    .run = run,
};
