/* bloomery distinct: prints the number of different lines.
 *
 * Lines are read in batches, as they lie in the buffer, and each batch is added to a HyperLogLog
 * sketch (docs/kinds/sketches.md): one pass, one hash per line, no copies, and a few kilobytes for
 * any number of lines. Sketches can be merged without loss. So one run can report each input and
 * the total, and a saved sketch can continue in a later run.
 */
#include "cli.h"
#include "common_options.h"
#include "filters/filter_file.h"
#include "filters/kind_words.h"
#include "filters/measure.h"
#include "filters/state_file.h"
#include "io/interrupt.h"
#include "io/pipeline.h"
#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { MIN_PRECISION = 4, USUAL_PRECISION = 14, MAX_PRECISION = 18 };

typedef struct distinct_options {
    key_options keys;
    uint64_t precision, seed;
    double error;
    const char *state, *key_file;
    bool each, json;
} distinct_options;

#define AT(field) offsetof(distinct_options, field)
static const cli_option options[] = {
    OPTION_VALUE("error", 'e', CLI_RATE, AT(error), "RATE",
                 "The standard error of the estimate, 0.8% by default. The estimate is off by less "
                 "than this in 68 of 100 cases, and by less than twice this in 95. Half the error "
                 "takes four times the memory: from 64 bytes for 26% to 192 KiB for 0.2%."),
    OPTION_VALUE(
        "precision", 0, CLI_COUNT, AT(precision), "N",
        "Instead of --error: use 2^N registers of six bits, N from 4 to 18; 14 by default."),
    OPTION_FLAG("each", 0, AT(each),
                "Print the number for each input, then for all together. A line that is in several "
                "inputs counts once in the total."),
    OPTION_STATE(AT(state), "Continue counting across runs: start with the lines counted in FILE, "
                            "and save the result there. `bloomery merge` merges such files."),
    KEY_OPTIONS(distinct_options),
    OPTION_SEED_OF_STATE(AT(seed)),
    OPTION_KEY_FILE_OF_STATE(AT(key_file), "falsify the number"),
    OPTION_JSON(AT(json),
                "Print a JSON object; with --each, one for each input and one for the total."),
    {0},
};

typedef struct distinct_run {
    const distinct_options *options;
    bly_hasher hasher;
    state_file kept;  /* the sketch of all inputs, and its state file */
    bly_filter *each; /* with --each: the sketch of the current input */
    bly_filter *into; /* the sketch that keys are added to: kept.filter or each */
    uint64_t before;  /* keys that the state had counted before this run */
    pipeline lines;
    bool failed; /* an input could not be read */
} distinct_run;

/* ---- the sketch ------------------------------------------------------------------------------ */

/* Returns whether the status is BLY_OK; any other is reported. */
static bool is_ok(bly_status status) {
    return status == BLY_OK || message_fail("%s", bly_strerror(status));
}

static bool make_sketch(const distinct_run *r, uint32_t precision, bly_filter **out) {
    bly_spec spec = {
        .struct_size = sizeof spec,
        .geometry = {.kind = BLY_HLL, .hashes = precision, .size = UINT64_C(1) << precision},
        .hasher = r->hasher};
    return is_ok(bly_filter_create(&spec, out));
}

/* Returns the precision that --precision or --error requests. On failure, reports the error and
 * returns 0. An error is usually quoted with one digit, rounded down, so "--error 0.8%" accepts a
 * standard error of 0.812%. */
static uint32_t precision_of(const distinct_options *o) {
    static const double quoted = 1.02;
    char error[NUMBER_TEXT];
    bly_geometry g;
    if (!(o->error > 0))
        return o->precision ? (uint32_t)o->precision : USUAL_PRECISION;
    if (bly_plan(BLY_HLL, 1, fmin(quoted * o->error, 0.9), 0, 64, &g) == BLY_OK)
        return g.hashes;
    (void)message_error(
        "--error cannot be %s: the smallest possible error is 0.2%% (--precision %d)",
        number_percent(o->error, error), MAX_PRECISION);
    return 0;
}

static bool begin_sketch(distinct_run *r) {
    const uint32_t precision = precision_of(r->options);
    return precision && make_sketch(r, precision, &r->kept.filter);
}

/* Refuses options that contradict the state. */
static bool state_fits(const distinct_run *r) {
    const distinct_options *o = r->options;
    const bly_geometry g = bly_filter_geometry(r->kept.filter);
    const uint32_t precision = precision_of(o);
    char error[NUMBER_TEXT];
    if (!precision)
        return false;
    if (g.kind != BLY_HLL)
        return message_fail(
            "%s: this is %s %s filter, not a state of bloomery distinct; use bloomery info to "
            "estimate its number of keys",
            o->state, kinds_article(g.kind), bly_kind_name(g.kind));
    if (o->precision && o->precision != g.hashes)
        return message_fail("%s: was created with --precision %u, not %llu; leave out --precision, "
                            "or name another file",
                            o->state, g.hashes, (unsigned long long)o->precision);
    if (o->error > 0 && precision > g.hashes)
        return message_fail("%s: has a standard error of %s, more than --error allows; leave out "
                            "--error, or name another file",
                            o->state, number_percent(bly_hll_error(r->kept.filter), error));
    if (o->seed && o->seed != bly_filter_hasher(r->kept.filter)->seed)
        return message_fail("%s: has a different seed; leave out --seed, or name another file",
                            o->state);
    return true;
}

/* Checks that the state was created with the key rule of this run, or records the rule in a new
 * state. */
static bool settle_rule(distinct_run *r) {
    const state_rule fit =
        state_file_settle_rule(&r->kept, key_options_code(&r->options->keys),
                               estimate_of(r->kept.filter, UINT64_MAX).keys == 0);
    if (fit == STATE_RULE_OLD)
        pipeline_keep_returns(&r->lines, r->options->state);
    return fit != STATE_RULE_REFUSED;
}

static bool open_sketch(distinct_run *r) {
    bly_hasher space;
    const bly_hasher *key;
    if (!open_key(r->options->key_file, &space, &key) ||
        !state_file_open(&r->kept, r->options->state, key))
        return false;
    if (key)
        r->hasher = *key;
    else if (!is_ok(bly_hasher_init(&r->hasher, BLY_HASH_XXH3, r->options->seed)))
        return false;
    if (!(r->kept.loaded ? state_fits(r) : begin_sketch(r)) || !settle_rule(r))
        return false;
    r->into = r->kept.filter;
    r->hasher = *bly_filter_hasher(r->into);
    r->before = estimate_of(r->into, UINT64_MAX).keys;
    if (!r->options->each)
        return true;
    if (!make_sketch(r, bly_filter_geometry(r->into).hashes, &r->each) ||
        bly_filter_set_key_rule(r->each, bly_filter_key_rule(r->into)) != BLY_OK)
        return false;
    r->into = r->each;
    return true;
}

/* ---- output ---------------------------------------------------------------------------------- */

/* The result for one input, or for all of them. */
typedef struct finding {
    const char *name; /* of the input, or "total"; NULL without --each */
    uint64_t lines;
    const bly_filter *sketch;
    bool all;
} finding;

static uint64_t bytes_of(const bly_filter *sketch) {
    const bly_geometry g = bly_filter_geometry(sketch);
    return bly_plan_bytes(&g);
}

static void print_json(const distinct_run *r, const finding *f, const estimate *e) {
    json out = json_begin(stdout);
    if (f->name && !f->all)
        json_text(&out, "file", f->name);
    if (r->options->each)
        json_bool(&out, "total", f->all);
    json_integer(&out, "distinct", e->keys);
    json_integer(&out, "low", e->low);
    json_integer(&out, "high", e->high);
    json_real(&out, "error", e->error);
    json_integer(&out, pipeline_takes_links(&r->lines) ? "links" : "lines", f->lines);
    if (f->all && r->kept.loaded)
        json_integer(&out, "before", r->before);
    if (f->all)
        key_rule_json(&r->lines.rule, &out);
    json_integer(&out, "precision", bly_filter_geometry(f->sketch).hashes);
    json_integer(&out, "memory_bytes", bytes_of(f->sketch));
    if (f->all)
        json_real(&out, "seconds", progress_seconds(&r->lines.progress));
    json_end(&out);
}

static void print_text(const distinct_run *r, const finding *f, const estimate *e) {
    char range[ESTIMATE_RANGE], bytes[NUMBER_TEXT], name[MESSAGE_TEXT];
    const bool more = f->all && r->kept.loaded;
    (void)printf("%llu distinct%s of %llu %s%s%s", (unsigned long long)e->keys,
                 estimate_range(e, range), (unsigned long long)f->lines,
                 pipeline_takes_links(&r->lines) ? "link" : "line", f->lines == 1 ? "" : "s",
                 more ? " and earlier runs" : "");
    if (f->all && r->lines.rule.not_urls)
        (void)printf(", %llu not %s", (unsigned long long)r->lines.rule.not_urls,
                     r->lines.rule.not_urls == 1 ? "a URL" : "URLs");
    if (f->all && *range)
        (void)printf(", in %s of memory", number_bytes(bytes_of(f->sketch), bytes));
    if (f->name)
        (void)printf(": %s", message_escape(f->name, name, sizeof name));
    (void)putchar('\n');
}

static void print(const distinct_run *r, const finding *f) {
    const bool more = f->all && r->kept.loaded;
    const estimate e = estimate_of(f->sketch, more ? UINT64_MAX : f->lines);
    if (r->options->json)
        print_json(r, f, &e);
    else
        print_text(r, f, &e);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool take_batch(void *at, const bly_bytes *records, size_t n) {
    distinct_run *r = at;
    const bly_bytes *keys = pipeline_keys(&r->lines, records, n);
    return keys && is_ok(bly_filter_add_many(r->into, keys, n, NULL, NULL)) &&
           (r->options->each || state_file_save_now_and_then(&r->kept));
}

/* Reads to the end of the input, or until a signal. */
static bool read_lines(distinct_run *r) {
    const bool good = pipeline_run(&r->lines, take_batch, r);
    r->failed |= r->lines.failed;
    return good;
}

/* Reads one input of --each, and prints its result. */
static bool take_one(distinct_run *r, char **name) {
    const uint64_t before = r->lines.count;
    bly_filter_clear(r->each);
    if (!pipeline_reopen(&r->lines, (cli_operands){name, 1}) || !read_lines(r))
        return false;
    if (!is_ok(bly_filter_union(r->kept.filter, r->each)))
        return false;
    /* An input that could not be opened has no result. */
    const uint64_t lines = r->lines.count - before;
    if (!r->lines.failed || lines > 0)
        print(r, &(finding){*name, lines, r->each, false});
    return state_file_save_now_and_then(&r->kept);
}

static bool take_each(distinct_run *r, cli_operands inputs) {
    static char dash[] = "-";
    static char *standard_input[] = {dash};
    bool good = true;
    if (inputs.count == 0)
        return take_one(r, standard_input);
    for (size_t i = 0; good && i < inputs.count && !interrupt_seen(); i++)
        good = take_one(r, inputs.items + i);
    return good;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int work(distinct_run *r, cli_operands inputs) {
    if (!open_sketch(r))
        return CLI_ERROR;
    bool good = r->options->each ? take_each(r, inputs) : read_lines(r);
    good = good && state_file_save(&r->kept);
    if (!good)
        return CLI_ERROR;
    pipeline_note_signal();
    print(r, &(finding){r->options->each ? "total" : NULL, r->lines.count, r->kept.filter, true});
    return r->failed ? CLI_ERROR : CLI_OK;
}

static const char *conflict(const distinct_options *o) {
    if (o->precision && o->error > 0)
        return "--error and --precision do the same; give only one";
    if (o->precision && (o->precision < MIN_PRECISION || o->precision > MAX_PRECISION))
        return "--precision must be from 4 to 18";
    if (o->key_file && o->seed)
        return "--key-file and --seed cannot be combined: the secret key replaces the seed";
    return key_options_conflict(&o->keys);
}

static int run(void *values, cli_operands operands) {
    const distinct_options *o = values;
    const char *why = conflict(o);
    if (why)
        return message_error("%s", why);
    if (key_options_misplaced(&o->keys, operands))
        return CLI_ERROR;
    distinct_run *r = calloc(1, sizeof *r);
    if (!r)
        return message_error("out of memory");
    r->options = o;
    /* An endless stream is ended by a signal, and the result must still be printed. */
    const pipeline_options how = {.keys = &o->keys, .prints = o->each, .catch_signals = true};
    const int status = pipeline_open(&r->lines, &how, operands) ? work(r, operands) : CLI_ERROR;
    pipeline_close(&r->lines);
    state_file_close(&r->kept);
    bly_filter_destroy(r->each);
    free(r);
    return status;
}

const cli_command command_distinct = {
    .name = "distinct",
    .operands = "[FILE...]",
    .summary = "Count the different lines, in a few kilobytes",
    .brief =
        "Prints the number of different lines in the FILEs, or in standard input: what `sort -u | "
        "wc -l` prints, but in one pass and in 12 KiB of memory for any number of lines.\n"
        "\n"
        "The number is an estimate with a standard error of 0.8% (see --error). The range after it "
        "contains the true number in 95 of 100 cases. A few dozen lines are nearly always counted "
        "exactly; then no range is printed.",
    .description =
        "The number is the first word of its line, without thousands separators, so that scripts "
        "can cut it out. --json prints all results. Files compressed with gzip or zstd are "
        "decompressed.\n"
        "\n"
        "The estimate comes from a HyperLogLog sketch. Neither the order of the lines nor repeats "
        "change it. So it is equally exact for several inputs (--each), runs (--state) and "
        "machines: `bloomery merge` merges states into the state of all their lines.\n"
        "\n"
        "A signal ends the reading: the result for the lines read so far is printed, and the state "
        "is saved.\n"
        "\n"
        "Lines are compared byte for byte, without their newline and without one carriage return "
        "before it. With -0, a carriage return is part of the line.",
    .examples = "# the number of different visitors\n"
                "bloomery distinct --field 1 -t ' ' access.log\n"
                "# print only the number\n"
                "zcat urls-*.gz | bloomery distinct --url | cut -d ' ' -f 1\n"
                "# count each file, and all files together\n"
                "bloomery distinct --each january.log february.log\n"
                "# continue counting from day to day, with a smaller error\n"
                "bloomery distinct --error 0.2% --state visitors.bly today.log\n"
                "# merge the counts of several machines\n"
                "bloomery merge -o all.bly a.bly b.bly\n",
    .options = options,
    .most_used = {"error", "each", "state"},
    .values_size = sizeof(distinct_options),
    .run = run,
};
