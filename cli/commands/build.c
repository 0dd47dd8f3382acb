/* bloomery build: builds a filter from a list.
 *
 * The number of different keys must be known before the filter is created. So the hashes of all
 * keys, 16 bytes each, are first collected and sorted, and repeats are dropped. With
 * --must-not-match, the keys themselves are kept, too, because they may have to be hashed again. If
 * a line that must not match is in the list, that is an error, and the message names the line.
 * build_make.c deals with such lines that are only false positives.
 */
#include "build/build_run.h"
#include "common_options.h"
#include "filters/filter_file.h"
#include "filters/kind_words.h"
#include "io/key_file.h"
#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"

#include <bloomery/filter.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define AT(field) offsetof(build_options, field)
static const cli_option options[] = {
    OPTION_OUTPUT(
        AT(output), "LIST",
        "The list to write: a file, - for standard output, or redis://HOST/KEY for a filter on a "
        "server without the module. A file appears only when it is complete."),
    OPTION_TYPE(
        AT(type),
        "What the lines are; line (the default) compares them byte for byte. The other types "
        "compare canonical forms, so that spelling does not matter. The list records its type."),
    OPTION_RATE(AT(rate), "The false-positive rate per line: 0.001 (the default), 0.1%, 1/1000. If "
                          "a line needs several lookups, the rate per lookup is lower; for --type "
                          "ip and domain it is at most 5%."),
    OPTION_EXPECT(AT(keys),
                  "Plan for N different keys; by default, for those in the input. Lists built with "
                  "the same N, rate and kind have the same size, so they can be merged. For fuse "
                  "and ribbon, whose size follows from their keys, N is only a hint."),
    OPTION_VALUE(
        "must-not-match", 0, CLI_FILE, AT(must_not_match), "FILE",
        "The list must not match any line of FILE, not even as a false positive. A line that is in "
        "the list is an error. If a line is a false positive, the list is built again with the "
        "next seed, up to 32 times (a keyed list: at half the rate, up to 8 times). If more than "
        "12 lines match under the first seed, no other is tried: choose a lower rate."),
    OPTION_COMMENTS(AT(comments)),
    OPTION_SKIP_MALFORMED(AT(skip_malformed)),
    OPTION_NULL(AT(null), "Input lines"),
    OPTION_KIND(
        AT(kind),
        "The kind of filter; by default the blocked one that suits the rate. Keys can be removed "
        "from some kinds (`bloomery plan -n 1M --deletes` compares them). fuse and ribbon are "
        "smaller, but keys cannot be added later. counts estimates how often a line occurred, hll "
        "how many different lines there are. A list cannot be of kind window, which forgets keys."),
    OPTION_COUNTER_BITS(AT(counter_bits)),
    OPTION_COPIES(AT(copies)),
    OPTION_VALUE(
        "over", 0, CLI_FILE, AT(over), "LIST",
        "Read no lines; create an overlay over LIST, to which keys can be added and from "
        "which keys can be removed. LIST can be of any kind. The overlay contains LIST and "
        "all later changes; LIST itself does not change."),
    OPTION_VALUE("changes", 0, CLI_COUNT, AT(changes), "N",
                 "With --over or --kind overlay: how many keys are expected to be added or "
                 "removed; by default a twentieth of the capacity. More changes are possible."),
    {.name = "marker",
     .type = CLI_CHOICE,
     .at = AT(marker),
     .metavar = "KIND",
     .choices = "cuckoo|classic",
     .help =
         "With --over or --kind overlay: how removed keys are stored. cuckoo (the default) takes "
         "five bytes for each, and removes no other key with it (at most one in a thousand "
         "million). classic takes two bytes, and also removes up to 0.1% of the other keys."},
    OPTION_SMALLEST(AT(smallest), "Use the kind that makes the smallest list: ribbon, or classic "
                                  "if -n or --foldable is given."),
    OPTION_FLAG("foldable", 0, AT(foldable),
                "Choose a size, up to 3% larger, that `bloomery fold` can halve repeatedly."),
    OPTION_HASH(AT(hash),
                "The hash function; by default xxh3, with 128 bits where the rate needs them."),
    OPTION_SEED(AT(seed), "The seed of the hash function, 0 by default. With another seed, other "
                          "lines are false positives."),
    OPTION_KEY_FILE(AT(key_file),
                    "Build a keyed list with the secret key in FILE (16 bytes, or 32 hexadecimal "
                    "digits). Without the key, nobody can look up lines in the list or search for "
                    "its false positives. The list does not contain the key."),
    OPTION_VALUE("new-key", 0, CLI_FILE, AT(new_key), "FILE",
                 "Build a keyed list with a new random key, and write the key to FILE. FILE must "
                 "not exist yet; only its owner can read it."),
    OPTION_SHARDS(AT(shards), "On a server without the module"),
    OPTION_EXPIRE(
        AT(expire),
        "On a server without the module: the filter expires after TIME: 90s, 15m, 24h or 7d."),
    OPTION_FORCE_FILTER(AT(force)),
    OPTION_STATS(AT(stats), "Print what `bloomery info` prints about the list, on standard error."),
    OPTION_JSON(AT(json), "Describe the new list as a JSON object on standard output."),
    {0},
};

static double usual_rate(bly_kind kind) {
    return kind == BLY_HLL ? 0.0082 : kind == BLY_COUNTS ? 0.05 : 0.001;
}

static bool choose_hasher(build_run *r) {
    const build_options *o = r->options;
    r->keyed = o->key_file || o->new_key;
    if (o->key_file)
        return keyfile_read(o->key_file, &r->spec.hasher);
    if (o->new_key)
        return keyfile_make(&r->spec.hasher);
    bly_status status =
        o->hash ? bly_hasher_init(&r->spec.hasher, o->hash, o->seed)
                : bly_hasher_default(&r->spec.hasher, BLY_LIST_FORESEEN_KEYS, r->spec.fpr, o->seed);
    if (status == BLY_EHASHER)
        return message_fail(
            "this build does not have %s; use bloomery hash --list to see which functions it has",
            bly_hash_name(o->hash));
    return status == BLY_OK || message_fail("-p %g: %s", r->spec.fpr, bly_strerror(status));
}

/* Lowers a rate that is too high for the marks of levels, and records in the levels how many
 * lookups per line the rate is for. Must be called before the kind is chosen and the marks are
 * counted. */
static void settle_rate(build_run *r) {
    if (kinds_can(r->spec.geometry.kind, BLY_CARDINALITY_ONLY))
        return;
    const double rate = bly_list_record_lookups(r->contents.type, r->spec.fpr, &r->contents.levels);
    r->limited = rate < r->spec.fpr;
    r->spec.fpr = rate;
}

/* Chooses the kind: with --kind the given one, with --smallest the one that the planner advises,
 * else the one that suits the rate (on a server: one that the server can store). */
static void choose_kind(build_run *r) {
    const build_options *o = r->options;
    const double rate = r->spec.fpr / bly_list_max_lookups(r->contents.type, &r->contents.levels);
    if (!o->kind)
        r->spec.geometry.kind = destination_kind(&r->to, rate);
    const uint64_t keys = o->keys ? o->keys : r->keys.distinct;
    const bool final = !o->keys && !o->foldable;
    const bly_needs needs = {.keys = keys ? keys : 1,
                             .fpr = rate,
                             .flags = BLY_NEED_SPACE | (final ? BLY_NEED_STATIC : 0U)};
    bly_advice advice = {.struct_size = sizeof advice};
    if (o->smallest && bly_advise(&needs, &advice) == BLY_OK)
        r->spec.geometry.kind = advice.kind;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static bool take_key(void *ctx, uint64_t number, bly_bytes line, const bly_list_key *key) {
    build_run *r = ctx;
    (void)number, (void)line;
    bly_list_levels_add(&r->contents.levels, key->level);
    return gathered_keys_add(&r->keys, key->bytes,
                             bly_hash_key(&r->spec.hasher, key->bytes.data, key->bytes.size));
}

static bool gather(build_run *r, cli_operands files) {
    const build_options *o = r->options;
    r->keys.keep = o->must_not_match != NULL;
    /* A kind that counts keys but cannot remove them counts every occurrence, because no removal
     * has to undo an add. */
    r->keys.copies =
        o->copies || (kinds_can(o->kind, BLY_CAN_COUNT) && !kinds_can(o->kind, BLY_CAN_REMOVE));
    if (!list_lines_read(files.items, files.count, &r->rule, o->skip_malformed, take_key, r,
                         &r->lines))
        return false;
    r->repeated = gathered_keys_settle(&r->keys);
    if (r->spec.capacity && r->keys.distinct > r->spec.capacity && !kinds_grow(o->kind))
        return message_fail(
            "the input has %s different keys, more than -n %s; give a larger -n, or leave it out",
            NUMBER_GROUPED(r->keys.distinct), NUMBER_GROUPED(r->spec.capacity));
    if (r->keys.count == 0)
        message_warn("the input has no keys; the list will match nothing");
    return true;
}

/* ---- saving ---------------------------------------------------------------------------------- */

/* A list without its key is useless, so the key is written first. A key without its list is a
 * useless file, so the key is removed if the list cannot be written. */
static bool save(build_run *r, const bly_filter *f) {
    const char *key = r->options->new_key;
    if (!destination_begin(&r->to) || (key && !keyfile_write(key, &r->spec.hasher)))
        return false;
    const bool saved = destination_save(&r->to, f);
    if (!saved && key)
        (void)unlink(key);
    return saved;
}

/* ---- over another list ----------------------------------------------------------------------- */

typedef struct overlay {
    opened base; /* the list given by --over */
    bly_filter *filter;
    rates_lookups lookups;
} overlay;

static bool open_overlay(const build_run *r, overlay *out) {
    const build_options *o = r->options;
    bly_hasher space;
    const bly_hasher *key;
    if (!open_key(o->key_file, &space, &key) ||
        open_read(&out->base, o->over, key, BLY_OPEN_VERIFY) != BLY_OK)
        return false;
    const bly_kind kind = bly_filter_geometry(out->base.filter).kind;
    const bly_status status =
        bly_overlay_over(out->base.filter, &r->spec.overlay, NULL, &out->filter);
    if (status == BLY_EKIND)
        return message_fail(
            "%s: %s %s filter cannot be the base list of --over; use a list of another kind",
            o->over, kinds_article(kind), bly_kind_name(kind));
    if (status != BLY_OK)
        return message_status(o->over, status) == CLI_OK;
    out->lookups = rates_lookups_of(out->filter);
    return true;
}

static void overlay_json(const build_run *r, const overlay *over, const bly_filter_info *s) {
    json out = json_begin(stdout);
    json_text(&out, "list", r->to.name);
    json_text(&out, "over", r->options->over);
    json_text(&out, "kind", bly_kind_name(s->kind));
    json_text(&out, "base", bly_kind_name(bly_filter_geometry(over->base.filter).kind));
    json_integer(&out, "keys", s->count);
    json_integer(&out, "capacity", s->capacity);
    rates_json_requested(&out, s->requested_fpr, over->lookups);
    json_integer(&out, "bytes", bly_filter_file_size(over->filter));
    json_end(&out);
}

static bool lay_over(build_run *r) {
    overlay over = {.filter = NULL};
    bool good = open_overlay(r, &over) && save(r, over.filter);
    if (good) {
        const bly_filter_info s = filter_info(over.filter);
        build_report_list(over.filter, r->to.name, bly_filter_file_size(over.filter),
                          s.requested_fpr, over.lookups);
        if (r->options->json)
            overlay_json(r, &over, &s);
        good = !r->options->stats || build_report_stats(r, over.filter);
    }
    bly_filter_destroy(over.filter);
    open_close(&over.base);
    return good;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool build(build_run *r, cli_operands files) {
    const build_options *o = r->options;
    if (!choose_hasher(r) || !gather(r, files))
        return false;
    if (o->must_not_match &&
        !build_allow_read(&r->allow, o->must_not_match, &r->rule, o->skip_malformed))
        return false;
    settle_rate(r);
    choose_kind(r);
    /* Without --must-not-match, r->allow has no lines. */
    if (build_allow_in_list(&r->allow, &r->contents.levels, &r->spec.hasher, &r->keys) > 0 ||
        !build_make(r) || !save(r, r->filter))
        return false;
    build_report(r);
    return !o->stats || build_report_stats(r, r->filter);
}

/* With -0, a record that consists of blanks is a key. */
static bly_key_rule rule_of(bly_list_type type, bool null) {
    return type == BLY_LIST_LINE && null ? BLY_KEYS_RECORD : bly_list_key_rule(type);
}

/* Sets what follows from the options alone. */
static void set_up(build_run *r) {
    static const bly_kind markers[] = {BLY_KIND_NONE, BLY_CUCKOO, BLY_CLASSIC};
    const build_options *o = r->options;
    const bly_list_type type = o->type ? (bly_list_type)o->type : BLY_LIST_LINE;
    r->rule.type = type;
    r->rule.flags = (o->comments ? BLY_LIST_COMMENTS : 0U) | (o->null ? BLY_LIST_RECORDS : 0U);
    r->contents = (bly_list_contents){
        .struct_size = sizeof r->contents, .type = type, .rule = rule_of(type, o->null)};
    r->spec = bly_spec_for(o->kind, kinds_can(o->kind, BLY_CAN_BUILD) ? 0 : o->keys,
                           o->rate > 0 ? o->rate : usual_rate(o->kind));
    r->spec.geometry.options = o->foldable ? BLY_FOLDABLE : 0;
    r->spec.counting.counter_bits = o->counter_bits ? 1U << o->counter_bits : 0;
    r->spec.overlay.changes = o->changes;
    r->spec.overlay.marker = markers[o->marker];
}

static int run(void *values, cli_operands operands) {
    const build_options *o = values;
    const destination_options to = {
        .replace = o->force, .json = o->json, .shards = o->shards, .expire = o->expire};
    build_run *r = calloc(1, sizeof *r);
    if (!r)
        return message_error("out of memory");
    r->options = o;
    set_up(r);
    bool good = !o->output || destination_open(&r->to, o->output, &to);
    good = good && build_options_agree(r, operands) && (o->over ? lay_over(r) : build(r, operands));
    destination_close(&r->to);
    bly_filter_destroy(r->filter);
    gathered_keys_free(&r->keys);
    build_allow_free(&r->allow);
    free(r);
    return good ? CLI_OK : CLI_ERROR;
}

const cli_command command_build = {
    .name = "build",
    .operands = "-o LIST [FILE...]",
    .summary = "Build a list file that lines can be checked against",
    .brief = "Reads lines from the FILEs, or from standard input, and writes a list: a small "
             "filter file that answers for any line \"not in the list\" (always right) or \"maybe "
             "in the list\" (wrong at the rate -p). `bloomery check` looks up lines in it; so can "
             "any program, with the library.\n"
             "\n"
             "The lines cannot be read back from a list. But anyone who has the list can test "
             "guesses, unless it is keyed (--key-file).",
    .description =
        "Files compressed with gzip or zstd are decompressed. With --type, the spelling of a line "
        "does not matter:\n"
        "\n"
        "  ip      IPv4 and IPv6 addresses, and blocks such as 192.0.2.0/24\n"
        "  phone   digits, with '+' or '00' for international numbers; other characters\n"
        "          are dropped\n"
        "  email   lower case, the host as for domain; '<>' and 'mailto:' are dropped\n"
        "  domain  lower case, IDN, without a final '.' and a leading '*.'\n"
        "  url     as the URL standard and RFC 3986 compare URLs\n"
        "  line    the bytes of the line (the default)\n"
        "\n"
        "A block of addresses matches all addresses in it, and a domain all domains below it. The "
        "list records its type, and which prefix lengths or numbers of labels its entries have, so "
        "`bloomery check` needs no --type. Blank lines are ignored, and so are blanks around a "
        "line. Lines of type line keep their blanks; only one carriage return at the end is "
        "dropped (not with -0).\n"
        "\n"
        "A line that is not of the type is an error, which names it. The list is then not written, "
        "unless --skip-malformed is given. A line that occurs several times is one key, so that "
        "removing a file undoes adding it; the repeats are counted. --copies stores a copy for "
        "each occurrence. The kind counts, from which keys cannot be removed, always does that.\n"
        "\n"
        "With --over, no lines are read. The new list contains the keys of another list, and keys "
        "can be added and removed. Use it for a list that cannot be changed, or that is shared, "
        "until it is built again. The new file includes the other list.\n"
        "\n"
        "LIST can also be the address of a key on a Redis or Valkey server without the Bloomery "
        "module: redis://HOST/KEY (`bloomery help push` describes addresses). The filter is built "
        "here and sent there, and it appears only when it is complete. Its kind is sbbf or "
        "split512. `bloomery check`, `bloomery add` and `bloomery info` accept the address in "
        "place of a file. On a server with the module, `bloomery push` stores a list of any kind.\n"
        "\n"
        "Building needs 16 bytes of memory per line, and memory for the finished filter; a fuse or "
        "ribbon list needs about three times as much. With --must-not-match, the lines themselves "
        "are also stored.",
    .examples =
        "# a blocklist of domains that never blocks what is in allow.txt\n"
        "bloomery build --type domain -o bad.bly --must-not-match allow.txt bad-domains.txt\n"
        "# two lists of address blocks; false positives: 1 in a million lines\n"
        "bloomery build --type ip --comments -p 1e-6 -o drop.bly drop.txt edrop.txt\n"
        "# a keyed list of mail addresses, which is useless without the key\n"
        "bloomery build --type email --new-key secret.key -o leaked.bly leaked.txt.gz\n"
        "# a list to distribute, as small as possible\n"
        "bloomery build --smallest -o words.bly words.txt\n"
        "# a list for a million lines, from which lines can be removed\n"
        "bloomery build --kind cuckoo -n 1M -o customers.bly customers.txt\n"
        "# a list that also counts exactly how often each line occurred\n"
        "bloomery build --kind hybrid --copies -o visits.bly visits.txt\n"
        "# remove a few lines from a list that cannot be changed\n"
        "bloomery build --over words.bly -o fewer.bly && bloomery remove fewer.bly withdrawn.txt\n"
        "# replace the list of yesterday by the lines of a pipe\n"
        "sort -u words.txt | bloomery build -f -o words.bly\n"
        "# a filter on a server, for all of its clients\n"
        "bloomery build -o redis://cache.example/known -n 1e8 ids.txt\n",
    .options = options,
    .most_used = {"output", "type", "rate"},
    .values_size = sizeof(build_options),
    .run = run,
};
