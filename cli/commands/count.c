/* bloomery count: prints how often each line has occurred.
 *
 * Lines are read in batches. By default the count of each line so far is printed with the line
 * (tally.h). With --top, the keys with the highest counts are collected (bly_top of the library)
 * and printed at the end. Every count that is an estimate is marked.
 */
#include "cli.h"
#include "common_options.h"
#include "count/tally.h"
#include "io/output.h"
#include "io/pipeline.h"
#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct count_options {
    key_options keys;
    tally_request counts;
    uint64_t top, min;
    const char *key_file, *key;
    bool stats, json;
} count_options;

#define AT(field) offsetof(count_options, field)
static const cli_option options[] = {
    OPTION_VALUE("top", 0, CLI_COUNT, AT(top), "N",
                 "Print only the N most frequent keys, at the end, the most frequent first."),
    OPTION_VALUE("min", 0, CLI_COUNT, AT(min), "N", "Print only lines whose count is at least N."),
    OPTION_STATE(AT(counts.state),
                 "Continue counting across runs: start with the counts in FILE, and save the new "
                 "counts there. `bloomery merge` merges such files if all were created with the "
                 "same -n. With --top, only keys from this run are ranked."),
    OPTION_FLAG(
        "query", 0, AT(counts.query),
        "Count nothing; print the count that the FILE of --state has for each line. FILE may be "
        "any list that stores copies of keys (counting, hybrid, cuckoo and others)."),
    OPTION_KEY(AT(key), "Use the line KEY instead of reading input."),
    OPTION_FLAG("age", 0, AT(counts.age),
                "Halve all counts of the state first, so that old lines lose weight."),
    OPTION_FLAG("sketch", 0, AT(counts.sketch),
                "Count in a sketch of fixed size, for endless streams. Counts are then estimates, "
                "printed as ~17."),
    OPTION_EXACT(AT(counts.exact),
                 "Count exactly, which is the default. A state that contains a sketch is refused."),
    OPTION_EXPECT(
        AT(counts.keys),
        "Plan for N different keys. Exact counts grow beyond N, but those of a --state cannot: "
        "more keys are an error. For a file, the default is its estimated number of lines (for a "
        "sketch at most 16 million; for a state four times as many, and at least a million). For a "
        "pipe it is a million, or four million with --sketch."),
    OPTION_RATE(AT(counts.rate),
                "The share of new keys that may be mistaken for other keys, so that their counts "
                "are too high: 1e-9 by default, 5% with --sketch."),
    OPTION_MEMORY(
        AT(counts.memory),
        "The maximum memory for the counts, 1G by default. If exact counts need more, the run ends "
        "with an error. With --sketch or --state, the counts take all of SIZE at once."),
    KEY_OPTIONS(count_options),
    OPTION_SEED_OF_STATE(AT(counts.seed)),
    OPTION_KEY_FILE_OF_STATE(AT(key_file), "raise the counts of other lines"),
    OPTION_STATS(AT(stats), "Print totals, memory and speed on standard error at the end."),
    OPTION_JSON(AT(json),
                "Print a JSON object for each line; with --top a single object. An estimate has "
                "\"estimate\":true, and \"error\" is the most by which it can be too high."),
    {0},
};

typedef struct count_run {
    const count_options *options;
    tally tally;
    bly_top *top;
    pipeline lines;
    output out;
    uint64_t estimates, error; /* how many estimates were printed, and by how much one of them may
                                  be too high at most */
    tally_count counts[INPUT_BATCH];
} count_run;

/* ---- output ---------------------------------------------------------------------------------- */

static void note_estimate(count_run *r, tally_count c) {
    r->estimates += c.error > 0;
    r->error = c.error > r->error ? c.error : r->error;
}

/* Prints "17<TAB>line", or "~17<TAB>line" for an estimate, and the separator. */
static bool put(count_run *r, tally_count c, bly_bytes text) {
    char digits[24];
    size_t at = sizeof digits;
    uint64_t times = c.count;
    digits[--at] = '\t';
    do
        digits[--at] = (char)('0' + times % 10);
    while ((times /= 10) > 0);
    if (c.error)
        digits[--at] = '~';
    note_estimate(r, c);
    return output_put(&r->out, digits + at, sizeof digits - at) &&
           output_put(&r->out, text.data, text.size) &&
           output_put(&r->out, &r->lines.in.separator, 1);
}

static void json_count(count_run *r, json *out, tally_count c) {
    json_integer(out, "count", c.count);
    if (c.error) {
        json_bool(out, "estimate", true);
        json_integer(out, "error", c.error);
    }
    note_estimate(r, c);
}

static bool put_json(count_run *r, tally_count c, bly_bytes text) {
    json out = json_begin(stdout);
    json_count(r, &out, c);
    json_bytes(&out, "line", text);
    json_end(&out);
    return output_stdio_is_well();
}

/* Prints a line with its count; with --top, only remembers it. */
static bool print_count(count_run *r, bly_bytes record, bly_bytes key, tally_count c) {
    const count_options *o = r->options;
    if (c.count < o->min)
        return true;
    if (!r->top)
        return o->json ? put_json(r, c, record) : put(r, c, record);
    const bly_status status = c.count ? bly_top_offer(r->top, key.data, key.size, c.count) : BLY_OK;
    return status == BLY_OK || message_fail("%s", bly_strerror(status));
}

/* If any printed count was an estimate, prints a note that explains the "~" before it. */
static void explain_estimates(const count_run *r) {
    if (r->estimates == 0)
        return;
    if (!r->options->counts.query) {
        message_note("counts marked ~ are estimates, too high by at most %s%s",
                     NUMBER_GROUPED(r->error),
                     r->options->counts.state ? "" : "; without --sketch, counts are exact");
        return;
    }
    message_note("counts marked ~ are estimates: about %s keys have a count that is too high, and "
                 "counts above 27 are typically off by 20%%",
                 NUMBER_ONE_IN(filter_info(r->tally.filter).current_fpr));
}

static tally_count top_count(const count_run *r, const bly_top_entry *e) {
    return (tally_count){e->count, tally_error(&r->tally, e->key, e->count)};
}

static void top_json(count_run *r, const bly_top_entry *entries, size_t n) {
    json out = json_begin(stdout);
    json_integer(&out, pipeline_takes_links(&r->lines) ? "links" : "lines", r->lines.count);
    if (!r->options->counts.query)
        json_integer(&out, "new_keys", r->tally.fresh);
    json_text(&out, "kind", bly_kind_name(bly_filter_geometry(r->tally.filter).kind));
    json_bool(&out, "estimates", tally_is_sketch(&r->tally));
    json_integer(&out, "memory_bytes", tally_bytes(&r->tally));
    key_rule_json(&r->lines.rule, &out);
    json_real(&out, "seconds", progress_seconds(&r->lines.progress));
    json_open(&out, "top", '[');
    for (size_t i = 0; i < n; i++) {
        json_open(&out, NULL, '{');
        json_count(r, &out, top_count(r, &entries[i]));
        json_bytes(&out, "key", entries[i].key);
        json_close(&out, '}');
    }
    json_close(&out, ']');
    json_end(&out);
}

static bool print_top(count_run *r) {
    const bly_top_entry *entries;
    const size_t n = bly_top_list(r->top, &entries);
    bool good = true;
    if (r->options->json)
        top_json(r, entries, n);
    else
        for (size_t i = 0; good && i < n; i++)
            good = put(r, top_count(r, &entries[i]), entries[i].key);
    return good;
}

static void print_totals(count_run *r) {
    (void)fprintf(stderr, "%-10s %s\n", pipeline_takes_links(&r->lines) ? "links" : "lines",
                  NUMBER_GROUPED(r->lines.count));
    if (!r->options->counts.query)
        (void)fprintf(stderr, "%-10s %s\n", "new keys", NUMBER_GROUPED(r->tally.fresh));
    key_rule_print(&r->lines.rule, stderr);
    (void)fprintf(stderr, "%-10s %s (%s)\n", "memory", NUMBER_BYTES(tally_bytes(&r->tally)),
                  bly_kind_name(bly_filter_geometry(r->tally.filter).kind));
    pipeline_print_time(&r->lines, stderr);
}

/* ---- counting -------------------------------------------------------------------------------- */

static bool flush(void *at) {
    count_run *r = at;
    return output_stdio_flush() && output_flush(&r->out);
}

/* A count may be saved only when it has been printed, so the output is flushed first. */
static bool save_if_due(count_run *r) {
    state_file *k = &r->tally.kept;
    return !k->path || !autosave_due(&k->autosave) || (flush(r) && state_file_save(k));
}

static bool take_batch(void *at, const bly_bytes *records, size_t n) {
    count_run *r = at;
    const bly_bytes *keys = pipeline_keys(&r->lines, records, n);
    if (!keys)
        return false;
    const size_t done = tally_take(&r->tally, keys, n, r->counts);
    for (size_t i = 0; i < done; i++)
        if (!print_count(r, records[i], keys[i], r->counts[i]))
            return false;
    return done == n && save_if_due(r);
}

static bool open_tally(count_run *r) {
    const count_options *o = r->options;
    tally_request request = o->counts;
    bly_hasher space;
    request.estimate = pipeline_estimate(&r->lines);
    request.rule = &o->keys;
    if (!open_key(o->key_file, &space, &request.key) || !tally_open(&r->tally, &request))
        return false;
    if (r->tally.keeps_return)
        pipeline_keep_returns(&r->lines, request.query ? NULL : request.state);
    bly_status status = o->top ? bly_top_create((size_t)o->top, NULL, &r->top) : BLY_OK;
    return status == BLY_OK ||
           message_fail("--top %llu: %s", (unsigned long long)o->top, bly_strerror(status));
}

/* The first batch is read before the counts are created: it shows how many lines to expect. */
static bool take_lines(count_run *r) {
    pipeline_begin(&r->lines);
    return open_tally(r) && pipeline_run(&r->lines, take_batch, r);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int work(count_run *r) {
    const count_options *o = r->options;
    bool good = take_lines(r);
    if (good && o->top) {
        pipeline_note_signal();
        good = print_top(r);
    }
    good = flush(r) && good; /* print what is known, even after an error */
    good = good && (!r->tally.kept.filter || state_file_save(&r->tally.kept));
    if (good && o->stats)
        print_totals(r);
    if (good && !o->json)
        explain_estimates(r);
    if (good)
        tally_judge(&r->tally);
    return good && !r->lines.failed ? CLI_OK : CLI_ERROR;
}

static const char *query_conflict(const tally_request *o) {
    if (!o->query)
        return o->age && !o->state ? "--age needs --state FILE, whose counts it halves" : NULL;
    if (!o->state)
        return "--query needs --state FILE";
    if (o->age || o->exact || o->sketch || o->keys || o->memory || o->rate > 0 || o->seed)
        return "--query only reads counts; leave out --age, --exact, --sketch, -n, -p, -m and "
               "--seed";
    return NULL;
}

static const char *conflict(const count_options *o, cli_operands operands) {
    const tally_request *c = &o->counts;
    const char *why = query_conflict(c);
    if (why)
        return why;
    if (c->exact && c->sketch)
        return "--exact and --sketch cannot be combined; give only one";
    if (c->memory && c->keys && (c->sketch || c->state))
        return "with --sketch or --state, --memory and -n both set the size; give only one";
    if (c->age && c->exact)
        return "--age and --exact cannot be combined: --age halves counts, which only a sketch "
               "supports; give only one";
    if (o->key_file && c->seed)
        return "--key-file and --seed cannot be combined: the secret key replaces the seed";
    if (o->key && operands.count > 0)
        return "--key and a FILE cannot be combined; give only one";
    return key_options_conflict(&o->keys);
}

static int run(void *values, cli_operands operands) {
    const count_options *o = values;
    const char *why = conflict(o, operands);
    if (why)
        return message_error("%s", why);
    if (key_options_misplaced(&o->keys, operands))
        return CLI_ERROR;
    count_run *r = calloc(1, sizeof *r);
    if (!r)
        return message_error("out of memory");
    int status = CLI_ERROR;
    r->options = o;
    const pipeline_options how = {.keys = &o->keys,
                                  .text = o->key,
                                  .prints = !o->top,
                                  .catch_signals = o->counts.state || o->top,
                                  .idle = o->top ? NULL : flush,
                                  .idle_ctx = r};
    if (output_open(&r->out, NULL, false) && pipeline_open(&r->lines, &how, operands))
        status = work(r);
    pipeline_close(&r->lines);
    output_close(&r->out);
    tally_close(&r->tally);
    bly_top_destroy(r->top);
    free(r);
    return status;
}

const cli_command command_count = {
    .name = "count",
    .operands = "[FILE...]",
    .summary = "Count how often each line occurs",
    .brief = "Prints each line of the FILEs, or of standard input, with the number of times it has "
             "occurred so far and a tab before it. With --top, prints only the most frequent keys, "
             "at the end: what `sort | uniq -c | sort -rn | head` prints, but in one pass.\n"
             "\n"
             "Counts are exact, in about six bytes per different key. For endless streams, "
             "--sketch counts in fixed memory; its counts are estimates, printed as ~17.",
    .description =
        "Exact counts have one exception: one new key in a thousand million is mistaken for "
        "another (see -p). The memory grows with the number of different keys, up to 1 GiB (140 "
        "million keys) or --memory. If that is used up, the run ends with an error; the counts "
        "printed before are correct. Files compressed with gzip or zstd are decompressed.\n"
        "\n"
        "A sketch accepts any number of different keys. Frequent keys are counted exactly from "
        "some moment on (131,072 of them, or fewer with --memory); how often they occurred before "
        "that is estimated. A count with an estimated part is marked with ~. It is too high by at "
        "most that part, which --json prints as \"error\"; the greatest such part is printed at "
        "the end. Estimates above 27 are typically off by 20% in either direction. More different "
        "keys than planned (-n) make estimates higher.\n"
        "\n"
        "--state saves the counts for the next run, and --query prints them without counting. "
        "--query also reads any list that stores copies of keys. `bloomery build` makes such lists "
        "of the kinds that can remove keys (`bloomery plan -n 1M --deletes` shows them). The "
        "counters of a counting or layered list have a limit, at which they stay; that count means "
        "the limit or more. Exact counts of a state have a fixed capacity (-n). A sketch accepts "
        "more keys, and --age can halve its counts.\n"
        "\n"
        "--field, --url and similar options compare a part of each line, or a canonical form of "
        "it. Lines are still printed unchanged, but --top prints what was compared. One carriage "
        "return before the newline is not compared (except with -0). As in `bloomery dedup`, a "
        "state records these options.\n"
        "\n"
        "If an attacker can choose the lines, give the counts a secret key with --key-file.",
    .examples = "# the ten most frequent addresses of a log\n"
                "bloomery count --top 10 --field 1 -t ' ' access.log\n"
                "# print each line of an endless stream from its third occurrence on\n"
                "tail -F errors.log | bloomery count --sketch --min 3\n"
                "# count from day to day, and halve the weight of the past\n"
                "bloomery count --sketch --age --state words.bly --top 100 today.txt\n"
                "# look up how often a line occurred\n"
                "bloomery count --query --state words.bly -k filter\n"
                "# print the most frequent words as JSON\n"
                "bloomery count --top 1000 --json words.txt\n",
    .options = options,
    .most_used = {"top", "min", "field"},
    .values_size = sizeof(count_options),
    .run = run,
};
