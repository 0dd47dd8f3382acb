/* edit.c - adds keys to a list, or removes them.
 *
 * A filter file (HANDLE_COMMITS) is saved in one step when all lines have been read, so it gets all
 * changes or none. On a server, keys are visible as soon as they are sent, and cannot be taken back
 * after an error. So if a malformed line would be an error, all lines are read before the first key
 * is sent. (Lines of type line cannot be malformed.)
 *
 * A list records its type and levels in marks, which are keys among the others
 * (src/lists/list_marks.c). On a server the marks of a new level are sent before the first key of
 * that level, so that concurrent lookups always find the key.
 */
#include "filters/edit.h"

#include "filters/kind_words.h"
#include "io/key.h"
#include "text/message.h"
#include "text/numbers.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 32768 }; /* keys added at once */

static bool commits(const edit *e) {
    return (e->list.capabilities & HANDLE_COMMITS) != 0;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Adds the marks of these levels, from the i-th mark on. */
static bly_status add_marks_from(edit *e, const bly_list_levels *levels, uint64_t i) {
    enum { MARKS = 256 };
    const uint64_t count = bly_list_mark_count(e->as.type, levels);
    char room[MARKS][BLY_LIST_MARK];
    bly_status status = BLY_OK;
    while (i < count && status == BLY_OK) {
        handle_added added = {0};
        size_t n = 0;
        for (; n < MARKS && i < count; n++, i++)
            e->batch[n] = bly_list_mark_at(e->as.type, levels, i, room[n]);
        status = handle_add(&e->list, e->batch, n, &added);
    }
    return status;
}

/* Adds the marks of the type, if the list has none, and the marks of levels that are not in
 * `known`. */
static bly_status add_marks(edit *e, const bly_list_levels *known) {
    const bly_list_levels none = {{0}};
    bly_list_levels fresh = e->levels;
    for (size_t i = 0; i < sizeof fresh.bits / sizeof *fresh.bits; i++)
        fresh.bits[i] &= ~known->bits[i];
    const uint64_t first = e->typed ? bly_list_mark_count(e->as.type, &none) : 0;
    const bly_status status = add_marks_from(e, &fresh, first);
    if (status != BLY_OK)
        return status;
    e->typed = true;
    for (size_t i = 0; i < sizeof fresh.bits / sizeof *fresh.bits; i++)
        e->known.bits[i] |= fresh.bits[i];
    return BLY_OK;
}

/* Adds the first n keys of the batch. */
static void add_keys(edit *e, size_t n) {
    handle_added added = {0};
    e->status = handle_add(&e->list, e->batch, n, &added);
    e->sent += n - added.unknown;
    e->done += added.fresh;
    e->unsure += added.unsure;
    if (e->status == BLY_OK || commits(e))
        return;
    (void)handle_failed(&e->list);
    (void)message_error("%s: %s keys were added; it is unknown whether %s more were added. Run the "
                        "command again with the same input: adding a key twice does no harm",
                        e->list.name, NUMBER_GROUPED(e->sent), NUMBER_GROUPED(added.unknown));
}

/* Adds all waiting keys. On failure, sets e->status and returns false; the error is reported here
 * only for a list without HANDLE_COMMITS. */
static bool flush(edit *e) {
    size_t at = 0;
    if (e->waiting > 0 && !commits(e) && e->as.mark) {
        e->status = add_marks(e, &e->known);
        if (e->status != BLY_OK)
            return handle_failed(&e->list) == CLI_OK;
    }
    while (e->waiting > 0 && e->status == BLY_OK) {
        size_t n = 0;
        while (n < BATCH && byte_strings_next(&e->waiting_keys, &at, &e->batch[n]))
            n++;
        add_keys(e, n);
        e->waiting -= n;
    }
    e->waiting_keys.used = 0;
    return e->status == BLY_OK;
}

/* ---- the keys -------------------------------------------------------------------------------- */

static bool take_key(void *ctx, bly_bytes key) {
    edit *e = ctx;
    e->keys++;
    if (e->gathers) {
        const bly_hasher *hasher = bly_filter_hasher(handle_filter(&e->list));
        return gathered_keys_add(&e->gathered, key, bly_hash_key(hasher, key.data, key.size));
    }
    e->waiting++;
    return byte_strings_put(&e->waiting_keys, key);
}

static bool take(void *ctx, uint64_t number, bly_bytes line, const bly_list_key *key) {
    edit *e = ctx;
    (void)number;
    bly_list_levels_add(&e->levels, key->level);
    if (!take_key(e, key->bytes) ||
        (e->as.unrecorded && !edit_other_forms(&e->forms, line, key->bytes, take_key, e)))
        return false;
    if (e->reads_first || e->waiting < BATCH || flush(e))
        return true;
    e->lines.stopped = true;
    return false;
}

/* Takes the key of --key. */
static bool take_argument(const char *argument, const line_rule *rule, bly_list_reader *reader,
                          list_line *each, void *ctx) {
    const bly_bytes text = {argument, strlen(argument)};
    bly_list_key key;
    const bly_status status =
        bly_list_read(reader, rule->type, rule->flags, text.data, text.size, &key);
    if (status == BLY_OK && !key.blank && each(ctx, 0, text, &key))
        return true;
    if (status == BLY_OK && key.blank)
        return message_fail("--key must not be blank");
    if (status != BLY_EINVAL)
        return message_fail("out of memory");
    line_complain(bly_list_reader_reason(reader), NULL, 0, text, false);
    return false;
}

static bool read_argument(const char *argument, const line_rule *rule, list_line *each, void *ctx) {
    bly_list_reader *reader;
    if (bly_list_reader_create(&reader) != BLY_OK)
        return message_fail("out of memory");
    const bool good = take_argument(argument, rule, reader, each, ctx);
    bly_list_reader_destroy(reader);
    return good;
}

/* Reads --key and the files, or standard input if neither is given. */
static bool read_lines(edit *e, cli_operands files) {
    const edit_values *v = e->values;
    const line_rule rule = {e->as.type, (v->comments ? BLY_LIST_COMMENTS : 0U) |
                                            (v->null ? BLY_LIST_RECORDS : 0U) |
                                            (e->as.blanks ? BLY_LIST_BLANK_KEYS : 0U)};
    bool good = !v->key || read_argument(v->key, &rule, take, e);
    if (good && (!v->key || files.count > 0))
        good = list_lines_read(files.items, files.count, &rule, v->skip, take, e, &e->lines);
    e->malformed = e->lines.malformed;
    return good;
}

/* After reading has failed, reports whether the list was changed. */
static void report_unfinished(const edit *e) {
    const bool reported = e->malformed > 0 && !e->values->skip;
    if (commits(e) && !reported)
        (void)message_error("%s: was not changed", e->list.name);
    else if (!commits(e) && e->sent > 0)
        (void)message_error(
            "%s: %s keys were added before the error; adding them again does no harm", e->list.name,
            NUMBER_GROUPED(e->sent));
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Whether the marks of some level may be false positives, as in an overfull list. Removing keys may
 * then remove such apparent marks, so all levels get real ones. */
static bool marks_uncertain(edit *e) {
    bly_list_info info = {.struct_size = sizeof info};
    const bly_list_source list = handle_list(&e->list);
    return e->copies && e->typed && bly_list_examine_source(&list, &info) == BLY_OK &&
           info.chance_levels;
}

/* For lists with HANDLE_COMMITS: records the type and the levels of the new keys. */
static bly_status record_type(edit *e) {
    const bly_list_levels none = {{0}};
    if (e->command->needs != HANDLE_ADDS || !e->as.mark || e->keys == 0)
        return BLY_OK;
    const bly_status status =
        bly_filter_set_key_rule(handle_changeable(&e->list), bly_list_key_rule(e->as.type));
    return status == BLY_OK ? add_marks(e, marks_uncertain(e) ? &none : &e->known) : status;
}

static bool apply(edit *e) {
    if (!commits(e))
        return flush(e);
    if (e->gathers) {
        const uint64_t repeated = gathered_keys_settle(&e->gathered);
        e->repeated = e->values->copies ? 0 : repeated;
        e->status = e->command->apply(e);
    } else
        (void)flush(e);
    if (e->status == BLY_OK)
        e->status = record_type(e);
    if (e->status != BLY_OK)
        (void)e->command->fail(e);
    return e->status == BLY_OK;
}

static bool read_and_apply(edit *e, cli_operands files) {
    if (read_lines(e, files))
        return apply(e);
    if (!e->lines.stopped)
        report_unfinished(e);
    else if (commits(e))
        (void)e->command->fail(e);
    return false;
}

uint64_t edit_marks(edit *e) {
    const bly_list_levels none = {{0}};
    if (handle_filter(&e->list))
        return bly_list_marks_in(handle_filter(&e->list));
    return e->typed ? bly_list_mark_count(e->as.type, e->chance_levels ? &none : &e->known) : 0;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* Reads what the list records about its keys. Returns false if a lookup failed. */
static bool examine(edit *e, edit_list *list) {
    const bly_list_source source = handle_list(&e->list);
    bly_list_info own = {.struct_size = sizeof own};
    if (bly_list_examine_source(&source, &own) != BLY_OK)
        return false;
    list->own = own.type;
    e->before = e->known = own.levels;
    e->chance_levels = own.chance_levels;
    return list->recorded || bly_list_is_typed(own.type) ||
           rule_marks_read(&source, true, &list->marks) == BLY_OK;
}

static bool settle_type(edit *e) {
    const bool describes = (e->list.capabilities & HANDLE_DESCRIBES) != 0;
    edit_list list = {.path = e->list.name, .own = BLY_LIST_LINE};
    e->before = e->known = bly_list_levels_all();
    /* What the header of a filter on a server records cannot be changed. */
    list.recorded = e->facts.key_rule != BLY_KEYS_UNRECORDED;
    list.empty = describes && e->facts.info.count == 0 && (commits(e) || !list.recorded);
    if (describes && !examine(e, &list))
        return handle_failed(&e->list) == CLI_OK;
    if (list.marks.other)
        list.own = BLY_LIST_OTHER;
    if (!edit_settle_type(&list, (bly_list_type)e->values->type, &e->as))
        return false;
    const bool once = !kinds_can(e->facts.geometry.kind, BLY_CAN_COUNT);
    e->as.unrecorded &= describes; /* the keys of go-zero come from a program, not from lines */
    e->forms =
        edit_forms_of(&list, &e->as, once && e->command->needs == HANDLE_ADDS, e->values->null);
    e->typed = e->as.marked;
    e->reads_first = !commits(e) && bly_list_is_typed(e->as.type) && !e->values->skip;
    return true;
}

static int change(edit *e, cli_operands files) {
    if (handle_get_facts(&e->list, &e->facts, false) != BLY_OK)
        return handle_failed(&e->list);
    const bly_kind kind = e->facts.geometry.kind;
    if (!(e->list.capabilities & e->command->needs))
        return e->command->refuse(e->list.name, kind);
    e->gathers = (e->list.capabilities & HANDLE_REMOVES) != 0;
    e->copies = (e->list.capabilities & HANDLE_COPIES) != 0;
    e->gathered.copies = e->values->copies;
    if (e->values->copies && !e->copies)
        return message_error("%s: %s %s list stores each key once; leave out --copies",
                             e->list.name, kinds_article(kind), bly_kind_name(kind));
    if (!settle_type(e) || !read_and_apply(e, files))
        return CLI_ERROR;
    /* Marks may be new even if no key is. */
    const bly_filter *f = handle_filter(&e->list);
    const bool changed = e->done > 0 || (f && bly_filter_count(f) != e->facts.info.count);
    if (changed && !handle_commit(&e->list))
        return CLI_ERROR;
    return e->command->report(e);
}

/* Refuses what no filter on a plain server supports, before connecting. */
static bool name_agrees(const edit_command *command, const edit_values *v, const char *name) {
    const uint32_t can = handle_capabilities(name);
    if (!(can & command->needs))
        return message_fail("keys cannot be removed from a filter on a server without the "
                            "Bloomery module; on a server with it, use the command BLY.DEL");
    if (v->copies && !(can & HANDLE_COPIES))
        return message_fail("a filter on a server without the Bloomery module stores each key "
                            "once; leave out --copies");
    return true;
}

int edit_run(const edit_command *command, const edit_values *v, cli_operands operands) {
    handle_options options = {
        .access = HANDLE_CHANGED, .max_growth = v->memory, .gozero = v->gozero};
    bly_hasher space;
    const char *name = operands.items[0];
    if (!name_agrees(command, v, name) || !open_key(v->key_file, &space, &options.key))
        return CLI_ERROR;
    edit *e = calloc(1, sizeof *e);
    bly_bytes *batch = malloc(BATCH * sizeof *batch);
    int status = CLI_ERROR;
    if (e && batch) {
        *e = (edit){.command = command, .values = v, .batch = batch};
        if (handle_open(&e->list, name, &options))
            status = change(e, (cli_operands){operands.items + 1, operands.count - 1});
        handle_close(&e->list);
        gathered_keys_free(&e->gathered);
        byte_strings_free(&e->waiting_keys);
        bly_url_buffer_free(&e->forms.buffer);
    } else
        (void)message_error("out of memory");
    free(batch);
    free(e);
    return status;
}
