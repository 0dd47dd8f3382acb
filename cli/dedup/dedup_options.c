/* dedup_options.c - the options of `dedup`, which of them cannot go together, and the state that
 * they request. */
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
                  "TIME: the number of keys within it, a million by default."),
    OPTION_RATE(AT(rate), "How often a new line may be mistaken for a repeat and dropped: 0.001 "
                          "(the default), 0.1%, 1/1000."),
    OPTION_MEMORY(AT(memory), "Never use more memory than this, at the lowest rate that fits: 64M, "
                              "1G. Lines longer than 512 KiB are then dropped, with an error."),
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
    OPTION_EXACT(AT(exact), "Drop no new line: remember a 64-bit fingerprint of every key in "
                            "memory, 11 to 23 bytes each."),
    {.name = "confirm",
     .type = CLI_FILE,
     .at = AT(confirm),
     .metavar = "FILE",
     .help = "Drop no new line, in little memory: check possible repeats against fingerprints in "
             "FILE. FILE also remembers them for the next run."},
    OPTION_STATE(AT(state), "Remember lines across runs: start with the lines that FILE remembers, "
                            "and save new ones there. If the run is killed, the next one may print "
                            "a line again, but drops none because of that."),
    OPTION_WINDOW(AT(window), NULL,
                  "Only the last N lines, or those of the last TIME (90s, 15m, 24h, 7d), count as "
                  "seen; an older line is printed again. For endless streams: memory is fixed, "
                  "about three bytes for each of the N lines, or about nine for each line that -n "
                  "plans for TIME. 1M is a million lines, 1m a minute."),
    {.name = "redis",
     .type = CLI_TEXT,
     .at = AT(redis),
     .metavar = "URL",
     .group = CLI_GROUP_SERVER,
     .help = "Remember lines in a filter on a Redis or Valkey server, which many machines can "
             "share: only the first of them prints a line. No module is needed. URL is "
             "redis://:PASSWORD@HOST:PORT/KEY, unix:///SOCKET?key=KEY and the like. The first run "
             "creates the filter, for the -n different keys of all of them together; the others "
             "join it, and may omit -n and -p."},
    OPTION_SHARDS(AT(shards), "With --redis"),
    OPTION_EXPIRE(AT(expire), "With --redis: a new filter expires after TIME (90s, 15m, 24h, 7d), "
                              "all of it at once. An existing filter keeps its own time."),
    {.name = "replicas",
     .type = CLI_COUNT,
     .at = AT(replicas),
     .metavar = "N",
     .group = CLI_GROUP_SERVER,
     .help = "With --redis: an answer counts when N replicas of the server have it, so that a "
             "replica that takes over prints nothing again. An answer that does not count is an "
             "error (--on-error)."},
    OPTION_ON_ERROR(
        AT(on_error), "stop|print|drop",
        "With --redis: what to do with lines when the server does not say whether they are new, "
        "because it is away or an answer was lost. stop (the default): end with status 2, and name "
        "the lines. print: print them, perhaps again. drop: drop them, perhaps for ever. print and "
        "drop count them. A filter that is gone, or that the server refuses, always ends the run."),
    OPTION_SEED(AT(seed),
                "The seed of a new filter's hash function. 0, the default, chooses one at random, "
                "so that an attacker cannot choose lines that are mistaken for each other. With "
                "another seed, the same input always gives the same output."),
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
        return "--window must be a number of lines, such as 1M, or a time: a whole number of "
               "seconds, minutes, hours or days, such as 90s, 15m, 24h, 7d";
    if (o->exact || o->confirm)
        return "--window forgets lines, and --exact and --confirm keep them all: give one";
    if (o->memory)
        return "--window has a fixed size, by its length, -n and -p (bloomery plan --window "
               "tells): leave out --memory";
    if (lines && o->expect)
        return "--window says how many lines it is for: leave out -n, which goes with a time";
    return NULL;
}

static const char *redis_conflict(const dedup_options *o) {
    static const uint64_t most_replicas = 1000;
    if (!o->redis)
        return o->shards || o->expire || o->replicas || o->on_error
                   ? "--shards, --expire, --replicas and --on-error need --redis"
                   : NULL;
    if (o->exact || o->confirm)
        return "--redis has a filter that many machines share, --exact and --confirm keep what one "
               "has seen: give one";
    if (o->state)
        return "--redis remembers on the server: leave out --state";
    if (o->window)
        return "a filter on a server forgets all lines at once (--expire) or none: leave out "
               "--window";
    if (o->memory)
        return "--redis keeps the filter in the server's memory, and its size is by -n and -p: "
               "leave out --memory";
    if (o->count)
        return "--redis remembers the lines for everybody, and --count does not print them: leave "
               "one out";
    if (o->output)
        return "--redis takes lines for everybody as it goes, so a file that appears only at the "
               "end cannot be its output: use > FILE instead of -o";
    if (o->expire && !o->expect)
        return "--expire is for whoever makes the filter, and so is -n: give both or none";
    if (o->shards > BLY_BITMAP_MAX_SHARDS)
        return "--shards must be at most 4096";
    return o->replicas > most_replicas ? "--replicas must be at most 1000" : NULL;
}

const char *dedup_conflict(const dedup_options *o) {
    const char *why = redis_conflict(o);
    if (!why)
        why = window_conflict(o);
    if (why)
        return why;
    if (o->exact && o->confirm)
        return "--exact and --confirm are two ways to the same: give one";
    if (o->confirm && o->state)
        return "--confirm FILE remembers by itself: leave out --state";
    if (o->confirm && o->count)
        return "--confirm FILE remembers the lines, and --count does not print them: leave one out";
    if (output_same_file(o->output, o->state))
        return "-o and --state name the same file";
    if (o->confirm && o->output)
        return "--confirm writes as it goes, so a file that appears only at the end cannot be its "
               "output: use > FILE instead of -o";
    if (o->confirm && o->memory)
        return "--confirm chooses its memory by -n and -p: leave out --memory";
    if (o->seed && (o->exact || o->confirm))
        return "--exact and --confirm choose their own seed: leave out --seed";
    if (o->exact && o->rate != 0)
        return "--exact has no error rate: leave out -p";
    if (o->print_canonical && !o->keys.url)
        return "--print-canonical needs --url";
    if (o->print_canonical && o->keys.field)
        return "--print-canonical prints URLs, and with --field a line is more than that";
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
                       .policy = o->on_error ? (state_policy)o->on_error : STATE_STOP};
    if (o->window && number_count(o->window, &r.window_lines)) {
        (void)number_duration(o->window, &r.window_span);
        r.window_span *= 1000;
    }
    return r;
}
