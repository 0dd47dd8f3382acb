/* bloomery fold: makes a filter smaller, exactly as if it had been built at that size. */
#include "cli.h"
#include "common_options.h"
#include "filters/filter_file.h"
#include "filters/health.h"
#include "filters/kind_words.h"
#include "filters/set_operation.h"
#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"

#include <math.h>
#include <stdio.h>

typedef struct values {
    const char *out;
    bool force, json;
    uint64_t by;
    double rate;
} values;

static const cli_option options[] = {
    OPTION_OUTPUT(offsetof(values, out), "FILE",
                  "Write the smaller filter to FILE; - is standard output. Required."),
    {.name = "by",
     .type = CLI_COUNT,
     .at = offsetof(values, by),
     .metavar = "D",
     .help = "Make the filter D times smaller, as long as its false-positive rate stays below 50%. "
             "D must divide its size."},
    OPTION_RATE(
        offsetof(values, rate),
        "Keep the false-positive rate per lookup at or below RATE, instead of the rate that was "
        "requested for the filter. If the filter is folded, RATE becomes its requested rate."),
    OPTION_FORCE_FILTER(offsetof(values, force)),
    OPTION_JSON(offsetof(values, json), "Print a report as a JSON object."),
    {0},
};

/* The false-positive rate of f after it was folded by `divisor`. */
static double rate_after(const bly_filter *f, uint64_t divisor) {
    const double keys = filter_info(f).estimated_keys;
    bly_geometry g = bly_filter_geometry(f);
    g.size /= divisor;
    if (!isfinite(keys))
        return 1;
    const bly_hasher *hasher = bly_filter_hasher(f);
    return bly_plan_fpr(&g, (uint64_t)ceil(keys), hasher ? hasher->bits : 128);
}

/* Returns NULL, or the reason why a filter of this shape cannot be folded by `divisor`. */
static const char *obstacle(const bly_geometry *g, uint64_t divisor) {
    bly_geometry small = *g;
    if (g->size % divisor != 0)
        return "which does not divide its size";
    small.size /= divisor;
    return bly_plan_check(&small) == BLY_OK ? NULL
                                            : "which would leave a size that its kind cannot have";
}

/* Returns the smallest factor that --by accepts, or 0 if it accepts no factor. *rate is the
 * false-positive rate with that factor; larger factors have higher rates. */
static uint64_t possible_divisor(const bly_filter *f, double *rate) {
    const bly_geometry g = bly_filter_geometry(f);
    const uint64_t max_divisor = 1000; /* larger factors are useless */
    uint64_t divisor = 2;
    bly_filter *small;
    while (divisor <= max_divisor && obstacle(&g, divisor))
        divisor++;
    if (divisor > max_divisor || bly_filter_fold(f, divisor, NULL, &small) != BLY_OK)
        return 0;
    *rate = filter_info(small).current_fpr;
    bly_filter_destroy(small);
    return *rate > HEALTH_MAX_RATE ? 0 : divisor;
}

static void report_obstacle(const char *path, const bly_filter *f, uint64_t divisor,
                            const char *why) {
    const bly_geometry g = bly_filter_geometry(f);
    double rate;
    const uint64_t other = possible_divisor(f, &rate);
    char size[KINDS_SIZE], instead[96];
    if (other)
        (void)snprintf(instead, sizeof instead,
                       "use --by %llu for a false-positive rate of %s per lookup",
                       (unsigned long long)other, NUMBER_PERCENT(rate));
    else if (g.size == 1)
        (void)snprintf(instead, sizeof instead, "it has the smallest size already");
    else if (g.options & BLY_FOLDABLE)
        (void)snprintf(instead, sizeof instead, "any smaller size would match most keys");
    else
        (void)snprintf(instead, sizeof instead,
                       "it was not built with --foldable; use bloomery build --foldable to build "
                       "one that can");
    (void)message_error("%s: cannot be folded by a factor of %llu, %s (%s); %s", path,
                        (unsigned long long)divisor, why, kinds_size(&g, size), instead);
}

/* Returns the factor to fold by. On failure, reports the error and returns 0. */
static uint64_t choose(const values *v, const char *path, const bly_filter *f) {
    const bly_geometry g = bly_filter_geometry(f);
    char kinds[KINDS_LIST];
    if (!(bly_kind_capabilities(g.kind) & BLY_CAN_FOLD)) {
        (void)message_error("%s: %s filters cannot be folded; these kinds can: %s", path,
                            bly_kind_name(g.kind), kinds_that_can(BLY_CAN_FOLD, kinds));
        return 0;
    }
    const uint64_t divisor = v->by ? v->by : 2;
    const char *why = obstacle(&g, divisor);
    if (why) {
        report_obstacle(path, f, divisor, why);
        return 0;
    }
    if (v->by) {
        if (v->by == 1)
            message_note("%s: copied unchanged, because of --by 1", path);
        return v->by;
    }
    const double rate = v->rate > 0 ? v->rate : filter_info(f).requested_fpr;
    const uint64_t best = bly_filter_best_fold(f, rate);
    if (best == 1)
        message_note("%s: copied unchanged, because a false-positive rate of %s allows no smaller "
                     "size; at half the size, it would be %s per lookup",
                     path, NUMBER_PERCENT(rate), NUMBER_PERCENT(rate_after(f, 2)));
    return best;
}

/* ---- the report ------------------------------------------------------------------------------ */

static void report(const values *v, const char *name, const bly_filter *from,
                   const bly_filter_info *b) {
    const bly_filter_info a = filter_info(from);
    if (v->json) {
        json j = json_begin(stdout);
        json_text(&j, "file", name);
        json_integer(&j, "divisor", a.size / b->size);
        json_integer(&j, "size_before", a.size);
        json_integer(&j, "size", b->size);
        json_integer(&j, "bytes_before", a.bytes);
        json_integer(&j, "bytes", b->bytes);
        json_integer(&j, "capacity", b->capacity);
        json_real(&j, "rate_per_lookup_requested", b->requested_fpr);
        json_real(&j, "rate_per_lookup_before", a.current_fpr);
        json_real(&j, "rate_per_lookup_current", b->current_fpr);
        json_bool(&j, "within_requested_rate", health_of(b) == HEALTH_GOOD);
        json_end(&j);
    } else if (a.size != b->size)
        message_note("%s: folded by a factor of %llu from %s to %s; false-positive rate per lookup "
                     "is %s (before: %s)",
                     name, (unsigned long long)(a.size / b->size), NUMBER_BYTES(a.bytes),
                     NUMBER_BYTES(b->bytes), NUMBER_PERCENT(b->current_fpr),
                     NUMBER_PERCENT(a.current_fpr));
    (void)health_warn(name, b);
}

/* Records a new requested rate, and the capacity that follows from it: creates an empty filter with
 * that rate, and adds *f to it by a union. This needs the hash function, so a keyed filter, which
 * is opened without its key, is not changed. */
static bly_status record_rate(bly_filter **f, double rate) {
    const bly_hasher *hasher = bly_filter_hasher(*f);
    bly_spec spec = bly_spec_for(BLY_KIND_NONE, 0, rate);
    bly_filter *other;
    if (!hasher)
        return BLY_EKEY;
    spec.geometry = bly_filter_geometry(*f);
    spec.hasher = *hasher;
    spec.allow_weak_hash = true;
    bly_status status = bly_filter_create(&spec, &other);
    if (status == BLY_OK)
        status = bly_filter_union(other, *f);
    if (status != BLY_OK) {
        bly_filter_destroy(other);
        return status;
    }
    bly_filter_destroy(*f);
    *f = other;
    return BLY_OK;
}

static int fold(const values *v, const char *path, const bly_filter *f, destination *to) {
    bly_filter *small;
    const uint64_t divisor = choose(v, path, f);
    if (divisor == 0)
        return CLI_ERROR;
    bly_status status = divisor == 1 ? bly_filter_clone(f, NULL, &small)
                                     : bly_filter_fold(f, divisor, NULL, &small);
    if (status != BLY_OK)
        return message_status(path, status);
    if (v->rate > 0 && divisor > 1 && record_rate(&small, v->rate) != BLY_OK)
        message_warn(
            "%s: --rate could not be recorded, so the requested rate of the file is unchanged",
            to->name);
    bly_filter_info after;
    const bool saved = set_output_save(small, to, "fold it by a smaller factor", &after);
    if (saved)
        report(v, to->name, f, &after);
    bly_filter_destroy(small);
    return saved ? CLI_OK : CLI_ERROR;
}

static int run(void *at, cli_operands operands) {
    const values *v = at;
    opened o;
    if (operands.count != 1)
        return message_error(
            "exactly one filter file is needed: bloomery fold LIST.bly -o SMALLER.bly");
    if (!v->out)
        return message_error("no output file given; add -o SMALLER.bly");
    if (v->by && v->rate > 0)
        return message_error("--by and --rate cannot be combined; give only one");
    const destination_options output = {.replace = v->force, .json = v->json};
    destination to;
    int status = CLI_ERROR;
    if (destination_open(&to, v->out, &output) && destination_begin(&to) &&
        open_read(&o, operands.items[0], NULL, BLY_OPEN_WITHOUT_KEY | BLY_OPEN_VERIFY) == BLY_OK) {
        status = fold(v, operands.items[0], o.filter, &to);
        open_close(&o);
    }
    destination_close(&to);
    return status;
}

const cli_command command_fold = {
    .name = "fold",
    .operands = "-o OUT.bly FILE.bly",
    .summary = "Make a filter smaller",
    .brief = "Writes a smaller filter with the same keys. It is bit for bit the filter that would "
             "have been built at that size. Use it for a filter that was created large because the "
             "number of keys was not known in advance.\n"
             "\n"
             "By default the size is halved as often as possible without exceeding the requested "
             "false-positive rate. Only spare capacity is removed, so the rate rises.",
    .description = "--rate sets a different limit, and --by sets the factor itself. The capacity "
                   "of the result is the number of keys that fit its size at that rate.\n"
                   "\n"
                   "The size must be divisible. `bloomery build --foldable` makes a filter that "
                   "can be halved many times, and `bloomery info` shows it as \"foldable\"; for "
                   "other filters it depends on the size. Scalable filters cannot be folded and do "
                   "not need it. A keyed filter is folded without its key.",
    .examples = "# Build a list of unknown length\n"
                "bloomery build --foldable -n 10M -o big.bly lines.txt\n"
                "# Make it as small as its requested rate allows\n"
                "bloomery fold big.bly -o small.bly\n"
                "# Make it as small as a rate of 1% allows\n"
                "bloomery fold big.bly -o small.bly --rate 1%\n"
                "# Make it a quarter of the size\n"
                "bloomery fold big.bly -o quarter.bly --by 4",
    .options = options,
    .most_used = {"output", "rate", "by"},
    .values_size = sizeof(values),
    .run = run,
};
