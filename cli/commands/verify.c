/* bloomery verify - whether filter files are intact, and keep their promise. */
#include "cli.h"
#include "fingerprints.h"
#include "health.h"
#include "interrupt.h"
#include "json.h"
#include "kinds.h"
#include "measure.h"
#include "message.h"
#include "numbers.h"
#include "open.h"
#include "pages.h"

#include <stdio.h>

typedef struct values {
    uint64_t measure;
    const char *key_file;
    bool json;
} values;

static const cli_option options[] = {
    {"measure", 0, CLI_COUNT, offsetof(values, measure), "N", NULL, "1M",
     "Ask the filter for N random keys that are not in it, and count the wrong answers."},
    {"key-file", 0, CLI_FILE, offsetof(values, key_file), "FILE", NULL, NULL,
     "The secret key of a keyed filter. Without it --measure asks with random hash values instead "
     "of keys, and the key itself is not checked."},
    {"json", 0, CLI_FLAG, offsetof(values, json), NULL, NULL, NULL,
     "Print one JSON object per file, each on its own line."},
    {0},
};

/* What was found of one file. */
typedef struct finding {
    const char *path;
    bly_status status; /* of opening it; the rest is known if that is BLY_OK */
    bly_stats stats;
    health health;
    bool measured, broken;
    measurement m;
} finding;

static const char *verdict(const finding *f) {
    if (f->status == BLY_EIO || f->status == BLY_ENOMEM)
        return "unreadable";
    if (f->status != BLY_OK)
        return f->status == BLY_ECORRUPT ? "damaged" : "unusable";
    if (f->health == HEALTH_OVERFULL)
        return "overfull";
    return f->broken || f->health != HEALTH_GOOD ? "broken" : "good";
}

static bool keeps_promise(const finding *f) {
    return f->health == HEALTH_GOOD && !f->broken;
}

/* ---- saying it ------------------------------------------------------------------------------- */

static void print(const finding *f) {
    char asked[NUMBER_TEXT], rate[NUMBER_TEXT], low[NUMBER_TEXT], high[NUMBER_TEXT];
    char promise[NUMBER_TEXT];
    if (f->status != BLY_OK)
        return;
    const bool good = keeps_promise(f);
    (void)printf("%s: %s%s%s%s", f->path, good ? "" : "intact, but ",
                 message_style_on(1, good ? STYLE_GREEN : STYLE_RED),
                 good                           ? "good"
                 : f->health == HEALTH_OVERFULL ? "too full"
                                                : "breaks its promise",
                 message_style_off(1));
    if (f->measured)
        (void)printf("; %s wrong of %s answers%s, 95%% interval %s to %s, promised %s",
                     number_percent(f->m.rate, rate), number_grouped(f->m.asked, asked),
                     f->m.hashes ? " to random hashes" : "", number_percent(f->m.low, low),
                     number_percent(f->m.high, high), number_percent(f->stats.target_fpr, promise));
    (void)printf("%s\n", kinds_can(f->stats.kind, BLY_IS_LOSSY)
                             ? "; may forget keys: a \"no\" is not certain"
                         : kinds_can(f->stats.kind, BLY_ONLY_COUNTS)
                             ? "; it tells how many keys there are, not which"
                             : "");
}

static void print_json(const finding *f) {
    json j = json_begin(stdout);
    json_text(&j, "file", f->path);
    json_text(&j, "verdict", verdict(f));
    if (f->status != BLY_OK)
        json_text(&j, "error", bly_strerror(f->status));
    else {
        json_real(&j, "rate_asked", f->stats.target_fpr);
        json_real(&j, "rate_predicted", f->stats.predicted_fpr);
        json_real(&j, "rate_now", f->stats.current_fpr);
        json_integer(&j, "capacity", f->stats.capacity);
        json_bool(&j, "lossy", kinds_can(f->stats.kind, BLY_IS_LOSSY));
        json_real(&j, "estimated_keys", f->stats.estimated_keys);
    }
    if (f->measured) {
        json_open(&j, "measured", '{');
        json_integer(&j, "asked", f->m.asked);
        json_integer(&j, "wrong", f->m.wrong);
        json_real(&j, "rate", f->m.rate);
        json_real(&j, "low", f->m.low);
        json_real(&j, "high", f->m.high);
        json_text(&j, "with", f->m.hashes ? "hashes" : "keys");
        json_close(&j, '}');
    }
    json_end(&j);
}

static void warn(const finding *f) {
    char rate[NUMBER_TEXT], promise[NUMBER_TEXT];
    if (f->status != BLY_OK || health_warn(f->path, &f->stats) || !f->broken)
        return;
    message_warn("%s: breaks its promise: %s of the answers are wrong, promised %s; %s", f->path,
                 number_percent(f->m.rate, rate), number_percent(f->stats.target_fpr, promise),
                 measure_blames_hash(&f->m, f->stats.current_fpr)
                     ? "its bits do not explain that, so its hash function is at fault; build it "
                       "with another"
                     : "that is how its bits fell; build it larger, or with another --seed");
}

/* ---- finding it ------------------------------------------------------------------------------ */

/* false: the measuring itself failed, reported. */
static bool examine(const values *v, const bly_hasher *key, finding *f) {
    opened o;
    bool good = true;
    const uint32_t without_key = key ? 0 : BLY_OPEN_WITHOUT_KEY;
    f->status = open_read(&o, f->path, key, BLY_OPEN_VERIFY | without_key);
    if (f->status != BLY_OK)
        return true;
    bly_filter_stats(o.filter, &f->stats);
    f->health = health_of(&f->stats);
    /* What only counts takes hardly any key for a stranger. */
    if (v->measure > 0 && !kinds_can(f->stats.kind, BLY_ONLY_COUNTS)) {
        good = f->measured = measure(o.filter, v->measure, &f->m);
        f->broken = good && measure_broken(&f->m, f->stats.target_fpr);
    }
    open_close(&o);
    return good;
}

static int verify(const values *v, const bly_hasher *key, const char *path) {
    finding f = {.path = path};
    if (!examine(v, key, &f))
        return CLI_ERROR;
    if (v->json)
        print_json(&f);
    else
        print(&f);
    (void)fflush(stdout); /* where both go to one place, the warning belongs below */
    warn(&f);
    if (f.status != BLY_OK)
        return CLI_ERROR;
    return keeps_promise(&f) ? CLI_OK : CLI_NONE;
}

/* Of a file of dedup --exact or --confirm. It has no rate to measure. */
static int verify_fingerprints(const values *v, const char *path) {
    fingerprints f;
    char some[NUMBER_TEXT], lost[NUMBER_TEXT];
    const bool good = fingerprints_read(&f, path, false);
    if (v->json) {
        json j = json_begin(stdout);
        json_text(&j, "file", path);
        json_text(&j, "verdict", good ? "good" : "damaged");
        json_text(&j, "kind", "fingerprints");
        if (good) {
            json_integer(&j, "fingerprints", f.count);
            json_integer(&j, "not_found", f.lost);
        }
        json_end(&j);
    } else if (good) {
        (void)printf("%s: %sgood%s; %s fingerprint%s", path, message_style_on(1, STYLE_GREEN),
                     message_style_off(1), number_grouped(f.count, some), f.count == 1 ? "" : "s");
        if (f.lost)
            (void)printf(", %s of which cannot be found: a write was interrupted, and their lines "
                         "will be printed again",
                         number_grouped(f.lost, lost));
        (void)putchar('\n');
    }
    return good ? CLI_OK : CLI_ERROR;
}

static int run(void *at, cli_operands operands) {
    const values *v = at;
    bly_hasher space;
    const bly_hasher *key;
    int status = CLI_OK;
    if (operands.count == 0)
        return message_error("name a filter file: bloomery verify LIST.bly");
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
    .summary = "Check that filter files are intact and keep their promise",
    .description =
        "Reads each file whole, checks the checksums of its header and of its bits, and compares "
        "the rate of wrong answers that its bits give with the one it was made for. It prints "
        "\"good\", or what is wrong.\n"
        "\n"
        "With --measure it also asks the filter for random keys that cannot be in it, and prints "
        "how many of them it takes for its own, with the interval in which the real rate lies in "
        "95 of 100 such measurements. Each of these keys has 16 random bytes, and a newline before "
        "them that no line of a list can have; that one of them is in the list by accident is as "
        "good as impossible. This relies on no formula, only on the filter's own answers.\n"
        "\n"
        "The promise counts as broken when the measured rate is above it by more than a tenth and "
        "the whole interval is above it too. Without measuring it does when the rate that the bits "
        "give is above the promise by more than a tenth (for small filters by more than chance), "
        "most often because there are more keys in it than it was made for.\n"
        "\n"
        "Of the files that `bloomery dedup` keeps with --exact and --confirm it checks the header, "
        "the length, and that every fingerprint lies in its page; they have no other checksum, and "
        "no rate to measure.\n"
        "\n"
        "The exit status is 0 when every file is good, 1 when a file is intact but too full or "
        "breaks its promise, and 2 when one is damaged or cannot be read.",
    .examples = "# Are they intact?\n"
                "bloomery verify *.bly\n"
                "# What is the real rate of wrong answers? Ten million questions\n"
                "bloomery verify --measure=10M blocked.bly\n"
                "# Stop a release whose list is damaged or too full\n"
                "bloomery verify --measure blocked.bly || exit 1",
    .options = options,
    .values_size = sizeof(values),
    .run = run,
};
