/* bloomery add - more keys for a filter file. */
#include "change.h"
#include "health.h"
#include "json.h"
#include "message.h"
#include "numbers.h"

#include <stdio.h>

static int refuse(const char *path, bly_kind kind) {
    return message_error("%s: nothing can be added to a %s filter; build it again with the new "
                         "keys",
                         path, bly_kind_name(kind));
}

static bly_status flush(changing *c) {
    bly_tally tally = {0};
    bly_status status = bly_filter_add_hashes(c->filter, c->batch, c->waiting, NULL, &tally);
    c->done += tally.fresh;
    c->waiting = 0;
    return status;
}

static bly_status each(changing *c, const keytype_key *key) {
    const bly_hasher *hasher = bly_filter_hasher(c->filter);
    c->batch[c->waiting++] = bly_hash_key(hasher, key->bytes.data, key->bytes.size);
    return c->waiting < CHANGE_BATCH ? BLY_OK : flush(c);
}

static bly_status finish(changing *c) {
    bly_status status = flush(c);
    if (status == BLY_OK && c->mark && c->keys > 0)
        status = keytype_mark(c->filter, c->type, &c->levels);
    return status;
}

/* Blocks of new sizes, or domains of new depths, make more questions of a line. */
static void warn_of_levels(const changing *c, const bly_stats *s) {
    char rate[NUMBER_TEXT];
    keytype_levels all = c->known;
    for (unsigned level = 0; level < KEYTYPE_LEVELS; level++)
        if (keytype_levels_have(&c->levels, level))
            keytype_levels_add(&all, level);
    const unsigned before = keytype_most_tries(c->type, &c->known);
    const unsigned now = keytype_most_tries(c->type, &all);
    if (c->mark && now > before && now * s->current_fpr > HEALTH_MARGIN * before * s->target_fpr)
        message_warn("%s: has keys of new widths: for a line it is asked up to %u times instead of "
                     "%u, and errs on up to %s of the lines; build it again",
                     c->path, now, before, number_percent(now * s->current_fpr, rate));
}

static void report(const changing *c) {
    char keys[NUMBER_TEXT], fresh[NUMBER_TEXT], count[NUMBER_TEXT], room[NUMBER_TEXT];
    char text[HEALTH_TEXT], marked[64] = "";
    bly_stats s;
    bly_filter_stats(c->filter, &s);
    const uint64_t marks = keytype_marks_in(c->filter);
    const uint64_t own = s.count > marks ? s.count - marks : 0;
    if (marks)
        (void)snprintf(marked, sizeof marked, " and %llu marks of its type",
                       (unsigned long long)marks);
    if (c->values->json) {
        json j = json_begin(stdout);
        json_text(&j, "file", c->path);
        json_text(&j, "type", keytype_name(c->type));
        json_integer(&j, "keys", c->keys);
        json_integer(&j, "new", c->done);
        json_integer(&j, "malformed", c->malformed);
        json_integer(&j, "count", s.count);
        json_integer(&j, "marks", marks);
        json_integer(&j, "capacity", s.capacity);
        json_real(&j, "rate_asked", s.target_fpr);
        json_real(&j, "rate_now", s.current_fpr);
        json_bool(&j, "keeps_promise", health_of(&s) == HEALTH_GOOD);
        json_end(&j);
    } else
        message_note("%s: %s of %s new; it holds %s key%s%s, its capacity is %s%s", c->path,
                     number_grouped(c->done, fresh), number_grouped(c->keys, keys),
                     number_grouped(own, count), own == 1 ? "" : "s", marked,
                     number_grouped(s.capacity, room), marks ? " with them" : "");
    if (health_of(&s) == HEALTH_GOOD)
        warn_of_levels(c, &s);
    const bool worse = s.count > s.capacity && s.current_fpr > s.target_fpr;
    if (!health_warn(c->path, &s) && worse)
        message_warn("%s: is past its capacity: %s", c->path, health_text(&s, text));
}

static int run(void *values, cli_operands operands) {
    static const change adding = {BLY_CAN_ADD, refuse, each, finish, report};
    if (operands.count == 0)
        return message_error("name the list: bloomery add LIST.bly [FILE...]");
    return change_run(&adding, values, operands);
}

const cli_command command_add = {
    .name = "add",
    .operands = "LIST.bly [FILE...]",
    .summary = "Add keys to a filter file",
    .description =
        "Adds the lines of the files, or of standard input, to a filter file. The lines are "
        "brought into the form of the list's own type (addresses, phone numbers, ...), as "
        "`bloomery build` did, and it is said how many were new.\n"
        "\n"
        "The list is replaced in one step when all lines have been read: whoever has it open, or "
        "opens it meanwhile, sees the old list or the new one. If anything goes wrong (a "
        "malformed line, an unreadable file, a full disk) it stays as it was. Two programs that "
        "add to the same list wait for each other.\n"
        "\n"
        "A filter has room for the number of keys it was made for. It can take more, but then it "
        "answers wrongly more often than was asked; a warning gives the rate. Scalable filters "
        "grow instead.",
    .examples = "# Add the lines of a file\n"
                "bloomery add blocked.bly new-entries.txt\n"
                "# Add a single key\n"
                "bloomery add blocked.bly --key 192.0.2.7\n"
                "# Add file names, which may contain anything\n"
                "find . -name '*.jpg' -print0 | bloomery add -0 seen.bly",
    .options = change_options,
    .values_size = sizeof(change_values),
    .run = run,
};
