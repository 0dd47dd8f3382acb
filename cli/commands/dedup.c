/* bloomery dedup: each line the first time it is seen.
 *
 * Records come in batches, a few thousand lines that lie in a buffer one after the other. A batch
 * of keys is added to the state as a whole (dedup/state.h), which hides the memory's latency, and
 * the new lines are copied to the output. One pass, one hash a line, no allocation per line.
 *
 * What a file remembers is written only after the lines it stands for have left the process.
 * Whatever kills it, the next run may print a line again; it never leaves one out. With a shared
 * state it is the other way round: whoever adds a line first has taken it for all machines, and
 * must print it. So every batch is printed as soon as it is answered, and only what dies in between
 * drops lines, a batch of them at most.
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

typedef struct job {
    const dedup_options *options;
    state_request request;
    dedup_state *state;
    output out;
    pipeline lines;
    uint8_t fresh[INPUT_BATCH];
} job;

/* ---- a batch --------------------------------------------------------------------------------- */

/* A record of the input has its separator behind it; a link, or a canonical form, has not. */
static bool print_copy(job *j, bly_bytes record) {
    key_rule *rule = &j->lines.rule;
    const bly_bytes whole = record;
    if (j->options->print_canonical && bly_url_canonical(&rule->canonical, rule->level, whole.data,
                                                         whole.size, &record) == BLY_ENOMEM) {
        (void)message_error("out of memory");
        return false;
    }
    return output_put(&j->out, record.data, record.size) &&
           output_put(&j->out, &j->lines.in.separator, 1);
}

static bool print_batch(job *j, const bly_bytes *records, size_t n) {
    const bool copy = pipeline_takes_links(&j->lines) || j->options->print_canonical;
    const uint8_t wanted = !j->options->repeated;
    for (size_t i = 0; i < n; i++) {
        if (j->fresh[i] != wanted)
            continue;
        if (!(copy ? print_copy(j, records[i])
                   : output_put(&j->out, records[i].data, records[i].size + 1)))
            return false;
    }
    return !state_is_shared(j->state) || output_flush(&j->out);
}

/* Not while the output is a file that will appear only at the end: until then nothing is printed.
 */
static bool save_now_and_then(job *j) {
    if (j->out.path || j->options->count || !state_save_due(j->state))
        return true;
    return output_flush(&j->out) && state_save(j->state);
}

static bool take_batch(void *at, const bly_bytes *records, size_t n) {
    job *j = at;
    const input *in = &j->lines.in;
    const bly_bytes *keys = pipeline_keys(&j->lines, records, n);
    if (!keys || !state_add(j->state, keys, n, j->fresh))
        return false;
    const bool printed = j->options->count || print_batch(j, records, n);
    const state_lines lines = {in->path, in->number, in->number + in->count - 1,
                               !pipeline_takes_links(&j->lines)};
    return state_printed(j->state, &lines, printed) && save_now_and_then(j);
}

/* Lines that wait in the buffer while nothing comes in are shown. */
static bool flush(void *at) {
    job *j = at;
    return j->out.path || output_flush(&j->out);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* The first batch tells how many lines to expect. */
static bool open_state(job *j) {
    if (!state_opens_first(&j->request)) {
        pipeline_begin(&j->lines);
        j->request.estimate = pipeline_estimate(&j->lines);
    }
    j->state = state_open(&j->request);
    if (j->state && j->state->keeps_return)
        pipeline_keep_returns(&j->lines, j->state->name);
    return j->state != NULL;
}

/* An output file that is not whole is not put in place, and then nothing may be remembered. */
static bool finish(job *j) {
    const bool partial = j->out.path && (j->lines.failed || interrupt_seen());
    if (partial && !interrupt_seen())
        (void)message_error("%s: was not written, since not all of the input could be read",
                            j->out.path);
    if (partial)
        return false;
    if (!(j->out.path ? output_commit(&j->out) : output_flush(&j->out)))
        return false;
    return j->options->count || state_save(j->state);
}

static bool report(const job *j) {
    const dedup_options *o = j->options;
    FILE *to = o->count ? stdout : stderr;
    state_facts facts;
    state_get_facts(j->state, &facts);
    const dedup_report r = {&j->lines, j->state, &facts};
    if (o->json)
        dedup_report_json(&r, to);
    else if (o->count)
        dedup_report_count(&r, to);
    if (o->stats && !o->json)
        dedup_report_text(&r, stderr);
    return state_judge(j->state, &facts);
}

static int work(job *j) {
    bool good = open_state(j) && pipeline_run(&j->lines, take_batch, j);
    if (!good && !j->out.path)
        (void)output_flush(&j->out); /* what is known to be new is not kept back */
    good = good && finish(j) && report(j);
    return good && !j->lines.failed ? CLI_OK : CLI_ERROR;
}

static int open_and_work(job *j, cli_operands files) {
    const dedup_options *o = j->options;
    const pipeline_options lines = {.keys = &o->keys,
                                    .prints = !o->output && !o->count,
                                    .catch_signals = state_outlives(&j->request),
                                    .max_record = o->memory ? dedup_max_line : 0,
                                    .idle = flush,
                                    .idle_ctx = j};
    if (o->memory)
        source_limit_memory(dedup_decoder_memory(o->memory));
    if (!output_open(&j->out, o->output, o->force))
        return CLI_ERROR;
    const int status = pipeline_open(&j->lines, &lines, files) ? work(j) : CLI_ERROR;
    pipeline_close(&j->lines);
    output_close(&j->out);
    state_close(j->state);
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
    job *j = calloc(1, sizeof *j);
    if (!j)
        return message_error("out of memory");
    j->options = o;
    j->request = dedup_request(o, rule);
    const int status = open_and_work(j, operands);
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
    .options = dedup_option_table,
    .most_used = {"exact", "state", "url"},
    .values_size = sizeof(dedup_options),
    .run = run,
};
