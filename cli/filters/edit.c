/* edit.c - one flow for keys that are added to a list or removed from it.
 *
 * Where changes become visible together (HANDLE_COMMITS) the list is saved in one step when all
 * lines have been read: it has all new keys or none. Elsewhere keys are visible as soon as they
 * have arrived, and what has arrived stays. So where a line can be malformed, and that is an error,
 * all lines are then read before the first key is sent. (Lines of type line cannot be malformed.)
 *
 * A list that knows its type says so by marks, keys among the others (src/lists/list_marks.c).
 * Where others may look keys up meanwhile, the marks of a new level are added before the first key
 * of that level: a key that is there is then always found.
 */
#include "filters/edit.h"

#include "filters/kind_words.h"
#include "io/key.h"
#include "text/message.h"
#include "text/numbers.h"

#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 32768 }; /* keys that are added at once */

static bool commits(const edit *e) {
    return (e->list.capabilities & HANDLE_COMMITS) != 0;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Marks from the i-th on, of a list of these levels. */
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

/* Those of the type, and of levels that are not in `known`. */
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

/* The first n keys of the batch. */
static void add_keys(edit *e, size_t n) {
    handle_added added = {0};
    e->status = handle_add(&e->list, e->batch, n, &added);
    e->sent += n - added.unknown;
    e->done += added.fresh;
    e->unsure += added.unsure;
    if (e->status == BLY_OK || commits(e))
        return;
    char sent[NUMBER_TEXT], unknown[NUMBER_TEXT];
    (void)handle_failed(&e->list);
    (void)message_error("%s: %s keys are in it for certain; whether the next %s are is not known. "
                        "Adding them again does no harm",
                        e->list.name, number_grouped(e->sent, sent),
                        number_grouped(added.unknown, unknown));
}

/* All keys that wait. false: e->status says why; reported, unless the list commits. */
static bool flush(edit *e) {
    size_t at = 0;
    if (e->waiting > 0 && !commits(e) && e->as.mark) {
        e->status = add_marks(e, &e->known);
        if (e->status != BLY_OK)
            return handle_failed(&e->list) == CLI_OK;
    }
    while (e->waiting > 0 && e->status == BLY_OK) {
        size_t n = 0;
        while (n < TOGETHER && byte_strings_next(&e->waiting_keys, &at, &e->batch[n]))
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
        (e->as.unsaid && !edit_other_forms(&e->forms, line, key->bytes, take_key, e)))
        return false;
    if (e->holds_back || e->waiting < TOGETHER || flush(e))
        return true;
    e->lines.stopped = true;
    return false;
}

/* --key K */
static bool take_argument(const char *argument, const line_rule *rule, bly_list_reader *reader,
                          list_line *each, void *ctx) {
    const bly_bytes text = {argument, strlen(argument)};
    bly_list_key key;
    const bly_status status =
        bly_list_read(reader, rule->type, rule->flags, text.data, text.size, &key);
    if (status == BLY_OK && !key.blank && each(ctx, 0, text, &key))
        return true;
    if (status == BLY_EINVAL)
        line_complain(bly_list_reader_reason(reader), NULL, 0, text, false);
    else if (status == BLY_OK && key.blank)
        (void)message_error("--key needs a key that is not empty");
    else
        (void)message_error("out of memory");
    return false;
}

static bool read_argument(const char *argument, const line_rule *rule, list_line *each, void *ctx) {
    bly_list_reader *reader;
    if (bly_list_reader_create(&reader) != BLY_OK) {
        (void)message_error("out of memory");
        return false;
    }
    const bool good = take_argument(argument, rule, reader, each, ctx);
    bly_list_reader_destroy(reader);
    return good;
}

/* --key, and the lines of the files, or of standard input where neither is given. */
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

/* What a failure to read means for the list. */
static void say_what_is_there(const edit *e) {
    char sent[NUMBER_TEXT];
    const bool said = e->malformed > 0 && !e->values->skip;
    if (commits(e) && !said)
        (void)message_error("%s: is left as it was", e->list.name);
    else if (!commits(e) && e->sent > 0)
        (void)message_error("%s: %s keys had been added by then; adding them again does no harm",
                            e->list.name, number_grouped(e->sent, sent));
}

/* ---- the end --------------------------------------------------------------------------------- */

/* In an overfull list a level may seem to be marked by chance. If keys can be removed, removing
 * others would then take that mark away, so the levels get marks of their own. */
static bool uncertain(edit *e) {
    bly_list_info info = {.struct_size = sizeof info};
    const bly_list_source list = handle_list(&e->list);
    return e->copies && e->typed && bly_list_examine_source(&list, &info) == BLY_OK &&
           info.chance_levels;
}

/* Of a list that commits: what it is to say of its new keys. */
static bly_status record_type(edit *e) {
    const bly_list_levels none = {{0}};
    if (e->how->needs != HANDLE_ADDS || !e->as.mark || e->keys == 0)
        return BLY_OK;
    const bly_status status =
        bly_filter_set_key_rule(handle_changeable(&e->list), bly_list_key_rule(e->as.type));
    return status == BLY_OK ? add_marks(e, uncertain(e) ? &none : &e->known) : status;
}

static bool apply(edit *e) {
    if (!commits(e))
        return flush(e);
    if (e->gathers) {
        const uint64_t repeated = gathered_keys_settle(&e->gathered);
        e->repeated = e->values->copies ? 0 : repeated;
        e->status = e->how->apply(e);
    } else
        (void)flush(e);
    if (e->status == BLY_OK)
        e->status = record_type(e);
    if (e->status != BLY_OK)
        (void)e->how->fail(e);
    return e->status == BLY_OK;
}

static bool take_all(edit *e, cli_operands files) {
    if (read_lines(e, files))
        return apply(e);
    if (!e->lines.stopped)
        say_what_is_there(e);
    else if (commits(e))
        (void)e->how->fail(e);
    return false;
}

uint64_t edit_marks(edit *e) {
    const bly_list_levels none = {{0}};
    if (handle_filter(&e->list))
        return bly_list_marks_in(handle_filter(&e->list));
    return e->typed ? bly_list_mark_count(e->as.type, e->by_chance ? &none : &e->known) : 0;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* What it says of itself. false: a lookup failed. */
static bool ask_type(edit *e, edit_list *list) {
    const bly_list_source source = handle_list(&e->list);
    bly_list_info own = {.struct_size = sizeof own};
    if (bly_list_examine_source(&source, &own) != BLY_OK)
        return false;
    list->own = own.type;
    e->before = e->known = own.levels;
    e->by_chance = own.chance_levels;
    return list->recorded || bly_list_is_typed(own.type) ||
           rule_marks_read(&source, true, &list->marks) == BLY_OK;
}

/* What it records can only be changed together with its keys. */
static bool settle_type(edit *e) {
    const bool describes = (e->list.capabilities & HANDLE_DESCRIBES) != 0;
    edit_list list = {.path = e->list.name, .own = BLY_LIST_LINE};
    e->before = e->known = bly_list_levels_all();
    list.recorded = e->facts.key_rule != BLY_KEYS_UNRECORDED;
    list.empty = describes && e->facts.info.count == 0 && (commits(e) || !list.recorded);
    if (describes && !ask_type(e, &list))
        return handle_failed(&e->list) == CLI_OK;
    if (list.marks.other)
        list.own = BLY_LIST_OTHER;
    if (!edit_settle_type(&list, (bly_list_type)e->values->type, &e->as))
        return false;
    const bool once = !kinds_can(e->facts.geometry.kind, BLY_CAN_COUNT);
    e->as.unsaid &= describes; /* the keys of others are those of a program */
    e->forms = edit_forms_of(&list, &e->as, once && e->how->needs == HANDLE_ADDS, e->values->null);
    e->typed = e->as.marked;
    e->holds_back = !commits(e) && bly_list_is_typed(e->as.type) && !e->values->skip;
    return true;
}

static int change(edit *e, cli_operands files) {
    if (handle_get_facts(&e->list, &e->facts, false) != BLY_OK)
        return handle_failed(&e->list);
    const bly_kind kind = e->facts.geometry.kind;
    if (!(e->list.capabilities & e->how->needs))
        return e->how->refuse(e->list.name, kind);
    e->gathers = (e->list.capabilities & HANDLE_REMOVES) != 0;
    e->copies = (e->list.capabilities & HANDLE_COPIES) != 0;
    e->gathered.copies = e->values->copies;
    if (e->values->copies && !e->copies)
        return message_error("%s: %s %s list does not hold copies of keys; leave out --copies",
                             e->list.name, kinds_article(kind), bly_kind_name(kind));
    if (!settle_type(e) || !take_all(e, files))
        return CLI_ERROR;
    /* Marks may be new where no key is. */
    const bly_filter *f = handle_filter(&e->list);
    const bool changed = e->done > 0 || (f && bly_filter_count(f) != e->facts.info.count);
    if (changed && !handle_commit(&e->list))
        return CLI_ERROR;
    return e->how->report(e);
}

/* What no filter in such a place can do. */
static bool place_agrees(const edit_command *how, const edit_values *v, const char *name) {
    const uint32_t can = handle_capabilities(name);
    if (!(can & how->needs))
        (void)message_error("nothing can be removed from a filter on a server without a module; on "
                            "one that has it, BLY.DEL does it");
    else if (v->copies && !(can & HANDLE_COPIES))
        (void)message_error("a filter on a plain server does not hold copies of keys; leave out "
                            "--copies");
    else
        return true;
    return false;
}

int edit_run(const edit_command *how, const edit_values *v, cli_operands operands) {
    handle_options options = {
        .access = HANDLE_CHANGED, .max_growth = v->memory, .gozero = v->gozero};
    bly_hasher space;
    const char *name = operands.items[0];
    if (!place_agrees(how, v, name) || !open_key(v->key_file, &space, &options.key))
        return CLI_ERROR;
    edit *e = calloc(1, sizeof *e);
    bly_bytes *batch = malloc(TOGETHER * sizeof *batch);
    int status = CLI_ERROR;
    if (e && batch) {
        *e = (edit){.how = how, .values = v, .batch = batch};
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
