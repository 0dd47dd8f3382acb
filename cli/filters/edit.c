#include "filters/edit.h"

#include "filters/filter_file.h"
#include "filters/health.h"
#include "filters/kind_words.h"
#include "filters/server_filter.h"
#include "io/key.h"
#include "io/lock.h"
#include "text/message.h"
#include "text/numbers.h"

#include <stdlib.h>
#include <string.h>

/* ---- which type ------------------------------------------------------------------------------ */

static bool refuse_type(const change_list *list, bly_list_type type) {
    if (list->own == BLY_LIST_OTHER)
        (void)message_error("%s: its keys are parts of lines, or lines in small letters, made by "
                            "the --field or --ignore-case of bloomery dedup or count; only that "
                            "command adds to it",
                            list->path);
    else if (type == BLY_LIST_NONE)
        (void)message_error("%s: has keys of several types, or too many to tell; say which these "
                            "are by --type",
                            list->path);
    else if (bly_list_is_typed(list->own) || bly_list_is_lines(list->own))
        (void)message_error("%s: is a list of type %s, in which keys of type %s would not be "
                            "found; leave --type out, or use another list",
                            list->path, line_type_words(list->own), line_type_words(type));
    else
        (void)message_error("%s: was made by bloomery %s; keys of type %s would not be found in "
                            "it; leave --type out, or use another list",
                            list->path, line_type_words(list->own), line_type_words(type));
    return false;
}

/* A list that records nothing, and has no marks, may hold keys of any type that another program has
 * put there. A type is recorded only where it cannot make a wrong sense of keys that are there
 * already. */
bool change_settle_type(const change_list *list, bly_list_type asked, change_type *out) {
    const bly_list_type own = list->own;
    const bool same_lines = bly_list_is_lines(own) && asked == BLY_LIST_LINE;
    const bly_list_type type = asked == BLY_LIST_NONE || same_lines ? own : asked;
    const bool unsaid = !list->recorded &&
                        (own == BLY_LIST_LINE || (own == BLY_LIST_NONE && asked == BLY_LIST_LINE));
    const bool open = list->empty && bly_list_is_lines(own);
    *out = (change_type){.type = type,
                         .marked = bly_list_is_typed(own) && own == type,
                         .mark = !unsaid || open,
                         .blanks = type > BLY_LIST_LINE || rule_marks_any(&list->marks),
                         .unsaid = unsaid && !open && type == BLY_LIST_LINE};
    if (type == BLY_LIST_NONE || type == BLY_LIST_OTHER)
        return refuse_type(list, type);
    if (own != BLY_LIST_NONE && own != type && !unsaid && !open)
        return refuse_type(list, type);
    if (!out->mark && type != BLY_LIST_LINE)
        message_warn("%s: does not say what it holds, and has keys already; to find these, check "
                     "must be given --type %s",
                     list->path, line_type_words(type));
    return true;
}

/* ---- lists that do not say how keys are made from lines ---------------------------------------
 */

change_forms change_forms_of(const change_list *list, const change_type *as, bool set, bool exact) {
    const bool urls = as->unsaid && set;
    return (change_forms){.path = list->path,
                          .set = set,
                          .urls = {urls && list->marks.url, urls && list->marks.crawl},
                          .exact = exact};
}

static void warn_of_return(change_forms *f) {
    if (f->warned)
        return;
    f->warned = true;
    if (f->set)
        message_warn("%s: does not record whether a carriage return at the end of a line is part "
                     "of its key: a line that ends in one is added in both forms, with it and "
                     "without it; a new list leaves it out",
                     f->path);
    else
        message_warn("%s: does not record whether a carriage return at the end of a line is part "
                     "of its key: here it is not, and where the list was made by bloomery count "
                     "it was; convert the line ends, or begin a new list",
                     f->path);
}

bool change_other_forms(change_forms *f, bly_bytes line, bly_bytes key,
                        bool (*each)(void *ctx, bly_bytes key), void *ctx) {
    const bool ends_in_return = !f->exact && bly_list_without_return(line).size < line.size;
    if (ends_in_return)
        warn_of_return(f);
    if (ends_in_return && f->set && !each(ctx, line))
        return false;
    for (int level = BLY_URL_STANDARD; level <= BLY_URL_CRAWL; level++) {
        bly_bytes form;
        if (!f->urls[level])
            continue;
        const bly_status status =
            bly_url_canonical(&f->buffer, (bly_url_level)level, key.data, key.size, &form);
        const bool same = form.size == key.size && memcmp(form.data, key.data, key.size) == 0;
        if (status == BLY_ENOMEM || (status == BLY_OK && !same && !each(ctx, form)))
            return false;
    }
    return true;
}

static bool settle_type(changing *c) {
    change_list list = {
        .path = c->path,
        .own = bly_list_recognise(c->filter, &c->known),
        .recorded = bly_filter_key_rule(c->filter) != BLY_KEYS_UNRECORDED,
        .empty = bly_filter_count(c->filter) == 0,
    };
    if (!list.recorded && !bly_list_is_typed(list.own))
        list.marks = rule_marks_in(c->filter);
    if (list.marks.other)
        list.own = BLY_LIST_OTHER;
    const bool good = change_settle_type(&list, (bly_list_type)c->values->type, &c->as);
    const bool once = !kinds_can(bly_filter_geometry(c->filter).kind, BLY_CAN_COUNT);
    c->forms =
        change_forms_of(&list, &c->as, once && c->how->needs == BLY_CAN_ADD, c->values->null);
    return good;
}

void change_warn_of_levels(const char *path, bly_list_type type, const bly_list_levels *known,
                           const bly_list_levels *levels, const bly_filter_info *s) {
    char rate[NUMBER_TEXT];
    bly_list_levels all = *known;
    for (unsigned level = 0; level < BLY_LIST_LEVELS; level++)
        if (bly_list_levels_contain(levels, level))
            bly_list_levels_add(&all, level);
    const unsigned before = bly_list_max_lookups(type, known);
    const unsigned now = bly_list_max_lookups(type, &all);
    if (now > before && now * s->current_fpr > HEALTH_MARGIN * before * s->requested_fpr)
        message_warn("%s: has keys of new widths: for a line it needs up to %u lookups instead of "
                     "%u, and the false-positive rate per line is up to %s; build it again",
                     path, now, before, number_percent(now * s->current_fpr, rate));
}

/* ---- the keys -------------------------------------------------------------------------------- */

static bool take_key(void *ctx, bly_bytes key) {
    changing *c = ctx;
    const bly_hash hash = bly_hash_key(bly_filter_hasher(c->filter), key.data, key.size);
    c->keys++;
    if (c->gathers)
        return gathered_keys_add(&c->gathered, key, hash);
    c->batch[c->waiting++] = hash;
    if (c->waiting == CHANGE_BATCH && c->status == BLY_OK)
        c->status = c->how->flush(c);
    if (c->waiting == CHANGE_BATCH)
        c->waiting = 0;
    return true;
}

static bool take(void *ctx, uint64_t number, bly_bytes line, const bly_list_key *key) {
    changing *c = ctx;
    (void)number;
    bly_list_levels_add(&c->levels, key->level);
    return take_key(c, key->bytes) &&
           (!c->as.unsaid || change_other_forms(&c->forms, line, key->bytes, take_key, c));
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

bool change_read(const change_values *v, const change_type *as, cli_operands files, list_line *each,
                 void *ctx, list_lines *lines) {
    const line_rule rule = {as->type, (v->comments ? BLY_LIST_COMMENTS : 0U) |
                                          (v->null ? BLY_LIST_RECORDS : 0U) |
                                          (as->blanks ? BLY_LIST_BLANK_KEYS : 0U)};
    bool good = !v->key || read_argument(v->key, &rule, each, ctx);
    if (good && (!v->key || files.count > 0))
        good = list_lines_read(files.items, files.count, &rule, v->skip, each, ctx, lines);
    return good;
}

static bool take_all(changing *c, cli_operands files) {
    const change_values *v = c->values;
    list_lines lines = {0};
    const bool good = change_read(v, &c->as, files, take, c, &lines);
    c->malformed = lines.malformed;
    if (!good && (v->skip || lines.malformed == 0))
        (void)message_error("%s: is left as it was", c->path);
    if (!good)
        return false;
    const uint64_t repeated = gathered_keys_settle(&c->gathered);
    c->repeated = v->copies ? 0 : repeated;
    if (c->status == BLY_OK)
        c->status = c->how->flush(c);
    if (c->status == BLY_OK)
        c->status = c->how->finish(c);
    if (c->status != BLY_OK)
        (void)c->how->fail(c);
    return c->status == BLY_OK;
}

/* ---- the list -------------------------------------------------------------------------------- */

static int apply(changing *c, cli_operands files) {
    const bly_kind kind = bly_filter_geometry(c->filter).kind;
    const bool no_list = kinds_can(kind, BLY_FORGETS) || kinds_can(kind, BLY_CARDINALITY_ONLY);
    if (!kinds_can(kind, c->how->needs) || no_list)
        return c->how->refuse(c->path, kind);
    c->gathers = kinds_can(kind, BLY_CAN_REMOVE);
    c->copies = kinds_hold_copies(kind);
    c->gathered.copies = c->values->copies;
    if (c->values->copies && !c->copies)
        return message_error("%s: %s %s list does not hold copies of keys; leave out --copies",
                             c->path, kinds_article(kind), bly_kind_name(kind));
    const uint64_t before = bly_filter_count(c->filter);
    if (!settle_type(c) || !take_all(c, files))
        return CLI_ERROR;
    /* Marks may be new where no key is. */
    const bool changed = c->done > 0 || bly_filter_count(c->filter) != before;
    if (changed && !open_save(c->filter, c->path))
        return CLI_ERROR;
    return c->how->report(c);
}

int change_run(const change *how, const change_values *v, cli_operands operands) {
    bly_hasher space;
    const bly_hasher *key;
    if (remote_is_address(operands.items[0]))
        return message_error("nothing can be removed from a filter on a server without a module; "
                             "on one that has it, BLY.DEL does it");
    if (!open_key(v->key_file, &space, &key))
        return CLI_ERROR;
    changing *c = calloc(1, sizeof *c);
    if (!c)
        return message_error("out of memory");
    c->how = how;
    c->values = v;
    c->path = operands.items[0];
    lock held;
    int status = CLI_ERROR;
    if (lock_take(&held, c->path, true))
        c->filter = open_load(c->path, key, 0);
    if (c->filter && v->memory)
        bly_filter_limit_growth(c->filter, v->memory);
    if (c->filter)
        status = apply(c, (cli_operands){operands.items + 1, operands.count - 1});
    bly_filter_destroy(c->filter);
    gathered_keys_free(&c->gathered);
    bly_url_buffer_free(&c->forms.buffer);
    lock_release(&held);
    free(c);
    return status;
}
