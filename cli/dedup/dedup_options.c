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
    OPTION_EXPECT(AT(request.keys),
                  "Plan for N different keys; by default the filter grows as needed. With --window "
                  "TIME: the number of different keys within TIME, by default a million."),
    OPTION_RATE(AT(request.rate), "How often a new line may be mistaken for a repeat and dropped: "
                                  "0.001 (the default), 0.1%, 1/1000."),
    OPTION_MEMORY(
        AT(request.memory),
        "Never use more memory than this: 64M, 1G. The filter takes what the program leaves, at "
        "the lowest rate that fits; with -n and -p no more than they need. A line longer than 512 "
        "KiB is then an error, and is dropped."),
    KEY_OPTIONS(dedup_options),
    OPTION_FLAG("print-canonical", 0, AT(print_canonical),
                "With --url: print URLs in canonical form instead of as they were read."),
    OPTION_FLAG(
        "repeated", 'd', AT(request.print_repeats),
        "Print only the repeats: every line except its first occurrence. New lines are still "
        "remembered, also in FILE of --state and on the server of --redis."),
    OPTION_COUNT(AT(count), "Print only the totals. The file of --state is read, but not changed."),
    OPTION_OUTPUT(AT(output), "FILE", "Write to FILE, which appears only when it is complete."),
    OPTION_FORCE(AT(force), "Replace an existing FILE."),
    OPTION_EXACT(AT(request.exact), "Drop no new line: remember a 64-bit fingerprint of every "
                                    "different line in memory, 11 to 23 bytes each."),
    OPTION_VALUE("confirm", 0, CLI_FILE, AT(request.confirm), "FILE",
                 "Drop no new line, in little memory: check possible repeats against fingerprints "
                 "in FILE. FILE also remembers them for the next run."),
    OPTION_STATE(
        AT(request.file),
        "Remember lines across runs: the first run creates FILE, later runs use and update it. If "
        "the run is killed, the next one may print a line again, but drops none because of that."),
    OPTION_WINDOW(AT(window), NULL,
                  "Only the last N lines, or those of the last TIME (90s, 15m, 24h, 7d), count as "
                  "seen; an older line is printed again. For endless streams, because memory is "
                  "fixed: about three bytes for each of N lines, or about nine for each of the "
                  "keys that -n plans within TIME. 1M is a million lines, 1m a minute."),
    {.name = "redis",
     .type = CLI_TEXT,
     .at = AT(request.address),
     .metavar = "URL",
     .group = CLI_GROUP_SERVER,
     .help = "Remember lines in a filter on a Redis or Valkey server, which many machines can "
             "share: only the first of them prints a line. No module is needed. URL is, for "
             "example, redis://:PASSWORD@HOST:PORT/KEY or unix:///SOCKET?key=KEY. The first run "
             "creates the filter and needs -n, the number of different keys of all machines "
             "together. Later runs use it, and may omit -n and -p."},
    OPTION_SHARDS(AT(request.shards), "With --redis"),
    OPTION_EXPIRE(AT(request.expire_seconds),
                  "With --redis: a new filter expires after TIME (90s, 15m, 24h, 7d), all of it at "
                  "once. An existing filter keeps its own time."),
    {.name = "replicas",
     .type = CLI_COUNT,
     .at = AT(request.replicas),
     .metavar = "N",
     .group = CLI_GROUP_SERVER,
     .help = "With --redis: wait until N replicas of the server have each change, so that no line "
             "is printed again after a failover. If they do not confirm in time, the lines count "
             "as not answered (--on-error)."},
    OPTION_ON_ERROR(AT(request.policy), "stop|print|drop",
                    "With --redis: what to do with lines when the server does not answer whether "
                    "they are new. stop (the default): end with status 2, and name the lines. "
                    "print: print them, perhaps again. drop: drop them, perhaps although they are "
                    "new. print and drop count such lines and continue. If the filter no longer "
                    "exists, or the server refuses access, the run always ends."),
    OPTION_ALLOW_REPLICA(AT(request.only_lookups),
                         "With --redis: URL may name a replica. The filter is only read: lines "
                         "that it does not contain are printed, and are not added to it. The lines "
                         "of this run are remembered in memory."),
    OPTION_SEED(AT(request.seed),
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
    const state_request *r = &o->request;
    uint64_t number;
    if (!o->window)
        return NULL;
    const bool lines = number_count(o->window, &number) == NULL;
    if (!lines && number_duration(o->window, &number))
        return "--window must be a number of lines, such as 1M, or a time in whole seconds, "
               "minutes, hours or days, such as 90s, 15m, 24h or 7d";
    if (r->exact || r->confirm)
        return "--window cannot be combined with --exact or --confirm: it forgets old lines, and "
               "they remember every line";
    if (r->memory)
        return "--memory and --window cannot be combined: the length of the window, -n and -p "
               "determine its memory (see bloomery plan --window)";
    if (lines && r->keys)
        return "-n cannot be combined with --window N, which is planned for N lines; leave out -n";
    return NULL;
}

static const char *redis_conflict(const dedup_options *o) {
    const state_request *r = &o->request;
    static const uint64_t max_replicas = 1000;
    if (!r->address)
        return r->shards || r->expire_seconds || r->replicas || r->policy || r->only_lookups
                   ? "--shards, --expire, --replicas, --on-error and --allow-replica need --redis"
                   : NULL;
    if (r->exact || r->confirm)
        return "--redis cannot be combined with --exact or --confirm, which remember lines on this "
               "machine";
    if (r->file)
        return "--redis and --state cannot be combined: --redis remembers lines on the server; "
               "give only one";
    if (o->window)
        return "--redis cannot be combined with --window: a filter on a server forgets all lines "
               "at once (--expire) or none";
    if (r->memory)
        return "--redis cannot be combined with --memory: -n and -p determine the size of the "
               "filter on the server";
    if (o->count && !r->only_lookups)
        return "--redis cannot be combined with --count: it would add lines for all machines "
               "without printing them";
    if (o->output && !r->only_lookups)
        return "-o cannot be combined with --redis: if the run failed, its lines would be in the "
               "shared filter, but FILE would not be written; use > FILE instead";
    if (r->only_lookups && (r->shards || r->expire_seconds || r->replicas))
        return "with --allow-replica, dedup only reads the filter; leave out --shards, --expire "
               "and --replicas";
    if (r->expire_seconds && !r->keys)
        return "--expire needs -n: the expiry is set when the filter is created, which needs -n";
    if (r->shards > BLY_BITMAP_MAX_SHARDS)
        return "--shards must be at most 4096";
    return r->replicas > max_replicas ? "--replicas must be at most 1000" : NULL;
}

const char *dedup_conflict(const dedup_options *o) {
    const state_request *r = &o->request;
    const char *why = redis_conflict(o);
    if (!why)
        why = window_conflict(o);
    if (why)
        return why;
    if (r->exact && r->confirm)
        return "--exact and --confirm do the same; give only one";
    if (r->confirm && r->file)
        return "--confirm and --state cannot be combined: --confirm FILE already remembers lines "
               "across runs; leave out --state";
    if (r->confirm && o->count)
        return "--confirm cannot be combined with --count: it would remember lines in FILE without "
               "printing them";
    if (output_same_file(o->output, r->file))
        return "-o and --state name the same file; name different files";
    if (r->confirm && o->output)
        return "-o cannot be combined with --confirm: if the run failed, its lines would be in the "
               "file of --confirm, but FILE would not be written; use > FILE instead";
    if (r->confirm && r->memory)
        return "--confirm cannot be combined with --memory: -n and -p determine its memory";
    if (r->seed && (r->exact || r->confirm))
        return "--seed cannot be combined with --exact or --confirm, which use a random seed";
    if (r->exact && r->rate != 0)
        return "-p cannot be combined with --exact, which has no false positives";
    if (o->print_canonical && !o->keys.url)
        return "--print-canonical needs --url";
    if (o->print_canonical && o->keys.field)
        return "--print-canonical cannot be combined with --field: it prints the URL in place of "
               "the whole line, so the other fields would be lost";
    return key_options_conflict(&o->keys);
}

/* ---- the request ----------------------------------------------------------------------------- */

state_request dedup_request(const dedup_options *o, char rule[KEY_OPTIONS_WORDS]) {
    state_request r = o->request;
    r.overhead = dedup_overhead + (r.memory ? dedup_decoder_memory(r.memory) : 0);
    r.key_rule = key_options_code(&o->keys);
    r.rule = key_options_words(&o->keys, rule);
    r.prints_at_end = o->output || o->count;
    if (!r.policy)
        r.policy = STATE_STOP;
    if (o->window && number_count(o->window, &r.window_lines)) {
        (void)number_duration(o->window, &r.window_span);
        r.window_span *= 1000;
    }
    return r;
}
