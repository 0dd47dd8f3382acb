/* Which options of `bloomery build` go together.
 *
 * All of it is settled before the first line is read: what cannot be written in the end shall not
 * cost the reading of a long list.
 */
#include "build/build_run.h"
#include "filters/kind_words.h"
#include "io/output.h"
#include "text/message.h"

#include <string.h>
#include <sys/stat.h>

static bool refuse(const char *why) {
    (void)message_error("%s", why);
    return false;
}

static bool is_input(const char *list, const char *path) {
    return output_same_file(list, path && strcmp(path, "-") == 0 ? "/dev/stdin" : path);
}

/* Whether the list would replace what it is made from. */
static bool output_is_input(const build_options *o, cli_operands files) {
    if (strcmp(o->output, "-") == 0)
        return false;
    bool found =
        is_input(o->output, o->must_not_match) || (files.count == 0 && is_input(o->output, "-"));
    for (size_t i = 0; !found && i < files.count; i++)
        found = is_input(o->output, files.items[i]);
    return found;
}

/* Whether a list can be of that kind, with what else is asked. */
static bool kind_agrees(const build_options *o, bly_kind kind) {
    const char *name = bly_kind_name(kind);
    if (kind == BLY_KIND_NONE)
        return true;
    if (kinds_can(kind, BLY_FORGETS))
        (void)message_error("%s %s filter forgets keys, which a list must not; bloomery dedup "
                            "--window is for that",
                            kinds_article(kind), name);
    else if (o->foldable && !kinds_can(kind, BLY_CAN_FOLD))
        (void)message_error("%s %s list cannot be folded; leave --foldable out",
                            kinds_article(kind), name);
    else if (o->must_not_match && kinds_can(kind, BLY_CARDINALITY_ONLY))
        (void)message_error("%s %s filter tells how many keys there are, not which; leave "
                            "--must-not-match out",
                            kinds_article(kind), name);
    else if (o->copies && !kinds_can(kind, BLY_CAN_COUNT))
        (void)message_error("%s %s list does not hold copies of keys; leave --copies out",
                            kinds_article(kind), name);
    else
        return true;
    return false;
}

/* What goes with some kinds alone. */
static bool extras_agree(const build_options *o) {
    if (o->counter_bits && o->kind != BLY_COUNTING)
        return refuse("--counter-bits goes with --kind counting");
    if ((o->changes || o->marker) && o->kind != BLY_OVERLAY && !o->over)
        return refuse("--changes and --marker go with --over or --kind overlay");
    if (o->copies && o->kind == BLY_KIND_NONE)
        return refuse("--copies goes with a --kind that holds copies of keys, such as hybrid or "
                      "counting");
    return kind_agrees(o, o->kind);
}

/* A list over another is what that one is. */
static bool over_agrees(build_run *r, cli_operands files) {
    const build_options *o = r->options;
    if (files.count > 0)
        return refuse("--over reads no lines; bloomery add puts them into the new list");
    if ((o->kind && o->kind != BLY_OVERLAY) || o->smallest || o->keys || o->rate > 0 || o->type ||
        o->hash || o->seed || o->new_key || o->must_not_match || o->foldable || o->copies)
        return refuse("--over makes a list like the one it is over: leave out --kind, --smallest, "
                      "-n, -p, --type, --hash, --seed, --new-key, --must-not-match, --foldable and "
                      "--copies");
    if (output_same_file(o->output, o->over)) {
        (void)message_error("%s: is the list to be laid over; name another by -o", o->over);
        return false;
    }
    return extras_agree(o) && destination_may_save(&r->to);
}

/* Of a list for a server; and whether it may go there. */
static bool server_agrees(build_run *r) {
    const build_options *o = r->options;
    if (o->over)
        return refuse("--over makes a list that only a file can hold, or a server with the "
                      "Bloomery module: build it to a file, and push that");
    if (o->smallest)
        return refuse("--smallest chooses a kind that a server without the Bloomery module cannot "
                      "hold: build to a file, and push that, or leave it out");
    return (!o->kind || destination_holds(&r->to, o->kind)) && destination_may_save(&r->to);
}

/* Of the secret key. */
static bool key_agrees(const build_options *o) {
    struct stat st;
    const bool keyed = o->key_file || o->new_key;
    if (o->key_file && o->new_key)
        return refuse("only one of --key-file and --new-key can be given");
    if (keyed && o->hash && o->hash != BLY_HASH_SIPHASH)
        return refuse("a keyed list uses siphash; leave --hash out");
    if (keyed && o->seed)
        return refuse("a keyed list has a key in place of a seed; leave --seed out");
    if (o->hash == BLY_HASH_SIPHASH && !keyed)
        return refuse("siphash needs a key: --key-file FILE or --new-key FILE");
    if (o->new_key && lstat(o->new_key, &st) == 0) {
        (void)message_error(
            "%s: already exists, and bloomery never replaces a key; name another file", o->new_key);
        return false;
    }
    if (output_same_file(o->output, o->key_file) || output_same_file(o->output, o->new_key))
        return refuse("the list would replace its own key: -o and the key name the same file");
    return true;
}

bool build_options_agree(build_run *r, cli_operands files) {
    const build_options *o = r->options;
    if (!o->output)
        return refuse("-o LIST is needed: the file to write ('-' is standard output)");
    if (!r->to.on_server && (o->shards || o->expire))
        return refuse("--shards and --expire are for a filter on a server: -o redis://HOST/KEY");
    if (o->over && !r->to.on_server)
        return over_agrees(r, files);
    if (!key_agrees(o))
        return false;
    if (output_is_input(o, files)) {
        (void)message_error("%s: is one of the files to read, which the list would replace; name "
                            "another by -o",
                            o->output);
        return false;
    }
    if (o->kind && o->smallest)
        return refuse("--smallest chooses the kind; leave --kind out");
    return extras_agree(o) && (r->to.on_server ? server_agrees(r) : destination_may_save(&r->to));
}
