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
    if (!o->json && !o->count && !o->stats)
        dedup_report_dropped(&r);
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
    .brief =
        "Prints each line of the FILEs, or of standard input, the first time it occurs: what "
        "`awk '!seen[$0]++'` does, at the speed of reading and in a few megabytes. A repeat is "
        "never printed.\n"
        "\n"
        "A new line may be mistaken for a repeat and dropped. This happens to 1 new line in "
        "1,000, unless -p sets another rate. To drop none, use --exact, which needs more "
        "memory, or --confirm FILE, which uses the disk.",
    .description =
        "Lines are remembered in a filter, which takes about two bytes for each different line."
        " Files compressed by gzip or zstd are decompressed.\n"
        "\n"
        "With --exact and --confirm, a new line is dropped only if its 64-bit fingerprint "
        "equals that of another line. The chance that this happens at all is 1 in 1.5 million "
        "for 5 million lines, and 1 in 3,700 for 100 million.\n"
        "\n"
        "With --window, a line is a repeat only if it is among the last N lines, or was read "
        "within the last TIME. Older lines are forgotten, so that memory stays constant in an "
        "endless stream. A line among the last N is always recognised, and certainly forgotten "
        "when N + N/8 + 12 lines have followed it. All lines count, repeats included, and a "
        "repeat renews the line. A TIME is measured by the system's clock: a line is recognised"
        " for TIME, and for at most a quarter longer. With --state, time continues between two "
        "runs.\n"
        "\n"
        "With --redis, any number of machines share one filter, on a server that needs no "
        "module. Exactly one of them prints each new line, as soon as the server has answered. "
        "SIGINT, SIGTERM and SIGHUP end the run after the current batch, and drop no line. If a"
        " process is killed, or its reader ends, between the answer and the output, up to a few"
        " thousand new lines are lost for all machines. A server that does not store its data "
        "on disk may lose the filter; this is an error, and the run does not start again with "
        "an empty filter (see --on-error).\n"
        "\n"
        "With --redis and --allow-replica, lines are only looked up, so the address may be that"
        " of a replica. A line is printed if the filter does not contain it and it did not "
        "occur earlier in this run.\n"
        "\n"
        "Lines are compared byte by byte, without their newline and without one carriage return"
        " before it, so that a line is the same in files with Windows and with Unix line ends. "
        "Lines are printed with their line ends. With -0, a carriage return is an ordinary "
        "byte. A newline is added to the last line if it has none.\n"
        "\n"
        "A state records by which options keys are made from lines (--url, --field and others),"
        " and a run with different ones is refused. `bloomery check` and `bloomery add` use the"
        " recorded options. A list that `bloomery build` made from lines can be used as a "
        "state, too.",
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
