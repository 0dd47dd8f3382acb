/* verify.c - bloomery verify: checks that filter files are intact, and that their false-positive
 * rates are not above those requested.
 */
#include "cli.h"
#include "common_options.h"
#include "filters/describe_fingerprints.h"
#include "filters/filter_file.h"
#include "filters/handle.h"
#include "filters/health.h"
#include "filters/kind_words.h"
#include "filters/measure.h"
#include "io/fingerprint_file.h"
#include "io/interrupt.h"
#include "io/output.h"
#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct values {
    uint64_t measure;
    const char *key_file;
    bool json;
} values;

static const cli_option options[] = {
    {.name = "measure",
     .type = CLI_COUNT,
     .at = offsetof(values, measure),
     .metavar = "N",
     .without = "1M",
     .help = "Look up N random lines that are not in the list, and count the false positives."},
    OPTION_KEY_FILE(offsetof(values, key_file),
                    "Use the secret key in FILE, for a keyed filter. Without it, --measure looks "
                    "up random hash values instead of keys, and compares the rate per lookup."),
    OPTION_JSON(offsetof(values, json), "Print one JSON object per file, each on its own line."),
    {0},
};

/* The result for one file. */
typedef struct finding {
    const char *path;
    bly_status status; /* of opening the file; the rest is set only if this is BLY_OK */
    int error;         /* errno, for BLY_EIO */
    bly_filter_info stats;
    health health;
    rates_lookups lookups;
    bool widened; /* a line now takes more lookups than were assumed when the rate was requested, so
                     the rate per line is above the requested one */
    bool measured, above;
    measurement m;
} finding;

static const char *verdict(const finding *f) {
    if (f->status == BLY_EIO || f->status == BLY_ENOMEM)
        return "unreadable";
    if (f->status != BLY_OK)
        return f->status == BLY_ECORRUPT ? "damaged" : "unusable";
    if (f->health == HEALTH_OVERFULL)
        return "overfull";
    return f->above || f->widened || f->health != HEALTH_GOOD ? "broken" : "good";
}

static bool is_good(const finding *f) {
    return f->health == HEALTH_GOOD && !f->above && !f->widened;
}

/* The number of lookups per line to measure. It is 1 if the requested rate per line is unknown;
 * then the rate per lookup is judged. */
static unsigned judged_lookups(const finding *f) {
    return f->lookups.requested ? f->lookups.now : 1;
}

/* ---- printing it ----------------------------------------------------------------------------- */

/* The unit of the rates, as in "0.09% per line". */
static const char *unit(const finding *f) {
    return f->lookups.requested ? "per line" : "per lookup";
}

/* The requested rate, in the same unit. */
static double requested(const finding *f) {
    return rates_requested(f->stats.requested_fpr, f->lookups.requested ? f->lookups.requested : 1);
}

static void print_measured(const finding *f) {
    char each[64] = "";
    if (f->m.lookups > 1)
        (void)snprintf(each, sizeof each, " of %u lookups each", f->m.lookups);
    (void)printf("; measured false-positive rate %s %s (%s random %s%s, 95%% interval %s to %s), "
                 "requested %s",
                 NUMBER_PERCENT(f->m.rate), unit(f), NUMBER_GROUPED(f->m.lines),
                 f->m.hashes        ? "hashes"
                 : f->m.lookups > 1 ? "lines"
                                    : "keys",
                 each, NUMBER_PERCENT(f->m.low), NUMBER_PERCENT(f->m.high),
                 NUMBER_PERCENT(requested(f)));
}

static void print_expected(const finding *f) {
    const double now = f->stats.current_fpr;
    const char *lookup = NUMBER_PERCENT(now), *each = NUMBER_PERCENT(f->stats.requested_fpr);
    const char *line =
        f->lookups.now > 1 ? NUMBER_PERCENT(rates_per_line(now, f->lookups.now)) : NULL;
    if (line && f->lookups.requested)
        (void)printf(
            "; false-positive rate %s per line (requested %s), %s per lookup (requested %s)", line,
            NUMBER_PERCENT(requested(f)), lookup, each);
    else if (line)
        (void)printf(
            "; false-positive rate %s per lookup (requested %s), %s per line of up to %u lookups",
            lookup, each, line, f->lookups.now);
    else
        (void)printf("; false-positive rate %s %s (requested %s)", lookup,
                     f->lookups.now ? "per line and per lookup" : "per lookup", each);
}

static void print(const finding *f) {
    char name[MESSAGE_TEXT];
    if (f->status != BLY_OK)
        return;
    const bool good = is_good(f), counts = kinds_can(f->stats.kind, BLY_CARDINALITY_ONLY);
    (void)printf("%s: %s%s%s%s", message_escape(f->path, name, sizeof name),
                 good ? "" : "intact, but ", message_style_on(1, good ? STYLE_GREEN : STYLE_RED),
                 good                           ? "good"
                 : f->health == HEALTH_OVERFULL ? "too full"
                                                : "above its requested rate",
                 message_style_off(1));
    if (f->measured)
        print_measured(f);
    else if (!counts)
        print_expected(f);
    (void)printf("%s\n", counts ? "; it only counts keys, so it has no false-positive rate" : "");
}

static void print_measured_json(const finding *f, json *j) {
    const double lookups = (double)f->m.lines * f->m.lookups;
    json_open(j, "measured", '{');
    json_text(j, "judged", f->lookups.requested ? "rate_per_line" : "rate_per_lookup");
    json_text(j, "with", f->m.hashes ? "hashes" : "keys");
    if (f->lookups.requested) {
        json_integer(j, "lines", f->m.lines);
        json_integer(j, "false_positive_lines", f->m.positives);
        json_real(j, "rate_per_line", f->m.rate);
    }
    json_integer(j, "lookups", f->m.lines * f->m.lookups);
    json_integer(j, "false_positive_lookups", f->m.positive_lookups);
    json_real(j, "rate_per_lookup", (double)f->m.positive_lookups / lookups);
    json_real(j, "interval_low", f->m.low);
    json_real(j, "interval_high", f->m.high);
    json_close(j, '}');
}

static void print_json(const finding *f) {
    json j = json_begin(stdout);
    json_text(&j, "file", f->path);
    json_text(&j, "verdict", verdict(f));
    if (f->status != BLY_OK)
        json_text(&j, "error", f->status == BLY_EIO ? strerror(f->error) : bly_strerror(f->status));
    else {
        rates_json_requested(&j, f->stats.requested_fpr, f->lookups);
        rates_json(&j, "expected", f->stats.expected_fpr, f->lookups.now);
        rates_json(&j, "current", f->stats.current_fpr, f->lookups.now);
        json_integer(&j, "capacity", f->stats.capacity);
        json_real(&j, "estimated_keys", f->stats.estimated_keys);
    }
    if (f->measured)
        print_measured_json(f, &j);
    json_end(&j);
}

static void warn(const finding *f) {
    char widened[RATES_TEXT];
    const double by_bits = rates_per_line(f->stats.current_fpr, judged_lookups(f));
    if (f->status != BLY_OK || health_warn(f->path, &f->stats))
        return;
    if (f->widened)
        message_warn("%s: above its requested rate: %s; build it again", f->path,
                     rates_widened_text(&f->stats, f->lookups, widened));
    if (!f->above || f->widened)
        return;
    message_warn(
        "%s: above its requested rate: measured %s %s, requested %s. %s", f->path,
        NUMBER_PERCENT(f->m.rate), unit(f), NUMBER_PERCENT(requested(f)),
        measure_blames_hash(&f->m, by_bits)
            ? "The share of set bits does not explain this, so the hash function is the likely "
              "cause; build it with a different --hash"
            : "By chance its keys set too many bits; build it larger, or with a different --seed");
}

/* ---- examining a file ------------------------------------------------------------------------ */

/* If the rate cannot be measured, reports that and returns false. */
static bool examine(const values *v, const bly_hasher *key, finding *f) {
    opened o;
    bool good = true;
    const uint32_t without_key = key ? 0 : BLY_OPEN_WITHOUT_KEY;
    f->status = open_read(&o, f->path, key, BLY_OPEN_VERIFY | without_key);
    f->error = errno;
    if (f->status != BLY_OK)
        return true;
    f->stats = filter_info(o.filter);
    f->health = health_of(&f->stats);
    f->lookups = rates_lookups_of(o.filter);
    f->widened = rates_are_widened(&f->stats, f->lookups);
    /* A kind that only counts has no lookups to measure. */
    if (v->measure > 0 && !kinds_can(f->stats.kind, BLY_CARDINALITY_ONLY)) {
        good = f->measured = measure(o.filter, v->measure, judged_lookups(f), &f->m);
        f->above = good && measure_above(&f->m, requested(f));
    }
    open_close(&o);
    return good;
}

static int verify(const values *v, const bly_hasher *key, const char *path) {
    finding f = {.path = path};
    if (handle_capabilities(path) & HANDLE_MAY_FAIL)
        return message_error("%s: verify works only on files; fetch the filter with bloomery pull, "
                             "and verify the copy",
                             path);
    if (!examine(v, key, &f))
        return CLI_ERROR;
    if (v->json)
        print_json(&f);
    else
        print(&f);
    (void)output_stdio_flush(); /* so that on a terminal the warning appears below the result */
    warn(&f);
    if (f.status != BLY_OK)
        return CLI_ERROR;
    return is_good(&f) ? CLI_OK : CLI_NONE;
}

/* For a file of dedup --exact or --confirm, which has no rate to measure. */
static int verify_fingerprints(const values *v, const char *path) {
    fingerprints f;
    char name[MESSAGE_TEXT], marks[FINGERPRINTS_MARKS];
    const bool good = fingerprints_read(&f, path, false);
    const uint64_t lines = good ? f.count - f.marks : 0;
    if (v->json) {
        json j = json_begin(stdout);
        json_text(&j, "file", path);
        json_text(&j, "verdict", good ? "good" : "damaged");
        json_text(&j, "kind", "fingerprints");
        if (good) {
            json_integer(&j, "fingerprints", f.count);
            json_integer(&j, "marks", f.marks);
            json_integer(&j, "not_found", f.lost);
        }
        json_end(&j);
    } else if (good) {
        (void)printf("%s: %sgood%s; %s fingerprint%s%s", message_escape(path, name, sizeof name),
                     message_style_on(1, STYLE_GREEN), message_style_off(1), NUMBER_GROUPED(lines),
                     lines == 1 ? "" : "s", fingerprints_marks_text(&f, marks));
        if (f.lost)
            (void)printf("; %s of them cannot be found because a write was interrupted; dedup will "
                         "print their lines again",
                         NUMBER_GROUPED(f.lost));
        (void)putchar('\n');
    }
    if (good && v->measure > 0 && !v->json) {
        (void)output_stdio_flush();
        message_note("%s: --measure was ignored: the false-positive rate of a fingerprint file is "
                     "too low to be measured",
                     path);
    }
    return good ? CLI_OK : CLI_ERROR;
}

static int run(void *at, cli_operands operands) {
    const values *v = at;
    bly_hasher space;
    const bly_hasher *key;
    int status = CLI_OK;
    if (operands.count == 0)
        return message_error("no filter file given; for example: bloomery verify LIST.bly");
    if (!open_key(v->key_file, &space, &key))
        return CLI_ERROR;
    for (size_t i = 0; i < operands.count && !interrupt_seen(); i++) {
        const char *path = operands.items[i];
        const int one = pages_recognise(path) ? verify_fingerprints(v, path) : verify(v, key, path);
        status = one > status ? one : status;
    }
    return status;
}

const cli_command command_verify = {
    .name = "verify",
    .operands = "FILE.bly...",
    .summary = "Check filter files for damage and too many false positives",
    .brief = "Reads each file completely, verifies the checksums of its header and its bits, and "
             "compares the false-positive rate that follows from its bits with the requested rate. "
             "Prints \"good\" or the problem, and the rates per line and per lookup.\n"
             "\n"
             "The exit status is 0 if every file is good, 1 if a file is intact but too full or "
             "above its requested rate, and 2 if a file is damaged or cannot be read.",
    .description =
        "A line may need several lookups: one for each prefix length in a list of addresses, and "
        "one for each number of labels in a list of domains. `bloomery build -p` requests a rate "
        "per line. If keys with new prefix lengths or numbers of labels are added later, a line "
        "needs more lookups, and the rate per line may exceed the requested one.\n"
        "\n"
        "With --measure it also looks up random lines that are not in the list, each with as many "
        "lookups as a line can need. It prints the share of false positives, and the interval that "
        "contains the true rate in 95 of 100 such measurements. Each lookup is of a key of 16 "
        "random bytes after a newline, which no line of a list contains, so the chance that such a "
        "key is in the list is negligible. The measurement uses no formula, only lookups. It gives "
        "the rate per line, or the rate per lookup if the type of the list is unknown, or if the "
        "list is too full to determine the number of lookups.\n"
        "\n"
        "A file fails if the measured rate is more than a tenth above the requested rate, and by "
        "more than chance gives in one of a million measurements. Without --measure it fails if "
        "the rate that follows from the bits is more than a tenth above the requested one (for "
        "small filters, by more than chance explains). The most common cause is more keys than the "
        "capacity.\n"
        "\n"
        "For fingerprint files of `bloomery dedup` (--exact, --confirm) it checks the header, the "
        "length, and that each fingerprint is in its page. Such files have no other checksum, and "
        "--measure does not apply to them.",
    .examples = "# Check all lists in this folder\n"
                "bloomery verify *.bly\n"
                "# Measure the false-positive rate with ten million lines\n"
                "bloomery verify --measure=10M blocked.bly\n"
                "# Stop a release whose list is damaged or too full\n"
                "bloomery verify --measure blocked.bly || exit 1",
    .options = options,
    .values_size = sizeof(values),
    .run = run,
};
