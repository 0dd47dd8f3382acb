/* bloomery dedup: prints each line the first time it occurs.
 *
 * Records arrive in batches of a few thousand adjacent lines. A batch of keys is added to the state
 * in one call (dedup/state.h), which hides the memory's latency, and the new lines are copied to
 * the output. One pass, one hash per line, no allocation per line.
 *
 * A state file is saved only after its lines were printed and flushed. After a kill the next run
 * may print a line again, but never drops one because of the kill. A shared state is different: the
 * machine that adds a line first must print it, because all others drop it. So every batch is
 * printed as soon as the server has answered, and a kill in between drops the lines of one batch at
 * most.
 */
#include "cli.h"
#include "dedup/dedup_options.h"
#include "dedup/dedup_plan.h"
#include "dedup/dedup_report.h"
#include "io/interrupt.h"
#include "io/output.h"
#include "io/pipeline.h"
#include "text/message.h"

#include <stdlib.h>

typedef struct dedup_run {
    const dedup_options *options;
    state_request request;
    dedup_state *state;
    output out;
    pipeline lines;
    uint8_t fresh[INPUT_BATCH];
} dedup_run;

/* ---- a batch --------------------------------------------------------------------------------- */

/* For links and canonical forms, which are not followed by a separator as records are. */
static bool print_copy(dedup_run *r, bly_bytes record) {
    key_rule *rule = &r->lines.rule;
    const bly_bytes whole = record;
    if (r->options->print_canonical && bly_url_canonical(&rule->canonical, rule->level, whole.data,
                                                         whole.size, &record) == BLY_ENOMEM)
        return message_fail("out of memory");
    return output_put(&r->out, record.data, record.size) &&
           output_put(&r->out, &r->lines.in.separator, 1);
}

static bool print_batch(dedup_run *r, const bly_bytes *records, size_t n) {
    const bool copy = pipeline_takes_links(&r->lines) || r->options->print_canonical;
    const uint8_t wanted = !r->request.print_repeats;
    for (size_t i = 0; i < n; i++) {
        if (r->fresh[i] != wanted)
            continue;
        if (!(copy ? print_copy(r, records[i])
                   : output_put(&r->out, records[i].data, records[i].size + 1)))
            return false;
    }
    return !state_is_shared(r->state) || output_flush(&r->out);
}

/* With -o FILE, the state is saved only at the end: before that, FILE does not exist, and no line
 * counts as printed. */
static bool save_if_due(dedup_run *r) {
    if (r->out.path || r->options->count || !state_save_due(r->state))
        return true;
    return output_flush(&r->out) && state_save(r->state);
}

static bool take_batch(void *at, const bly_bytes *records, size_t n) {
    dedup_run *r = at;
    const bly_bytes *keys = pipeline_keys(&r->lines, records, n);
    if (!keys || !state_add(r->state, keys, n, r->fresh))
        return false;
    const bool printed = r->options->count || print_batch(r, records, n);
    const state_lines lines = {r->lines.in.path, r->lines.first, r->lines.last,
                               !pipeline_takes_links(&r->lines)};
    return state_printed(r->state, &lines, printed) && save_if_due(r);
}

/* While the input has nothing to read, buffered lines are printed. */
static bool flush(void *at) {
    dedup_run *r = at;
    return r->out.path || output_flush(&r->out);
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Reads the first batch before it opens the state, to estimate the number of lines. */
static bool open_state(dedup_run *r) {
    if (!state_opens_first(&r->request)) {
        pipeline_begin(&r->lines);
        r->request.estimate = pipeline_estimate(&r->lines);
    }
    r->state = state_open(&r->request);
    if (r->state && r->state->keeps_return)
        pipeline_keep_returns(&r->lines, r->state->name);
    return r->state != NULL;
}

/* An incomplete output file is not put in place, and then the state must not be saved. */
static bool finish(dedup_run *r) {
    const bool partial = r->out.path && (r->lines.failed || interrupt_seen());
    if (partial && !interrupt_seen())
        (void)message_error("%s: was not written, because not all of the input could be read",
                            r->out.path);
    if (partial)
        return false;
    if (!(r->out.path ? output_commit(&r->out) : output_flush(&r->out)))
        return false;
    return r->options->count || state_save(r->state);
}

static int work(dedup_run *r) {
    bool good = open_state(r) && pipeline_run(&r->lines, take_batch, r);
    if (!good && !r->out.path)
        (void)output_flush(&r->out); /* the lines known to be new */
    good = good && finish(r) && dedup_report(r->options, &r->lines, r->state);
    return good && !r->lines.failed ? CLI_OK : CLI_ERROR;
}

static int open_and_work(dedup_run *r, cli_operands files) {
    const dedup_options *o = r->options;
    const pipeline_options lines = {.keys = &o->keys,
                                    .prints = !o->output && !o->count,
                                    .catch_signals = state_outlives(&r->request),
                                    .max_record = r->request.memory ? dedup_max_line : 0,
                                    .max_copied = r->request.memory ? dedup_max_copied : 0,
                                    .idle = flush,
                                    .idle_ctx = r};
    if (r->request.memory)
        source_limit_memory(dedup_decoder_memory(r->request.memory));
    if (!output_open(&r->out, o->output, o->force))
        return CLI_ERROR;
    const int status = pipeline_open(&r->lines, &lines, files) ? work(r) : CLI_ERROR;
    pipeline_close(&r->lines);
    output_close(&r->out);
    state_close(r->state);
    return status;
}

static int run(void *values, cli_operands operands) {
    const dedup_options *o = values;
    char rule[KEY_OPTIONS_WORDS];
    const char *why = dedup_conflict(o);
    if (why)
        return message_error("%s", why);
    if (key_options_misplaced(&o->keys, operands))
        return CLI_ERROR;
    dedup_run *r = calloc(1, sizeof *r);
    if (!r)
        return message_error("out of memory");
    r->options = o;
    r->request = dedup_request(o, rule);
    const int status = open_and_work(r, operands);
    free(r);
    return status;
}

const cli_command command_dedup = {
    .name = "dedup",
    .operands = "[FILE...]",
    .summary = "Print each line the first time it is seen",
    .brief = "Prints each line of the FILEs, or of standard input, the first time it occurs, as "
             "`awk '!seen[$0]++'` does, but faster and in 2 to 4 bytes of memory per different "
             "line. Repeats are never printed.\n"
             "\n"
             "Lines are remembered in a Bloom filter, so a new line may be mistaken for a repeat "
             "and dropped. On average this happens to at most 1 new line in 1,000, however many "
             "lines there are; -p 1/1000000, for example, sets another rate. --exact drops no "
             "new line, and takes 11 to 23 bytes of memory per different line. --confirm FILE "
             "drops none either, and keeps 10 to 20 bytes per different line in FILE.",
    .description =
        "The filter takes about two bytes for each different line with -n, and three to four if it "
        "must grow. If there are more lines than -n, or than --memory has room for, more new lines "
        "are dropped than requested; a warning at the end says how many. Files compressed by gzip "
        "or zstd are decompressed.\n"
        "\n"
        "With --exact and --confirm, a new line is dropped only if its 64-bit fingerprint equals "
        "that of another line. The chance that this happens at all is 1 in 1.5 million for 5 "
        "million lines, and 1 in 3,700 for 100 million.\n"
        "\n"
        "With --window, a line is a repeat only if it is among the last N lines, or was read "
        "within the last TIME. Older lines are forgotten, so that memory stays constant in an "
        "endless stream. A line among the last N is always recognised, and certainly forgotten "
        "when N + N/8 + 12 lines have followed it. All lines count, repeats included, and a repeat "
        "renews the line. A TIME is measured by the system's clock: a line is recognised for TIME, "
        "and for at most a quarter longer. With --state, time continues between two runs.\n"
        "\n"
        "With --redis, any number of machines share one filter, on a server that needs no module. "
        "Exactly one of them prints each new line, as soon as the server has answered. SIGINT, "
        "SIGTERM and SIGHUP end the run after the current batch, and drop no line. If a process is "
        "killed, or its reader ends, between the answer and the output, up to a few thousand new "
        "lines are lost for all machines. A server that does not store its data on disk may lose "
        "the filter; this is an error, and the run does not start again with an empty filter (see "
        "--on-error).\n"
        "\n"
        "With --redis and --allow-replica, lines are only looked up, so the address may be that of "
        "a replica. A line is printed if the filter does not contain it and it did not occur "
        "earlier in this run.\n"
        "\n"
        "Lines are compared byte by byte, without their newline and without one carriage return "
        "before it, so that a line is the same in files with Windows and with Unix line ends. "
        "Lines are printed with their line ends. With -0, a carriage return is an ordinary byte. A "
        "newline is added to the last line if it has none.\n"
        "\n"
        "A state records by which options keys are made from lines (--url, --field and others), "
        "and a run with different ones is refused. `bloomery check` and `bloomery add` use the "
        "recorded options. A list that `bloomery build` made from lines can be used as a state, "
        "too.",
    .examples =
        "# the different lines of a log\n"
        "bloomery dedup access.log\n"
        "# a crawl's URLs, without those that differ only in spelling or tracking\n"
        "zcat urls-*.gz | bloomery dedup --url=crawl -n 50M > frontier.txt\n"
        "# remember from one run to the next\n"
        "bloomery dedup --state seen.bly today.txt > new.txt\n"
        "# an alert once an hour, not every time\n"
        "tail -F errors.log | bloomery dedup --window 1h\n"
        "# every link of a set of pages, once; no link is dropped\n"
        "cat pages/*.html | bloomery dedup -x --url --exact\n"
        "# one crawl on many machines: each runs this with its own URLs\n"
        "bloomery dedup --redis redis://cache.example/crawl:seen -n 100M --url=crawl urls.txt\n"
        "# how many repeats are there?\n"
        "bloomery dedup -c --json urls.txt",
    .options = dedup_option_table,
    .most_used = {"exact", "state", "url"},
    .values_size = sizeof(dedup_options),
    .run = run,
};
