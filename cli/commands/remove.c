/* bloomery remove - fewer keys for a filter file, where its kind can. */
#include "change.h"
#include "json.h"
#include "kinds.h"
#include "message.h"
#include "numbers.h"

#include <stdio.h>

static int refuse(const char *path, bly_kind kind) {
    char kinds[KINDS_LIST];
    (void)kinds_that_can(BLY_CAN_REMOVE, kinds);
    return message_error("%s: keys cannot be removed from a %s filter: keys share its bits, so "
                         "others would go too; %s can; build it again without them",
                         path, bly_kind_name(kind), *kinds ? kinds : "no kind in this version");
}

static bly_status each(changing *c, const keytype_key *key) {
    bool removed = false;
    bly_status status = bly_filter_remove(c->filter, key->bytes.data, key->bytes.size, &removed);
    c->done += removed;
    return status;
}

static bly_status finish(changing *c) {
    (void)c;
    return BLY_OK;
}

static void report(const changing *c) {
    char keys[NUMBER_TEXT], gone[NUMBER_TEXT], count[NUMBER_TEXT];
    const uint64_t left = bly_filter_count(c->filter);
    if (!c->values->json) {
        message_note("%s: %s of %s keys were there and are removed; it holds %s", c->path,
                     number_grouped(c->done, gone), number_grouped(c->keys, keys),
                     number_grouped(left, count));
        return;
    }
    json j = json_begin(stdout);
    json_text(&j, "file", c->path);
    json_text(&j, "type", keytype_name(c->type));
    json_integer(&j, "keys", c->keys);
    json_integer(&j, "removed", c->done);
    json_integer(&j, "malformed", c->malformed);
    json_integer(&j, "count", left);
    json_end(&j);
}

static int run(void *values, cli_operands operands) {
    static const change removing = {BLY_CAN_REMOVE, refuse, each, finish, report};
    if (operands.count == 0)
        return message_error("name the list: bloomery remove LIST.bly [FILE...]");
    return change_run(&removing, values, operands);
}

const cli_command command_remove = {
    .name = "remove",
    .operands = "LIST.bly [FILE...]",
    .summary = "Remove keys from a filter file, where its kind can",
    .description =
        "Removes the lines of the files, or of standard input, from a filter file, and says how "
        "many were there. The list is replaced in one step when all lines have been read; if "
        "anything goes wrong it stays as it was.\n"
        "\n"
        "In a Bloom filter keys share bits: clearing those of one key would make the filter forget "
        "others, which it must never do. So this works only for kinds made for it, and only keys "
        "that were added may be removed. For every other kind it says which kinds can, and changes "
        "nothing; the way to remove a key is then to build the list again without it.",
    .examples = "# Remove a single key\n"
                "bloomery remove blocked.bly --key 192.0.2.7\n"
                "# Remove the lines of a file\n"
                "bloomery remove blocked.bly withdrawn.txt",
    .options = change_options,
    .values_size = sizeof(change_values),
    .run = run,
};
