/* bloomery dedup: each line the first time it is seen.
 *
 * Records come in batches, a few thousand lines that lie in a buffer one after the other. A batch
 * is asked for as a whole (seen.h), which hides the memory's latency, and the new lines are copied
 * to the output. One pass, one hash a line, no allocation per line.
 *
 * What is remembered across runs is written only after the lines it stands for have left the
 * process. Whatever kills it, the next run may print a line again; it never leaves one out.
 *
 * With --redis it is the other way round: whoever asks the server first has taken the line for all
 * machines, and must print it. So every batch is printed as soon as it is answered, and only what
 * dies in between loses lines, a batch of them at most.
 */
#include "cli.h"
#include "common_options.h"
#include "dedup/dedup_report.h"
#include "dedup/seen_plan.h"
#include "dedup/seen_redis.h"
#include "filters/kind_words.h"
#include "filters/state_rule.h"
#include "io/autosave.h"
#include "io/interrupt.h"
#include "io/key_options.h"
#include "io/links.h"
#include "io/output.h"
#include "text/message.h"
#include "text/numbers.h"
#include "text/progress.h"

#include <bloomery/redis/bitmap.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct dedup_options {
    key_options keys;
    uint64_t expect, memory, seed;
    double rate;
    bool repeated, count, force, exact, print_canonical, stats, json;
    const char *output, *confirm, *state, *window, *redis;
    uint64_t shards, expire, replicas;
    unsigned on_error; /* 0, or a seen_redis_policy */
} dedup_options;

#define AT(field) offsetof(dedup_options, field)
static const cli_option options[] = {
    OPTION_EXPECT(AT(expect),
                  "Plan for N different keys. Without it the filter grows as it must. With "
                  "--window TIME: how many keys come within it, a million unless given."),
    OPTION_RATE(AT(rate), "How often a new line may be taken for a repeat, and lost: 0.001 (the "
                          "default), 0.1%, 1/1000."),
    OPTION_MEMORY(AT(memory),
                  "Never use more memory than this, and choose the best rate that fits: 64M, 1G. "
                  "Lines longer than 512 KiB are then left out, with an error."),
    KEY_OPTIONS(dedup_options),
    {.name = "print-canonical",
     .type = CLI_FLAG,
     .at = AT(print_canonical),
     .help = "With --url: print URLs in canonical form instead of as they came."},
    {.name = "repeated",
     .letter = 'd',
     .type = CLI_FLAG,
     .at = AT(repeated),
     .help = "Print the repeats instead: every line but the first of its like."},
    OPTION_COUNT(AT(count),
                 "Print only the totals. A --state is read, but not changed: nothing was printed."),
    OPTION_OUTPUT(AT(output), "FILE", "Write to FILE, which appears only when it is whole."),
    OPTION_FORCE(AT(force), "Replace an existing FILE."),
    OPTION_EXACT(
        AT(exact),
        "Lose no line: keep a 64-bit fingerprint of every key in memory, 11 to 23 bytes each."),
    {.name = "confirm",
     .type = CLI_FILE,
     .at = AT(confirm),
     .metavar = "FILE",
     .help = "Lose no line, in little memory: what the filter takes for a repeat is settled "
             "against fingerprints kept in FILE, which also remembers them for the next run."},
    OPTION_STATE(AT(state),
                 "Remember across runs: begin with what FILE has seen, and save there what is new. "
                 "After a kill at any moment the next run may repeat a line, but never loses one."),
    OPTION_WINDOW(AT(window), NULL,
                  "Only the last N lines, or those of the last TIME (90s, 15m, 24h, 7d), count as "
                  "seen: an older line is printed again. For streams without end. The memory is "
                  "fixed: about three bytes for each of the N lines, or about nine for each of "
                  "those that -n says come within TIME. 1M is a million lines, 1m a minute."),
    {.name = "redis",
     .type = CLI_TEXT,
     .at = AT(redis),
     .metavar = "URL",
     .group = CLI_GROUP_SERVER,
     .help = "Remember in a filter on a Redis or Valkey server, which many machines share: of each "
             "line one of them prints the first. No module is needed. URL is "
             "redis://:PASSWORD@HOST:PORT/KEY, unix:///SOCKET?key=KEY and the like. The first to "
             "come makes the filter, for the -n different keys of all of them together; the others "
             "join it, and may leave out -n and -p."},
    OPTION_SHARDS(AT(shards), "With --redis"),
    OPTION_EXPIRE(AT(expire), "With --redis: a new filter vanishes after TIME (90s, 15m, 24h, 7d), "
                              "all of it at once. One that is there keeps its own time."),
    {.name = "replicas",
     .type = CLI_COUNT,
     .at = AT(replicas),
     .metavar = "N",
     .group = CLI_GROUP_SERVER,
     .help = "With --redis: an answer counts when N replicas of the server know of it, so that a "
             "replica that takes over prints nothing again. One that does not count is an error "
             "(--on-error)."},
    OPTION_ON_ERROR(
        AT(on_error), "stop|print|drop",
        "With --redis: what becomes of lines of which the server did not say whether they are new, "
        "since it is away or an answer was lost on the way. stop (the default): the run ends, with "
        "status 2, and says which they are. print: they are printed, perhaps not for the first "
        "time. drop: they are left out, perhaps for ever. They are counted. A filter that is gone, "
        "or that the server refuses, always ends the run."),
    OPTION_SEED(AT(seed), "The seed of a new filter's hash function. 0, the default, chooses one "
                          "at random, so that strangers cannot make lines that are taken for each "
                          "other; with a seed the same input always gives the same output."),
    OPTION_STATS(AT(stats), "Print totals, memory, rates and speed on standard error at the end."),
    OPTION_JSON(AT(json), "The same as a JSON object; with --count on standard output."),
    {0},
};

typedef struct job {
    const dedup_options *options;
    seen seen;
    seen_redis redis; /* instead of `seen`, with --redis */
    key_rule rule;
    output out;
    input in;
    links links;
    progress progress;
    dedup_totals totals;
    autosave autosave;
    uint64_t decoder_memory;
    uint64_t window_keys, window_seconds; /* --window, whichever it is */
    bool warned;                          /* of a carriage return */
    bly_bytes texts[INPUT_BATCH];
    uint8_t fresh[INPUT_BATCH];
} job;

/* ---- one batch ------------------------------------------------------------------------------- */

static void watch_returns(job *j) {
    const bool old = j->options->redis ? j->redis.keeps_return : j->seen.keeps_return;
    const char *name = j->options->redis   ? j->redis.remote.at.name
                       : j->options->state ? j->options->state
                                           : j->options->confirm;
    if (old && j->rule.met && !j->options->keys.null)
        key_state_warn(name, &j->warned);
}

static bool ask(job *j, const bly_bytes *records, size_t n) {
    bool good;
    if (key_is_record(&j->rule))
        good = seen_keys(&j->seen, key_texts(&j->rule, records, n, j->texts), n, j->fresh);
    else
        good = key_hashes(&j->rule, &j->seen.hasher, records, n, j->seen.hashes) &&
               seen_hashes(&j->seen, n, j->fresh);
    watch_returns(j);
    return good;
}

/* A record of the input has its separator behind it; a link, or a canonical form, has not. */
static bool print_made(job *j, bly_bytes record) {
    if (j->options->print_canonical) {
        const bly_bytes whole = record;
        if (bly_url_canonical(&j->rule.canonical, j->rule.level, whole.data, whole.size, &record) ==
            BLY_ENOMEM) {
            (void)message_error("out of memory");
            return false;
        }
    }
    return output_put(&j->out, record.data, record.size) &&
           output_put(&j->out, &j->in.separator, 1);
}

static bool print_batch(job *j, const bly_bytes *records, size_t n) {
    bool made = j->options->keys.extract || j->options->print_canonical;
    uint8_t wanted = !j->options->repeated;
    for (size_t i = 0; i < n; i++) {
        if (j->fresh[i] != wanted)
            continue;
        if (!(made ? print_made(j, records[i])
                   : output_put(&j->out, records[i].data, records[i].size + 1)))
            return false;
    }
    return true;
}

/* ---- remembering ----------------------------------------------------------------------------- */

static bool save(job *j) {
    autosave_begin(&j->autosave);
    const bool good = output_flush(&j->out) && seen_save(&j->seen);
    autosave_end(&j->autosave);
    return good;
}

/* Not while the output is a file that will appear only at the end: until then nothing is printed.
 */
static bool save_now_and_then(job *j) {
    if (seen_is_due(&j->seen))
        return save(j);
    bool remembers = j->seen.state || j->seen.confirm;
    if (!remembers || j->out.path || j->options->count)
        return true;
    return !autosave_due(&j->autosave) || save(j);
}

/* What is in the filter is everybody's: it is printed at once. */
static bool share_batch(job *j, const bly_bytes *records, size_t n) {
    const input *in = &j->in;
    const uint8_t printed = !j->options->repeated;
    const uint8_t doubt = j->redis.policy == SEEN_REDIS_PRINT ? printed : !printed;
    if (!seen_redis_ask(&j->redis, &j->rule, records, n, doubt, j->fresh))
        return false;
    watch_returns(j);
    j->totals.records += n;
    j->totals.unique = j->redis.fresh;
    if (!(print_batch(j, records, n) && output_flush(&j->out))) {
        if (!interrupt_reader_gone())
            message_note("%s: the filter has the lines %llu to %llu of %s now, and takes them for "
                         "repeats; those of them that were new were not all printed",
                         j->redis.remote.at.name, (unsigned long long)in->number,
                         (unsigned long long)(in->number + in->count - 1), in->path);
        return false;
    }
    /* A link is in one of the batch's lines; which, nobody has kept. */
    const bool whole = j->links.whole;
    return seen_redis_go_on(&j->redis, in->path, in->number + (whole ? j->redis.first : 0),
                            in->number + (whole ? j->redis.last : in->count - 1));
}

static bool take_batch(void *at, const bly_bytes *records, size_t n) {
    job *j = at;
    if (j->options->redis)
        return share_batch(j, records, n);
    seen_tick(&j->seen);
    if (!ask(j, records, n))
        return false;
    size_t unique = 0;
    for (size_t i = 0; i < n; i++)
        unique += j->fresh[i];
    j->totals.records += n;
    j->totals.unique += unique;
    return (j->options->count || print_batch(j, records, n)) && save_now_and_then(j);
}

/* Lines that wait in the buffer while nothing comes in are shown. */
static bool show_what_is_there(void *at) {
    job *j = at;
    return output_flush(&j->out);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool open_seen(job *j) {
    const dedup_options *o = j->options;
    char rule[KEY_OPTIONS_WORDS];
    seen_wish wish = {.keys = o->expect,
                      .seed = o->seed,
                      .key_rule = key_options_code(&o->keys),
                      .rule = key_options_words(&o->keys, rule),
                      .overhead = seen_overhead + j->decoder_memory,
                      .rate = o->rate,
                      .memory = o->memory,
                      .exact = o->exact,
                      .window_keys = j->window_keys,
                      .window_span = j->window_seconds * 1000,
                      .confirm = o->confirm,
                      .state = o->state,
                      .estimate = o->keys.extract ? 0 : input_estimate(&j->in)};
    if (!seen_open(&j->seen, &wish))
        return false;
    j->rule.exact |= j->seen.keeps_return;
    return true;
}

static bool open_redis(job *j) {
    const dedup_options *o = j->options;
    char rule[KEY_OPTIONS_WORDS];
    const seen_redis_wish wish = {.address = o->redis,
                                  .key_rule = key_options_code(&o->keys),
                                  .rule = key_options_words(&o->keys, rule),
                                  .keys = o->expect,
                                  .rate = o->rate,
                                  .seed = o->seed,
                                  .shards = o->shards,
                                  .seconds = o->expire,
                                  .replicas = o->replicas,
                                  .policy = o->on_error ? (seen_redis_policy)o->on_error
                                                        : SEEN_REDIS_STOP};
    if (!seen_redis_open(&j->redis, &wish))
        return false;
    j->rule.exact |= j->redis.keeps_return;
    return true;
}

/* The first batch is read before a filter is made: it tells how many lines to expect. A server that
 * cannot be used is told before a line comes. */
static bool work(job *j) {
    bool good = !j->options->redis || open_redis(j);
    bool more = good && input_next(&j->in);
    good = good && (j->options->redis || open_seen(j));
    while (good && more) {
        good = links_take(&j->links, j->in.records, j->in.count, take_batch, j);
        progress_show(&j->progress, j->in.records_read, input_position(&j->in), j->in.bytes_total);
        more = good && !interrupt_seen() && input_next(&j->in);
    }
    return good;
}

/* An output file that is not whole is not put in place, and then nothing may be remembered. */
static bool finish(job *j) {
    bool partial = j->out.path && (input_failed(&j->in) || interrupt_seen());
    if (partial && !interrupt_seen())
        (void)message_error("%s: was not written, since not all of the input could be read",
                            j->out.path);
    if (partial)
        return false;
    if (!(j->out.path ? output_commit(&j->out) : output_flush(&j->out)))
        return false;
    return j->options->count || seen_save(&j->seen);
}

static void report(job *j) {
    const dedup_options *o = j->options;
    FILE *to = o->count ? stdout : stderr;
    j->totals.seconds = progress_seconds(&j->progress);
    j->totals.links = o->keys.extract;
    j->totals.window_keys = j->window_keys;
    j->totals.window_seconds = j->window_seconds;
    j->totals.texts = j->in.records_read;
    if (o->json)
        dedup_report_json(to, &j->totals, &j->seen, &j->rule);
    else if (o->count)
        dedup_report_count(to, &j->totals, &j->seen, &j->rule);
    if (o->stats && !o->json)
        dedup_report_text(stderr, &j->totals, &j->seen, &j->rule);
}

/* A window by time may have had more keys than it was made for, and be well again. One by number
 * cannot; but one of a few lines may be a third worse than it would be on average. */
static bool judge_window(const job *j, double useless) {
    const double worst = fmax(j->seen.worst, seen_rate_now(&j->seen));
    char lost[NUMBER_TEXT], rate[NUMBER_TEXT], span[NUMBER_TEXT];
    if (j->window_seconds == 0 || worst <= 1.1 * seen_rate_promised(&j->seen))
        return true;
    message_warn("more keys came within %s than the window was made for: about %s new lines were "
                 "lost, at worst %s of them; %sa larger -n",
                 number_span(j->window_seconds, span), dedup_report_estimate(j->seen.lost, lost),
                 number_percent(worst, rate),
                 j->options->state ? "begin a new state, with " : "give it ");
    return worst <= useless;
}

/* Lines without an answer were told of when they came, but that may be long ago. */
static bool judge_redis(const job *j, double useless) {
    const seen_redis *s = &j->redis;
    const uint64_t doubtful = s->unsure + s->unknown;
    char count[NUMBER_TEXT], lost[DEDUP_ESTIMATE], rate[NUMBER_TEXT];
    if (doubtful)
        message_warn("%s line%s got no answer, and %s", number_grouped(doubtful, count),
                     doubtful == 1 ? "" : "s",
                     s->policy == SEEN_REDIS_PRINT ? "may have been printed a second time"
                                                   : "may be lost");
    if (s->rate <= 1.1 * seen_redis_promised(s))
        return true;
    message_warn(
        "%s: has %s keys, more than it was made for: %s new lines were lost in this run, and "
        "now %s of them are; begin a new one, under another name and with a larger -n",
        s->remote.at.name, number_grouped(s->facts.count, count),
        dedup_report_about(dedup_totals_lost(&j->totals), lost), number_percent(s->rate, rate));
    return s->rate <= useless;
}

/* A filter that cannot grow may be overfull by now; one that loses most of what is new has failed.
 */
static bool judge(const job *j) {
    static const double useless = 0.5;
    char lines[NUMBER_TEXT], lost[NUMBER_TEXT], rate[NUMBER_TEXT], advice[128];
    if (j->options->redis)
        return judge_redis(j, useless);
    if (!j->seen.filter || kinds_grow(bly_filter_geometry(j->seen.filter).kind))
        return true;
    if (j->seen.window)
        return judge_window(j, useless);
    double now = seen_rate_now(&j->seen);
    if (now <= 1.1 * seen_rate_promised(&j->seen))
        return true;
    (void)snprintf(advice, sizeof advice, "-n %s is surely enough, and without -n it grows",
                   number_grouped(j->totals.records, lines));
    const char *remedy = j->options->memory  ? "give it more --memory, or use --confirm FILE"
                         : j->options->state ? "begin a new state, without -n"
                                             : advice;
    message_warn("more keys came than the filter was made for: about %s new lines were lost, and "
                 "now %s of them are; %s",
                 dedup_report_estimate(j->seen.lost, lost), number_percent(now, rate), remedy);
    return now <= useless;
}

static int run_job(job *j) {
    progress_begin(&j->progress, !j->options->output && !j->options->count);
    bool good = work(j);
    if (!good && !j->out.path)
        (void)output_flush(&j->out); /* what is known to be new is not kept back */
    good = good && finish(j);
    if (good && j->options->redis)
        seen_redis_look(&j->redis);
    progress_end(&j->progress);
    if (good)
        report(j);
    good = good && judge(j);
    return good && !input_failed(&j->in) ? CLI_OK : CLI_ERROR;
}

/* ---- options --------------------------------------------------------------------------------- */

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

static const char *conflict(const dedup_options *o) {
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

static int run(void *values, cli_operands operands) {
    const dedup_options *o = values;
    const char *why = conflict(o);
    if (why)
        return message_error("%s", why);
    if (key_options_misplaced(&o->keys, operands))
        return CLI_ERROR;
    job *j = calloc(1, sizeof *j);
    if (!j)
        return message_error("out of memory");
    j->options = o;
    j->rule = key_options_rule(&o->keys);
    j->links.whole = !o->keys.extract;
    j->autosave = autosave_start();
    j->totals.redis = o->redis ? &j->redis : NULL;
    if (o->window && number_count(o->window, &j->window_keys))
        (void)number_duration(o->window, &j->window_seconds);
    int status = CLI_ERROR;
    size_t longest = o->memory ? seen_longest_line : 0;
    if (o->memory) {
        j->decoder_memory = seen_decoder_memory(o->memory);
        source_limit_memory(j->decoder_memory);
    }
    if (output_open(&j->out, o->output, o->force)) {
        if (input_open(&j->in, operands.items, operands.count, key_options_separator(&o->keys),
                       longest)) {
            j->in.idle = j->out.path ? NULL : show_what_is_there;
            j->in.idle_ctx = j;
            if (o->state || o->confirm || o->redis)
                interrupt_watch();
            status = run_job(j);
            input_close(&j->in);
        }
        output_close(&j->out);
    }
    seen_close(&j->seen);
    seen_redis_close(&j->redis);
    links_free(&j->links);
    key_rule_free(&j->rule);
    free(j);
    return status;
}

const cli_command command_dedup = {
    .name = "dedup",
    .operands = "[FILE...]",
    .summary = "Print each line the first time it is seen",
    .description =
        "Prints the lines of the FILEs, or of standard input, that were not there before, in their "
        "order: what `awk '!seen[$0]++'` does, at the speed of reading and in a few megabytes. "
        "Files "
        "compressed by gzip or zstd are read as they are.\n"
        "\n"
        "Lines are remembered in a filter: two bytes for each instead of the line. A repeat is "
        "never "
        "printed. A new line is taken for a repeat, and so lost, at the rate chosen by -p: one in "
        "a "
        "thousand unless said otherwise. Where not one may be lost, use --exact or --confirm.\n"
        "\n"
        "With --exact and --confirm a line is lost only if its 64-bit fingerprint is that of "
        "another: for 5 million lines a chance of 1 in 1.5 million that it happens at all, for 100 "
        "million 1 in 3700.\n"
        "\n"
        "With --window a repeat is one of the last N lines, or of the last TIME, and what is older "
        "is "
        "forgotten: in a stream without end the memory stays as it is. A line that was among the "
        "last "
        "N is never printed again; it is forgotten for certain when an eighth more, and a dozen, "
        "have "
        "come. Lines are counted, repeats too, and a repeat counts as seen again. By time it is "
        "the "
        "same, by the system's clock: TIME for "
        "certain, a quarter more at most. With --state time goes on between two runs.\n"
        "\n"
        "With --redis any number of machines share one filter, on a server that needs no module. "
        "Each "
        "line is printed by the one that brings it first, at whatever moment the others bring it. "
        "What "
        "the server has answered for is printed at once, with nothing kept back; but a process "
        "that is "
        "killed, or whose reader goes away, between the answer and its own output loses those "
        "lines "
        "for all, a few thousand at most. (SIGINT, SIGTERM and SIGHUP end it behind a batch, and "
        "lose "
        "none.) What the server forgets, because it keeps nothing on disk, is an error, not a new "
        "beginning: see --on-error.\n"
        "\n"
        "Lines are compared byte for byte, without their newline and one carriage return before "
        "it: "
        "files with the line ends of Windows and of Unix have the same lines. What is printed "
        "keeps "
        "them. With -0 a carriage return is a byte like any other. The last line may lack its "
        "newline, "
        "and gets one.\n"
        "\n"
        "A state records how its keys are made from lines (--url, and that the carriage return is "
        "left "
        "out), and a run that makes them otherwise is refused. `bloomery check` and `add` apply "
        "what "
        "it records; a list that `bloomery build` made of lines can be a state, too.",
    .examples =
        "# the different lines of a log\n"
        "bloomery dedup access.log\n"
        "# a crawl's URLs, without those that differ only in spelling or tracking\n"
        "zcat urls-*.gz | bloomery dedup --url=crawl -n 50M > frontier.txt\n"
        "# remember from one run to the next\n"
        "bloomery dedup --state seen.bly today.txt > new.txt\n"
        "# an alert once an hour, not every time\n"
        "tail -F errors.log | bloomery dedup --window 1h\n"
        "# every link of a set of pages, once, and none lost\n"
        "cat pages/*.html | bloomery dedup -x --url --exact\n"
        "# one crawl by many machines: each runs this, with its own URLs\n"
        "bloomery dedup --redis redis://cache.example/crawl:seen -n 100M --url=crawl urls.txt\n"
        "# how many repeats are there?\n"
        "bloomery dedup -c --json urls.txt",
    .options = options,
    .most_used = {"exact", "state", "url"},
    .values_size = sizeof(dedup_options),
    .run = run,
};
