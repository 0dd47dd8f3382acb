/* build_options.c - refuses options of `bloomery build` that cannot be combined.
 *
 * The options are checked before the first line is read, so that a wrong option does not cost the
 * time of reading a long list.
 */
#include "build/build_run.h"
#include "filters/kind_words.h"
#include "io/output.h"
#include "text/message.h"

#include <string.h>
#include <sys/stat.h>

static bool is_input(const char *list, const char *path) {
    return output_same_file(list, path && strcmp(path, "-") == 0 ? "/dev/stdin" : path);
}

/* Whether the list would replace one of its inputs. */
static bool output_is_input(const build_options *o, cli_operands files) {
    if (strcmp(o->output, "-") == 0)
        return false;
    bool found =
        is_input(o->output, o->must_not_match) || (files.count == 0 && is_input(o->output, "-"));
    for (size_t i = 0; !found && i < files.count; i++)
        found = is_input(o->output, files.items[i]);
    return found;
}

/* Checks --kind: whether a list can be of this kind, and whether the other options suit it. */
static bool kind_agrees(const build_options *o, bly_kind kind) {
    const char *name = bly_kind_name(kind);
    if (kind == BLY_KIND_NONE)
        return true;
    if (kinds_can(kind, BLY_FORGETS))
        return message_fail(
            "%s %s filter forgets keys, so it cannot be a list; use bloomery dedup --window",
            kinds_article(kind), name);
    if (o->foldable && !kinds_can(kind, BLY_CAN_FOLD))
        return message_fail("%s %s list cannot be folded; leave out --foldable",
                            kinds_article(kind), name);
    if (o->must_not_match && kinds_can(kind, BLY_CARDINALITY_ONLY))
        return message_fail(
            "%s %s filter only counts keys, so it has no lookups; leave out --must-not-match",
            kinds_article(kind), name);
    if (o->copies && !kinds_can(kind, BLY_CAN_COUNT))
        return message_fail("%s %s list stores each key once; leave out --copies",
                            kinds_article(kind), name);
    return true;
}

/* Checks options that only some kinds have. */
static bool extras_agree(const build_options *o) {
    if (o->counter_bits && o->kind != BLY_COUNTING)
        return message_fail("--counter-bits needs --kind counting");
    if ((o->changes || o->marker) && o->kind != BLY_OVERLAY && !o->over)
        return message_fail("--changes and --marker need --over or --kind overlay");
    if (o->copies && o->kind == BLY_KIND_NONE)
        return message_fail("--copies needs a --kind that can store a key several times, such as "
                            "hybrid or counting");
    return kind_agrees(o, o->kind);
}

/* With --over, all settings come from the base list. */
static bool over_agrees(build_run *r, cli_operands files) {
    const build_options *o = r->options;
    if (files.count > 0)
        return message_fail("--over reads no lines; remove the FILEs, and add them to the new "
                            "list with bloomery add");
    if ((o->kind && o->kind != BLY_OVERLAY) || o->smallest || o->keys || o->rate > 0 || o->type ||
        o->hash || o->seed || o->new_key || o->must_not_match || o->foldable || o->copies)
        return message_fail(
            "--over takes its settings from the base list; leave out --kind, --smallest, -n, -p, "
            "--type, --hash, --seed, --new-key, --must-not-match, --foldable and --copies");
    if (o->null || o->comments || o->skip_malformed)
        return message_fail(
            "--over reads no lines; leave out --null, --comments and --skip-malformed");
    if (output_same_file(o->output, o->over))
        return message_fail("%s: is also the base list of --over; name a different file with -o",
                            o->over);
    return extras_agree(o) && destination_may_save(&r->to);
}

/* Checks the options of a list for a server, and whether it may be written there. */
static bool server_agrees(build_run *r) {
    const build_options *o = r->options;
    if (o->over)
        return message_fail("--over needs a file, or a server with the Bloomery module; write a "
                            "file, and send it with bloomery push");
    if (o->smallest)
        return message_fail("--smallest chooses a kind that needs the Bloomery module; write a "
                            "file, and send it with bloomery push");
    return (!o->kind || destination_supports_kind(&r->to, o->kind)) && destination_may_save(&r->to);
}

/* Checks the options of a secret key. */
static bool key_agrees(const build_options *o) {
    struct stat st;
    const bool keyed = o->key_file || o->new_key;
    if (o->key_file && o->new_key)
        return message_fail("--key-file and --new-key cannot be combined; give only one");
    if (keyed && o->hash && o->hash != BLY_HASH_SIPHASH)
        return message_fail("--hash cannot be combined with --key-file or --new-key: a keyed "
                            "list always uses siphash");
    if (keyed && o->seed)
        return message_fail("--seed cannot be combined with --key-file or --new-key: a keyed "
                            "list has a secret key instead of a seed");
    if (o->hash == BLY_HASH_SIPHASH && !keyed)
        return message_fail("siphash needs a secret key; give --key-file FILE or --new-key FILE");
    if (o->new_key && lstat(o->new_key, &st) == 0)
        return message_fail(
            "%s: already exists, and bloomery never replaces a secret key; name another file",
            o->new_key);
    if (output_same_file(o->output, o->key_file) || output_same_file(o->output, o->new_key))
        return message_fail("-o names the key file; name a different file");
    return true;
}

bool build_options_agree(build_run *r, cli_operands files) {
    const build_options *o = r->options;
    if (!o->output)
        return message_fail("no output file given; add -o LIST (- is standard output)");
    if (!r->to.on_server && (o->shards || o->expire))
        return message_fail("--shards and --expire need a filter on a server: -o redis://HOST/KEY");
    if (o->over && !r->to.on_server)
        return over_agrees(r, files);
    if (!key_agrees(o))
        return false;
    if (output_is_input(o, files))
        return message_fail("%s: is also an input file, which the list would replace; name a "
                            "different file with -o",
                            o->output);
    if (o->kind && o->smallest)
        return message_fail("--smallest and --kind cannot be combined; give only one");
    return extras_agree(o) && (r->to.on_server ? server_agrees(r) : destination_may_save(&r->to));
}
