/* bloomery add: adds keys to a filter, in a file or on a server. */
#include "common_options.h"
#include "filters/edit.h"
#include "filters/health.h"
#include "filters/kind_words.h"
#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"

#include <stdio.h>

static const cli_option options[] = {
    OPTION_FLAG("once", 0, offsetof(edit_values, once),
                "Skip keys that the list seems to contain already. This matters only for kinds "
                "that store copies of keys; the others never store a key twice. Do not remove keys "
                "from this list afterwards: a skipped key may have been a false positive, and "
                "removing the other key would remove both."),
    OPTION_GOZERO(offsetof(edit_values, gozero)),
    OPTION_MEMORY(offsetof(edit_values, memory),
                  "The maximum memory that a growing list may allocate in one step (64M, 8G). The "
                  "default is 64 times its size, and at least 64M, so that a small file from an "
                  "untrusted source cannot take all memory."),
    EDIT_OPTIONS,
    {0},
};

static int refuse(const char *path, bly_kind kind) {
    const char *article = kinds_article(kind), *name = bly_kind_name(kind);
    if (kinds_can(kind, BLY_FORGETS))
        return message_error("%s: not a list, but %s %s filter, which forgets keys; add lines with "
                             "bloomery dedup --window --state",
                             path, article, name);
    if (kinds_can(kind, BLY_CARDINALITY_ONLY))
        return message_error("%s: not a list, but %s %s filter, which only counts keys; add lines "
                             "with bloomery distinct --state",
                             path, article, name);
    return message_error(
        "%s: keys cannot be added to %s %s filter; build it again with the new keys, or build an "
        "overlay over it, which accepts keys: bloomery build --over %s -o NEW.bly",
        path, article, name, path);
}

/* For --once: drops the keys that the list seems to contain already. */
static void skip_present(edit *e) {
    gathered_keys *k = &e->gathered;
    size_t absent = 0;
    for (size_t i = 0; i < k->count; i++)
        if (!bly_filter_contains_hash(handle_filter(&e->list), k->hashes[i]))
            k->hashes[absent++] = k->hashes[i];
    k->count = absent;
}

static bly_status apply(edit *e) {
    if (e->values->once)
        skip_present(e);
    return bly_list_add_scattered(handle_changeable(&e->list), e->gathered.hashes,
                                  e->gathered.count, &e->done, &e->failed);
}

/* Reports that not all copies of a key fit, although the same number of different keys would. */
static int fail_for_copies(const edit *e, const bly_filter_info *s) {
    const unsigned copies = (unsigned)bly_filter_copies_hash(handle_filter(&e->list), e->failed);
    if (copies >= BLY_MAX_COPIES)
        return message_error("%s: one of these keys already has eight copies, the maximum; remove "
                             "copies, or use --once; nothing was added",
                             e->list.name);
    return message_error(
        "%s: no space for one of these keys (copies in the list: %u), although the list is only "
        "%.0f%% full: all copies of a key must be in the same two buckets, which fill up soon if "
        "many keys have several copies; remove copies, or use --once; nothing was added",
        e->list.name, copies, 100 * s->fill);
}

/* Reports that the next level or table, whose size the file determines, would exceed the memory
 * limit. */
static int fail_to_grow(const edit *e) {
    if (e->values->memory)
        return message_error("%s: needs to grow by more than --memory allows; give a larger "
                             "--memory; nothing was added",
                             e->list.name);
    return message_error(
        "%s: full, and its file requests growth by more than 64 times its size and more than 64 "
        "MiB; if you trust the file, give --memory SIZE; nothing was added",
        e->list.name);
}

static int fail(const edit *e) {
    char count[NUMBER_TEXT], room[NUMBER_TEXT], what[NUMBER_TEXT + 32] = "the new key does not fit";
    if (e->status == BLY_EGROWTH)
        return fail_to_grow(e);
    if (e->status != BLY_EFULL)
        return message_status(e->list.name, e->status);
    const bly_filter_info s = filter_info(handle_filter(&e->list));
    if (s.kind == BLY_OVERLAY)
        return message_error("%s: nothing was added: the overlay has no space for more changes; "
                             "build the list again with these keys",
                             e->list.name);
    if (kinds_limit_copies(s.kind) && s.count < bly_filter_max_keys(handle_filter(&e->list)))
        return fail_for_copies(e, &s);
    const uint64_t marks = bly_list_marks_in(handle_filter(&e->list));
    (void)number_grouped(s.capacity > marks ? s.capacity - marks : 0, room);
    if (e->keys > 1)
        (void)snprintf(what, sizeof what, "not all of the %s keys fit",
                       number_grouped(e->keys, count));
    return message_error("%s: full: it was created for %s keys%s, and %s; build it again with a "
                         "larger -n%s; nothing was added",
                         e->list.name, room,
                         kinds_grow(s.kind) ? " and cannot grow any further" : "", what,
                         s.kind == BLY_CUCKOO ? ", or as growable-cuckoo" : "");
}

/* For a list that stores copies: writes what was done with the keys that were not new. */
static char *copies_text(const edit *e, char out[160]) {
    char present[NUMBER_TEXT], repeated[NUMBER_TEXT];
    const uint64_t stored = e->gathered.count - e->done;
    const uint64_t skipped = e->keys - e->repeated - e->gathered.count;
    size_t used = 0;
    out[0] = '\0';
    if (e->copies && e->repeated)
        used = (size_t)snprintf(out, 160, ", %s repeated", number_grouped(e->repeated, repeated));
    if (e->copies && skipped)
        used += (size_t)snprintf(out + used, 160 - used, ", %s apparently present and skipped",
                                 number_grouped(skipped, present));
    if (e->copies && stored)
        (void)snprintf(out + used, 160 - used, ", %s apparently present and stored again",
                       number_grouped(stored, present));
    return out;
}

static void report_json(const edit *e, const bly_filter_info *s, uint64_t marks) {
    const bool describes = (e->list.capabilities & HANDLE_DESCRIBES) != 0;
    json j = json_begin(stdout);
    json_text(&j, "file", e->list.name);
    json_text(&j, "type", line_type_words(e->as.type));
    json_integer(&j, "keys", e->keys);
    json_integer(&j, "new", e->done);
    if (e->list.capabilities & HANDLE_MAY_FAIL)
        json_integer(&j, "unsure", e->unsure);
    if (e->copies) {
        json_integer(&j, "repeated", e->repeated);
        json_integer(&j, "copies", e->gathered.count - e->done);
    }
    json_integer(&j, "malformed", e->malformed);
    if (describes) {
        json_integer(&j, "count", s->count);
        json_integer(&j, "marks", marks);
        json_integer(&j, "capacity", s->capacity);
        json_real(&j, "rate_per_lookup_requested", s->requested_fpr);
    } else {
        json_integer(&j, "bits", s->bits);
        json_integer(&j, "set_bits", s->set_bits);
        json_real(&j, "estimated_keys", s->estimated_keys);
    }
    json_real(&j, "rate_per_lookup_current", s->current_fpr);
    if (describes)
        json_bool(&j, "within_requested_rate", health_of(s) == HEALTH_GOOD);
    json_end(&j);
}

static void report_text(const edit *e, const bly_filter_info *s, uint64_t marks) {
    char keys[NUMBER_TEXT], fresh[NUMBER_TEXT], count[NUMBER_TEXT], room[NUMBER_TEXT];
    char rate[NUMBER_TEXT], copies[160];
    const uint64_t own = s->count > marks ? s->count - marks : 0;
    const uint64_t planned = s->capacity > marks ? s->capacity - marks : s->capacity;
    (void)number_grouped(e->done, fresh);
    (void)number_grouped(e->keys, keys);
    if (e->list.capabilities & HANDLE_DESCRIBES)
        message_note("%s: %s of %s key%s new%s; now %s key%s (capacity: %s)", e->list.name, fresh,
                     keys, e->keys == 1 ? "" : "s", copies_text(e, copies),
                     number_grouped(own, count), own == 1 ? "" : "s",
                     number_grouped(planned, room));
    else
        message_note("%s: %s of %s keys new; the false-positive rate per lookup is now %s",
                     e->list.name, fresh, keys, number_percent(s->current_fpr, rate));
}

static void warn(const edit *e, const bly_filter_info *s) {
    char text[HEALTH_TEXT];
    if (!(e->list.capabilities & HANDLE_DESCRIBES))
        return;
    if (e->as.mark && health_of(s) == HEALTH_GOOD)
        edit_warn_of_levels(e->list.name, e->as.type, &e->before, &e->levels, s);
    const bool worse = health_past_capacity(s) && s->current_fpr > s->requested_fpr;
    if (!health_warn(e->list.name, s) && worse)
        message_warn("%s: above its capacity: %s", e->list.name, health_text(s, text));
}

static int report(edit *e) {
    char unsure[NUMBER_TEXT];
    handle_facts facts;
    if (handle_get_facts(&e->list, &facts, true) != BLY_OK)
        return handle_failed(&e->list);
    const uint64_t marks = edit_marks(e);
    if (e->values->json)
        report_json(e, &facts.info, marks);
    else
        report_text(e, &facts.info, marks);
    if (e->unsure)
        message_note("%s: %s more keys were sent again after an answer was lost; they are in the "
                     "filter, but it is unknown whether they were new",
                     e->list.name, number_grouped(e->unsure, unsure));
    warn(e, &facts.info);
    return CLI_OK;
}

static int run(void *values, cli_operands operands) {
    static const edit_command adding = {HANDLE_ADDS, refuse, apply, fail, report};
    const edit_values *v = values;
    if (operands.count == 0)
        return message_error("no list given; for example: bloomery add LIST.bly FILE");
    if (v->once && v->copies)
        return message_error("--once and --copies cannot be combined; give only one");
    return edit_run(&adding, v, operands);
}

const cli_command command_add = {
    .name = "add",
    .operands = "LIST [FILE...]",
    .summary = "Add keys to a filter",
    .brief =
        "Adds the lines of the FILEs, or of standard input, to LIST, a filter file or a filter on "
        "a server, and prints how many were new. Lines are brought into the canonical form of the "
        "list's type (addresses, phone numbers and others), as by `bloomery build`.\n"
        "\n"
        "A list is created for a number of keys, its capacity. A Bloom filter accepts more keys, "
        "but then its false-positive rate exceeds the requested one, and a warning gives the rate.",
    .description =
        "Files compressed with gzip or zstd are decompressed. A filter file is replaced in one "
        "step when all lines have been read. A process that has it open, or opens it meanwhile, "
        "sees the old list or the new one. After any error (a malformed line, an unreadable file, "
        "a full disk) the file is unchanged. If two programs add to the same file, one waits for "
        "the other.\n"
        "\n"
        "Scalable, growable-cuckoo and scalable-cuckoo filters grow beyond their capacity. Some "
        "other kinds, such as cuckoo, can be full; this is an error, and nothing is added. Keys "
        "cannot be added to fuse and ribbon filters: build them again, or build an overlay over "
        "them (`bloomery build --over`).\n"
        "\n"
        "A list from which keys can be removed stores a copy of a key each time it is added, and "
        "`bloomery remove` removes one copy. (An overlay is an exception: it stores each key "
        "once.) A cuckoo list has space for at most eight copies of a key, and for fewer if many "
        "keys have several. A line that occurs several times in the input is added once, unless "
        "--copies is given.\n"
        "\n"
        "A key that such a list seems to contain already is stored again, and counted. It may be a "
        "false positive, and if it were skipped, removing the other key would remove both. So add "
        "a key again only if you will remove it as often, or use --once for a list from which "
        "nothing is removed.\n"
        "\n"
        "Some lists of lines, such as those of other programs, do not record whether a carriage "
        "return before the newline is part of a key. If such a list stores each key once, a line "
        "that ends in a carriage return is added with it and without it. A warning is printed.\n"
        "\n"
        "LIST can also be the address of a filter on a Redis or Valkey server without the Bloomery "
        "module: redis://HOST/KEY (`bloomery help push` describes addresses). If several clients "
        "add the same key at the same time, exactly one of them counts it as new. Lines are sent "
        "as they are read, thousands at a time. After an error, the lines already sent stay in the "
        "filter, and adding them again does no harm. If a malformed line would be an error, all "
        "lines are read before the first is sent. If an answer is lost, the lines are sent again, "
        "and those that may have been new are counted separately.",
    .examples = "# Add the lines of a file\n"
                "bloomery add blocked.bly new-entries.txt\n"
                "# Add a single key\n"
                "bloomery add blocked.bly --key 192.0.2.7\n"
                "# Add file names, which may contain newlines\n"
                "find . -name '*.jpg' -print0 | bloomery add -0 seen.bly\n"
                "# Add to a filter on a server, for all of its clients\n"
                "bloomery add redis://cache.example/blocked new-entries.txt",
    .options = options,
    .most_used = {"key", "type", "comments"},
    .values_size = sizeof(edit_values),
    .run = run,
};
