/* bench.c - bloomery bench: prints the speed, space and rate of each kind of filter on this
 * machine. */
#include "bench/bench_run.h"
#include "cli.h"
#include "common_options.h"
#include "filters/kind_words.h"
#include "io/interrupt.h"
#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"

#include <bloomery/host/describe.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { MAX_KINDS = 32, MAX_ROUNDS = 1000 };

static const uint64_t default_keys = 1000000, work = 3000000;
static const double default_rate = 0.001;

typedef struct values {
    const char *kinds;
    uint64_t keys, key_bytes, rounds;
    double rate;
    bool json;
} values;

#define AT(field) offsetof(values, field)

static const cli_option options[] = {
    {.name = "kinds",
     .type = CLI_TEXT,
     .at = AT(kinds),
     .metavar = "KIND,...",
     .help =
         "Measure these kinds, separated by commas. By default all but hll, which has no lookups."},
    OPTION_EXPECT(AT(keys),
                  "Add N keys to each filter. The default is a million: such filters fit into the "
                  "caches of most processors, and filters of a hundred million keys do not."),
    OPTION_RATE(AT(rate), "Request the false-positive rate RATE, 0.1% by default."),
    OPTION_VALUE("key-bytes", 0, CLI_COUNT, AT(key_bytes), "N",
                 "Use keys of N bytes, from 8 to 4096. The default is 16."),
    OPTION_VALUE("rounds", 0, CLI_COUNT, AT(rounds), "N",
                 "Repeat everything N times, at most 1000. The default is enough for three "
                 "million keys, but at least three."),
    OPTION_JSON(AT(json), "Print the results as one JSON object."),
    {0},
};

/* ---- what to measure ------------------------------------------------------------------------- */

static bool check(const values *v, cli_operands operands) {
    if (operands.count)
        return message_fail("unexpected argument '%s'; see --help", operands.items[0]);
    if (v->key_bytes && (v->key_bytes < 8 || v->key_bytes > 4096))
        return message_fail("--key-bytes must be from 8 to 4096");
    if (v->rounds > MAX_ROUNDS)
        return message_fail("--rounds must be at most %d", MAX_ROUNDS);
    return true;
}

static bench_setting setting_of(const values *v) {
    uint64_t keys = v->keys ? v->keys : default_keys;
    uint64_t rounds = v->rounds ? v->rounds : work / keys < 3 ? 3 : work / keys;
    return (bench_setting){
        .keys = keys,
        .rate = v->rate > 0 ? v->rate : default_rate,
        .key_bytes = v->key_bytes ? (size_t)v->key_bytes : 16,
        .rounds = (unsigned)(rounds < MAX_ROUNDS ? rounds : MAX_ROUNDS),
    };
}

/* Reads the kinds in `list`, or takes all of them if it is NULL. On failure, reports the error and
 * returns false. */
static bool read_kinds(const char *list, bly_kind out[MAX_KINDS], size_t *count) {
    *count = 0;
    for (bly_kind k = bly_kind_next(BLY_KIND_NONE);
         !list && k != BLY_KIND_NONE && *count < MAX_KINDS; k = bly_kind_next(k))
        if (!kinds_can(k, BLY_CARDINALITY_ONLY))
            out[(*count)++] = k;
    while (list) {
        char name[32];
        size_t length = strcspn(list, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)(length < 31 ? length : 31), list);
        const bly_removed_kind *gone = bly_kind_removed_by_name(name);
        if (gone)
            return message_fail("--kinds: kind %s was removed; use %s instead", gone->name,
                                gone->replacement);
        if (*count == MAX_KINDS)
            return message_fail("--kinds: at most %d kinds can be given", MAX_KINDS);
        if (bly_kind_by_name(name, &out[(*count)++]) != BLY_OK)
            return message_fail(
                "--kinds: unknown kind '%.*s'; use bloomery plan -n 1000 --all to list the kinds",
                (int)length, list);
        list = list[length] ? list + length + 1 : NULL;
    }
    return true;
}

/* ---- for people ------------------------------------------------------------------------------ */

static void heading(const char *unit) {
    (void)printf("\n%s%-17s%17s%20s%20s%s\n", message_style_on(1, STYLE_BOLD), unit, "add",
                 "contains, absent", "contains, present", message_style_off(1));
    (void)printf("%-17s%9s%8s%12s%8s%12s%8s\n", "", "batched", "single", "batched", "single",
                 "batched", "single");
}

static void figures(const char *name, const double value[BENCH_OPS]) {
    static const int widths[BENCH_OPS] = {9, 8, 12, 8, 12, 8};
    (void)printf("%-17s", name);
    for (int op = 0; op < BENCH_OPS; op++)
        if (value[op] > 0)
            (void)printf("%*.*f", widths[op], value[op] < 99.95 ? 1 : 0, value[op]);
        else
            (void)printf("%*s", widths[op], "-");
    (void)printf("\n");
    (void)fflush(stdout); /* the next kind takes a while */
}

static void print_setting(const bench_setting *s) {
    (void)printf("%s keys of %zu bytes, rate %s, %u rounds; medians\n", NUMBER_GROUPED(s->keys),
                 s->key_bytes, NUMBER_PERCENT(s->rate), s->rounds);
    heading("ns per key");
}

static void print_speeds(const bench_result *results, size_t count) {
    heading("M keys/s");
    for (size_t i = 0; i < count; i++) {
        double speed[BENCH_OPS];
        for (int op = 0; op < BENCH_OPS; op++)
            speed[op] = results[i].ns[op] > 0 ? 1e3 / results[i].ns[op] : 0;
        figures(bly_kind_name(results[i].kind), speed);
    }
}

static void print_limits(const bench_limits *l) {
    (void)printf("\nLimits of this machine:\n");
    (void)printf(
        "  to hash a key with %s and do nothing else: %.1f ns batched (%.0f M/s), %.1f ns single\n",
        l->hash, l->hash_many, 1e3 / l->hash_many, l->hash_one);
    (void)printf("  to read a random cache line from %s: %.1f ns (%.0f M/s)\n",
                 NUMBER_BYTES(l->bytes), l->line, 1e3 / l->line);
    (void)printf("\nNo key was missed; batched and single calls agree.\n");
}

static void print_rates(const bench_result *results, size_t count) {
    (void)printf("\n%s%-17s%10s%11s%11s%11s%14s%s\n", message_style_on(1, STYLE_BOLD),
                 "space and rate", "size", "bits/key", "requested", "measured", "ratio",
                 message_style_off(1));
    for (size_t i = 0; i < count; i++) {
        const bench_result *r = &results[i];
        double rate = (double)r->false_positives / (double)r->absent;
        (void)printf("%-17s%10s%11.2f%11s%11s%8.2f +-%.2f\n", bly_kind_name(r->kind),
                     NUMBER_BYTES(r->bytes), r->bits_per_key, NUMBER_PERCENT(r->requested),
                     NUMBER_PERCENT(rate), rate / r->requested,
                     2 * sqrt((double)r->false_positives + 1) / (double)r->absent / r->requested);
    }
}

/* ---- for programs ---------------------------------------------------------------------------- */

static void result_json(json *j, const bench_result *r) {
    static const char *const names[BENCH_OPS] = {"add_batched_ns",     "add_single_ns",
                                                 "absent_batched_ns",  "absent_single_ns",
                                                 "present_batched_ns", "present_single_ns"};
    json_open(j, NULL, '{');
    json_text(j, "kind", bly_kind_name(r->kind));
    for (int op = 0; op < BENCH_OPS; op++)
        json_real(j, names[op], r->ns[op] > 0 ? r->ns[op] : NAN);
    json_integer(j, "bytes", r->bytes);
    json_real(j, "bits_per_key", r->bits_per_key);
    json_real(j, "requested_rate", r->requested);
    json_real(j, "measured_rate", (double)r->false_positives / (double)r->absent);
    json_integer(j, "lookups", r->absent);
    json_integer(j, "false_positives", r->false_positives);
    json_close(j, '}');
}

static void print_json(const bench_setting *s, const bench_result *results, size_t count,
                       const bench_limits *limits) {
    json j = json_begin(stdout);
    json_text(&j, "version", bly_version());
    json_integer(&j, "keys", s->keys);
    json_integer(&j, "key_bytes", s->key_bytes);
    json_real(&j, "rate", s->rate);
    json_integer(&j, "rounds", s->rounds);
    json_open(&j, "kinds", '[');
    for (size_t i = 0; i < count; i++)
        result_json(&j, &results[i]);
    json_close(&j, ']');
    json_open(&j, "limits", '{');
    json_text(&j, "hash", limits->hash);
    json_real(&j, "hash_batched_ns", limits->hash_many);
    json_real(&j, "hash_single_ns", limits->hash_one);
    json_integer(&j, "line_bytes", limits->bytes);
    json_real(&j, "line_ns", limits->line);
    json_close(&j, '}');
    json_end(&j);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Measures the kinds and the machine, and prints the results: as text one by one, as JSON at the
 * end. */
static bool measure(const bench_setting *s, const bly_kind *kinds, size_t count, bool as_json) {
    bench_result results[MAX_KINDS];
    bench_limits limits;
    if (!as_json)
        print_setting(s);
    for (size_t i = 0; i < count; i++) {
        if (interrupt_seen() || !bench_kind(s, kinds[i], &results[i]))
            return false;
        if (!as_json)
            figures(bly_kind_name(kinds[i]), results[i].ns);
    }
    if (!as_json) {
        print_speeds(results, count);
        print_rates(results, count);
    }
    if (!bench_limits_find(s, &limits))
        return false;
    if (as_json)
        print_json(s, results, count, &limits);
    else
        print_limits(&limits);
    return true;
}

static int run(void *untyped, cli_operands operands) {
    const values *v = untyped;
    bly_kind kinds[MAX_KINDS];
    size_t count;
    if (!check(v, operands))
        return CLI_ERROR;
    bench_setting s = setting_of(v);
    if (!read_kinds(v->kinds, kinds, &count))
        return CLI_ERROR;
    for (size_t i = 0; i < count; i++)
        if (!bench_possible(&s, kinds[i]))
            return CLI_ERROR;
    return measure(&s, kinds, count, v->json) ? CLI_OK : CLI_ERROR;
}

const cli_command command_bench = {
    .name = "bench",
    .operands = "",
    .summary = "Measure the speed of filters on this machine",
    .brief = "Adds generated keys to filters of each kind, looks up keys that are in them and keys "
             "that are not, and prints the time per key, the space, and the requested and measured "
             "false-positive rates with their ratio and its uncertainty. With the defaults it "
             "takes a few seconds.",
    .description =
        "Batched means thousands of keys per call, as in the other commands; single means one call "
        "per key. Times are medians over chunks of at most 65,536 keys. Scalable and "
        "growable-cuckoo filters are measured while they grow from a tenth of the keys. Fuse and "
        "ribbon filters are built from all keys at once, with one thread per processor (at most "
        "eight); the \"add\" column shows that time divided by the number of keys.\n"
        "\n"
        "Two limits of the machine are printed as well: the time to only hash a key, and the time "
        "to read a random cache line from as much memory as the planned filter has. No filter "
        "larger than the processor's caches can be faster.\n"
        "\n"
        "The answers are checked during the measurement. If a key is not found, or batched and "
        "single calls disagree, the run ends with an error.",
    .examples = "# all kinds, a million keys each\n"
                "bloomery bench\n"
                "# two kinds, larger than any cache\n"
                "bloomery bench --kinds sbbf,classic -n 1e8 -p 1%\n"
                "# print the results as JSON\n"
                "bloomery bench --json\n",
    .options = options,
    .most_used = {"kinds", "expect", "rate"},
    .values_size = sizeof(values),
    .run = run,
};
