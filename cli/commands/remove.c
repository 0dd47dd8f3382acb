/* bloomery remove: removes keys from a filter file. */
#include "filters/edit.h"
#include "filters/kind_words.h"
#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"

#include <math.h>
#include <stdio.h>

static const cli_option options[] = {EDIT_OPTIONS, {0}};

static int refuse(const char *path, bly_kind kind) {
    char kinds[KINDS_LIST];
    const uint32_t can = bly_kind_capabilities(kind);
    const char *why = can & BLY_CAN_BUILD          ? "it was built from all its keys at once"
                      : can & BLY_FORGETS          ? "it forgets them automatically"
                      : can & BLY_CARDINALITY_ONLY ? "it only counts keys"
                      : can & BLY_CAN_COUNT        ? "its counts are estimates"
                                            : "keys share bits, so other keys would be removed too";
    (void)kinds_that_can(BLY_CAN_REMOVE, kinds);
    if (can & (BLY_FORGETS | BLY_CARDINALITY_ONLY | BLY_CAN_COUNT))
        return message_error(
            "%s: keys cannot be removed from %s %s filter: %s; kinds that support removal: %s",
            path, kinds_article(kind), bly_kind_name(kind), why, kinds);
    return message_error("%s: keys cannot be removed from %s %s filter: %s; build an overlay over "
                         "it, which supports removal: bloomery build --over %s -o NEW.bly",
                         path, kinds_article(kind), bly_kind_name(kind), why, path);
}

static bly_status apply(edit *e) {
    bly_status status = BLY_OK;
    for (size_t i = 0; i < e->gathered.count && status == BLY_OK; i++) {
        bool removed = false;
        status =
            bly_filter_remove_hash(handle_changeable(&e->list), e->gathered.hashes[i], &removed);
        e->done += removed;
    }
    return status;
}

static int fail(const edit *e) {
    if (e->status == BLY_EFULL)
        return message_error("%s: nothing was removed: the overlay has no space for more changes; "
                             "build the list again without these keys",
                             e->list.name);
    return message_status(e->list.name, e->status);
}

/* The number of cells that hold a key: one slot, or several counters shared with other keys. */
static unsigned cells_of(const bly_filter *f) {
    const bly_geometry g = bly_filter_geometry(f);
    return kinds_hold_slots(g.kind) ? 1 : g.hashes;
}

/* The expected number of keys that were removed by mistake. Keys that were never added are false
 * positives at the current rate. Removing such a key removes a copy of another key. The number is
 * estimated from the keys that were not found, and cannot exceed the number removed. */
static double expected_harm(const edit *e, uint64_t absent) {
    if (!e->copies) /* an overlay records the removed key itself */
        return 0;
    const double rate = filter_info(handle_filter(&e->list)).current_fpr;
    const double others = (double)absent * rate / (1 - fmin(rate, 0.999));
    /* Each counter of a false positive may belong to a different key, which is then no longer
     * found. */
    return fmin(others, (double)e->done) * cells_of(handle_filter(&e->list));
}

static void report_json(const edit *e, uint64_t absent, uint64_t left) {
    json j = json_begin(stdout);
    json_text(&j, "file", e->list.name);
    json_text(&j, "type", line_type_words(e->as.type));
    json_integer(&j, "keys", e->keys);
    json_integer(&j, "repeated", e->repeated);
    json_integer(&j, "removed", e->done);
    json_integer(&j, "absent", absent);
    json_real(&j, "expected_wrongly_removed", expected_harm(e, absent));
    json_integer(&j, "malformed", e->malformed);
    json_integer(&j, "count", left);
    json_end(&j);
}

static int report(edit *e) {
    char removed[NUMBER_TEXT], text[NUMBER_TEXT], count[NUMBER_TEXT], again[NUMBER_TEXT];
    char repeated[NUMBER_TEXT + 16] = "";
    const uint64_t absent = e->gathered.count - e->done,
                   marks = bly_list_marks_in(handle_filter(&e->list));
    const uint64_t left = bly_filter_count(handle_filter(&e->list)),
                   own = left > marks ? left - marks : 0;
    if (e->repeated)
        (void)snprintf(repeated, sizeof repeated, ", %s repeated",
                       number_grouped(e->repeated, again));
    if (e->values->json)
        report_json(e, absent, left);
    else
        message_note("%s: %s removed, %s not found%s; now %s key%s", e->list.name,
                     number_grouped(e->done, removed), number_grouped(absent, text), repeated,
                     number_grouped(own, count), own == 1 ? "" : "s");
    const double harm = expected_harm(e, absent);
    if (harm >= 0.01)
        message_warn("%s: %s of these keys %s not in the list, so some of the removed keys were "
                     "probably false positives, too. Removing them has removed %s%.*f other keys "
                     "from the list; remove only keys that were added",
                     e->list.name, number_grouped(absent, text), absent == 1 ? "is" : "are",
                     cells_of(handle_filter(&e->list)) > 1 ? "up to " : "about ", harm < 10 ? 2 : 0,
                     harm);
    bly_filter_info s = {.struct_size = sizeof s};
    bly_filter_get_info(handle_filter(&e->list), &s);
    if (s.stuck)
        message_warn("%s: %s counters are at their limit and are never decremented, so some "
                     "removed keys stay in the list; build the list again to remove them",
                     e->list.name, number_grouped(s.stuck, text));
    return e->done ? CLI_OK : CLI_NONE;
}

static int run(void *values, cli_operands operands) {
    static const edit_command removing = {HANDLE_REMOVES, refuse, apply, fail, report};
    if (operands.count == 0)
        return message_error("no list given; for example: bloomery remove LIST.bly FILE");
    return edit_run(&removing, values, operands);
}

const cli_command command_remove = {
    .name = "remove",
    .operands = "LIST.bly [FILE...]",
    .summary = "Remove keys from a filter file",
    .brief = "Removes the lines of the FILEs, or of standard input, from a filter file, and prints "
             "how many were removed. The kind of the filter must support removal; `bloomery plan "
             "-n 1M --deletes` lists such kinds.\n"
             "\n"
             "Remove only keys that were added. If a key was never added but is a false positive, "
             "another key is removed in its place, and will not be found any more. A warning gives "
             "the expected number of such keys.",
    .description =
        "Files compressed with gzip or zstd are decompressed. Lines are brought into the canonical "
        "form of the list's type, as when they were added, so any spelling of a key works. The "
        "file is replaced in one step when all lines have been read. After any error it is "
        "unchanged.\n"
        "\n"
        "A key that was added several times must be removed as often. A line that occurs several "
        "times in the input counts once, as for `bloomery add`, unless --copies is given.\n"
        "\n"
        "In a Bloom filter keys share bits, so clearing the bits of one key would remove others. "
        "`bloomery build --kind` builds lists of kinds that support removal. Bloom, fuse and "
        "ribbon filters can get an overlay (`bloomery build --over`), which records the removed "
        "keys. Removing a key that was never added from an overlay does no harm, and a key that "
        "was added several times is removed at once.",
    .examples = "# Remove a single key\n"
                "bloomery remove blocked.bly --key 192.0.2.7\n"
                "# Remove the lines of a file\n"
                "bloomery remove blocked.bly withdrawn.txt",
    .options = options,
    .most_used = {"key", "type", "comments"},
    .values_size = sizeof(edit_values),
    .run = run,
};
