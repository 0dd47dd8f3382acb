/* dedup_options.c - the options of `dedup`, their conflicts, and the state that they request. */
#include "dedup/dedup_options.h"

#include "common_options.h"
#include "dedup/dedup_plan.h"
#include "io/output.h"
#include "text/numbers.h"

#include <bloomery/redis/bitmap.h>
#include <stddef.h>

#define AT(field) offsetof(dedup_options, field)
const cli_option dedup_option_table[] = {
    OPTION_EXPECT(AT(expect),
                  "Plan for N different keys; by default the filter grows as needed. With --window "
                  "TIME: the number of different keys within TIME, by default a million."),
    OPTION_RATE(AT(rate), "How often a new line may be mistaken for a repeat and dropped: 0.001 "
                          "(the default), 0.1%, 1/1000."),
    OPTION_MEMORY(AT(memory), "Never use more memory than this, at the lowest rate that fits: 64M, "
                              "1G. A line longer than 512 KiB is then an error, and is dropped."),
    KEY_OPTIONS(dedup_options),
    {.name = "print-canonical",
     .type = CLI_FLAG,
     .at = AT(print_canonical),
     .help = "With --url: print URLs in canonical form instead of as they were read."},
    {.name = "repeated",
     .letter = 'd',
     .type = CLI_FLAG,
     .at = AT(repeated),
     .help = "Print only the repeats: every line except its first occurrence."},
    OPTION_COUNT(AT(count), "Print only the totals. The file of --state is read, but not changed."),
    OPTION_OUTPUT(AT(output), "FILE", "Write to FILE, which appears only when it is complete."),
    OPTION_FORCE(AT(force), "Replace an existing FILE."),
    OPTION_EXACT(AT(exact), "Drop no new line: remember a 64-bit fingerprint of every different "
                            "line in memory, 11 to 23 bytes each."),
    {.name = "confirm",
     .type = CLI_FILE,
     .at = AT(confirm),
     .metavar = "FILE",
     .help = "Drop no new line, in little memory: check possible repeats against fingerprints in "
             "FILE. FILE also remembers them for the next run."},
    OPTION_STATE(
        AT(state),
        "Remember lines across runs: the first run creates FILE, later runs use and update it. If "
        "the run is killed, the next one may print a line again, but drops none because of that."),
    OPTION_WINDOW(AT(window), NULL,
                  "Only the last N lines, or those of the last TIME (90s, 15m, 24h, 7d), count as "
                  "seen; an older line is printed again. For endless streams, because memory is "
                  "fixed: about three bytes for each of N lines, or about nine for each of the "
                  "keys that -n plans within TIME. 1M is a million lines, 1m a minute."),
    {.name = "redis",
     .type = CLI_TEXT,
     .at = AT(redis),
     .metavar = "URL",
     .group = CLI_GROUP_SERVER,
     .help = "Remember lines in a filter on a Redis or Valkey server, which many machines can "
             "share: only the first of them prints a line. No module is needed. URL is, for "
             "example, redis://:PASSWORD@HOST:PORT/KEY or unix:///SOCKET?key=KEY. The first run "
             "creates the filter and needs -n, the number of different keys of all machines "
             "together. Later runs use it, and may omit -n and -p."},
    OPTION_SHARDS(AT(shards), "With --redis"),
    OPTION_EXPIRE(AT(expire), "With --redis: a new filter expires after TIME (90s, 15m, 24h, 7d), "
                              "all of it at once. An existing filter keeps its own time."),
    {.name = "replicas",
     .type = CLI_COUNT,
     .at = AT(replicas),
     .metavar = "N",
     .group = CLI_GROUP_SERVER,
     .help = "With --redis: wait until N replicas of the server have each change, so that no line "
             "is printed again after a failover. If they do not confirm in time, the lines count "
             "as not answered (--on-error)."},
    OPTION_ON_ERROR(AT(on_error), "stop|print|drop",
                    "With --redis: what to do with lines when the server does not answer whether "
                    "they are new. stop (the default): end with status 2, and name the lines. "
                    "print: print them, perhaps again. drop: drop them, perhaps although they are "
                    "new. print and drop count such lines and continue. If the filter no longer "
                    "exists, or the server refuses access, the run always ends."),
    OPTION_ALLOW_REPLICA(AT(allow_replica),
                         "With --redis: URL may name a replica. The filter is only read: lines "
                         "that it does not contain are printed, and are not added to it. The lines "
                         "of this run are remembered in memory."),
    OPTION_SEED(AT(seed),
                "The seed of a new filter's hash function. 0, the default, chooses one at random, "
                "so that an attacker cannot choose lines that are mistaken for each other. With "
                "any other seed, the same input always gives the same output."),
    OPTION_STATS(AT(stats), "Print totals, memory, rates and speed on standard error at the end."),
    OPTION_JSON(
        AT(json),
        "Print the totals as a JSON object on standard error; with --count on standard output."),
    {0},
};

/* ---- conflicts ------------------------------------------------------------------------------- */

static const char *window_conflict(const dedup_options *o) {
    uint64_t number;
    if (!o->window)
        return NULL;
    const bool lines = number_count(o->window, &number) == NULL;
    if (!lines && number_duration(o->window, &number))
        return "--window must be a number of lines, such as 1M, or a time in whole seconds, "
               "minutes, hours or days, such as 90s, 15m, 24h or 7d";
    if (o->exact || o->confirm)
        return "--window forgets old lines, and --exact and --confirm remember all; give only one "
               "of them";
    if (o->memory)
        return "--memory and --window cannot be combined: the length of the window, -n and -p "
               "determine its memory (see bloomery plan --window)";
    if (lines && o->expect)
        return "-n cannot be combined with --window N, which is planned for N lines; leave out -n";
    return NULL;
}

static const char *redis_conflict(const dedup_options *o) {
    static const uint64_t max_replicas = 1000;
    if (!o->redis)
        return o->shards || o->expire || o->replicas || o->on_error || o->allow_replica
                   ? "--shards, --expire, --replicas, --on-error and --allow-replica need --redis"
                   : NULL;
    if (o->exact || o->confirm)
        return "--redis cannot be combined with --exact or --confirm, which remember lines on this "
               "machine";
    if (o->state)
        return "--redis and --state cannot be combined: --redis remembers lines on the server; "
               "give only one";
    if (o->window)
        return "--redis cannot be combined with --window: a filter on a server forgets all lines "
               "at once (--expire) or none";
    if (o->memory)
        return "--redis cannot be combined with --memory: -n and -p determine the size of the "
               "filter on the server";
    if (o->count && !o->allow_replica)
        return "--redis cannot be combined with --count: it would add lines for all machines "
               "without printing them";
    if (o->output && !o->allow_replica)
        return "-o cannot be combined with --redis: if the run failed, its lines would be in the "
               "shared filter, but FILE would not be written; use > FILE instead";
    if (o->allow_replica && (o->shards || o->expire || o->replicas))
        return "with --allow-replica, dedup only reads the filter; leave out --shards, --expire "
               "and --replicas";
    if (o->expire && !o->expect)
        return "--expire needs -n: the expiry is set when the filter is created, which needs -n";
    if (o->shards > BLY_BITMAP_MAX_SHARDS)
        return "--shards must be at most 4096";
    return o->replicas > max_replicas ? "--replicas must be at most 1000" : NULL;
}

const char *dedup_conflict(const dedup_options *o) {
    const char *why = redis_conflict(o);
    if (!why)
        why = window_conflict(o);
    if (why)
        return why;
    if (o->exact && o->confirm)
        return "--exact and --confirm do the same; give only one";
    if (o->confirm && o->state)
        return "--confirm and --state cannot be combined: --confirm FILE already remembers lines "
               "across runs; leave out --state";
    if (o->confirm && o->count)
        return "--confirm cannot be combined with --count: it would remember lines in FILE without "
               "printing them";
    if (output_same_file(o->output, o->state))
        return "-o and --state name the same file; name different files";
    if (o->confirm && o->output)
        return "-o cannot be combined with --confirm: if the run failed, its lines would be in the "
               "file of --confirm, but FILE would not be written; use > FILE instead";
    if (o->confirm && o->memory)
        return "--confirm cannot be combined with --memory: -n and -p determine its memory";
    if (o->seed && (o->exact || o->confirm))
        return "--seed cannot be combined with --exact or --confirm, which use a random seed";
    if (o->exact && o->rate != 0)
        return "-p cannot be combined with --exact, which has no false positives";
    if (o->print_canonical && !o->keys.url)
        return "--print-canonical needs --url";
    if (o->print_canonical && o->keys.field)
        return "--print-canonical cannot be combined with --field, whose lines are more than a URL";
    return key_options_conflict(&o->keys);
}

/* ---- the request ----------------------------------------------------------------------------- */

state_request dedup_request(const dedup_options *o, char rule[KEY_OPTIONS_WORDS]) {
    state_request r = {.file = o->state,
                       .confirm = o->confirm,
                       .address = o->redis,
                       .exact = o->exact,
                       .keys = o->expect,
                       .rate = o->rate,
                       .memory = o->memory,
                       .overhead =
                           dedup_overhead + (o->memory ? dedup_decoder_memory(o->memory) : 0),
                       .seed = o->seed,
                       .key_rule = key_options_code(&o->keys),
                       .rule = key_options_words(&o->keys, rule),
                       .print_repeats = o->repeated,
                       .shards = o->shards,
                       .expire_seconds = o->expire,
                       .replicas = o->replicas,
                       .only_lookups = o->allow_replica,
                       .policy = o->on_error ? (state_policy)o->on_error : STATE_STOP};
    if (o->window && number_count(o->window, &r.window_lines)) {
        (void)number_duration(o->window, &r.window_span);
        r.window_span *= 1000;
    }
    return r;
}
