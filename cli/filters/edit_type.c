/* edit_type.c - decides how keys are made from lines for the list that is changed.
 *
 * A list records this in its header or in marks. States of early versions, and lists of other
 * programs, do not record it. Then a line may have to be added in several forms.
 */
#include "filters/edit.h"
#include "filters/health.h"
#include "text/message.h"
#include "text/numbers.h"

#include <string.h>

/* ---- which type ------------------------------------------------------------------------------ */

static bool refuse_type(const edit_list *list, bly_list_type type) {
    if (list->own == BLY_LIST_OTHER)
        return message_fail("%s: was created by bloomery dedup or count with --field or "
                            "--ignore-case; only the command that created it can change it",
                            list->path);
    if (type == BLY_LIST_NONE)
        return message_fail("%s: has keys of several types, or too many keys to recognise their "
                            "type; give the type of these lines with --type",
                            list->path);
    return message_fail("%s: has keys of type %s, so keys of type %s would not be found in it; "
                        "leave out --type, or name another list",
                        list->path, line_type_words(list->own), line_type_words(type));
}

/* A list without a recorded type and without marks may have keys of any type, added by another
 * program. So a type is recorded only if no existing key could contradict it. */
bool edit_settle_type(const edit_list *list, bly_list_type requested, edit_type *out) {
    const bly_list_type own = list->own;
    const bool same_lines = bly_list_is_lines(own) && requested == BLY_LIST_LINE;
    const bly_list_type type = requested == BLY_LIST_NONE || same_lines ? own : requested;
    const bool unrecorded =
        !list->recorded &&
        (own == BLY_LIST_LINE || (own == BLY_LIST_NONE && requested == BLY_LIST_LINE));
    const bool open = list->empty && bly_list_is_lines(own);
    *out = (edit_type){.type = type,
                       .marked = bly_list_is_typed(own) && own == type,
                       .mark = !unrecorded || open,
                       .blanks = type > BLY_LIST_LINE || rule_marks_any(&list->marks),
                       .unrecorded = unrecorded && !open && type == BLY_LIST_LINE};
    if (type == BLY_LIST_NONE || type == BLY_LIST_OTHER)
        return refuse_type(list, type);
    if (own != BLY_LIST_NONE && own != type && !unrecorded && !open)
        return refuse_type(list, type);
    if (!out->mark && type != BLY_LIST_LINE)
        message_warn("%s: has keys whose type is not recorded, so the type of the new keys is not "
                     "recorded either; look them up with bloomery check --type %s",
                     list->path, line_type_words(type));
    return true;
}

/* ---- lists that do not record how keys are made from lines ----------------------------------- */

edit_forms edit_forms_of(const edit_list *list, const edit_type *as, bool set, bool exact) {
    const bool urls = as->unrecorded && set;
    return (edit_forms){.path = list->path,
                        .set = set,
                        .urls = {urls && list->marks.url, urls && list->marks.crawl},
                        .exact = exact};
}

static void warn_of_return(edit_forms *f) {
    if (f->warned)
        return;
    f->warned = true;
    if (f->set)
        message_warn("%s: does not record whether a carriage return at the end of a line is part "
                     "of the key, so such lines are added both with and without it; build a new "
                     "list to avoid this",
                     f->path);
    else
        message_warn(
            "%s: does not record whether a carriage return at the end of a line is part of the "
            "key. In old states of bloomery count it is, but this command leaves it out. Use lines "
            "that end in a newline alone, or build a new list",
            f->path);
}

bool edit_other_forms(edit_forms *f, bly_bytes line, bly_bytes key,
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

void edit_warn_of_levels(const char *path, bly_list_type type, const bly_list_levels *known,
                         const bly_list_levels *levels, const bly_filter_info *s) {
    bly_list_levels all = *known;
    for (unsigned level = 0; level < BLY_LIST_LEVELS; level++)
        if (bly_list_levels_contain(levels, level))
            bly_list_levels_add(&all, level);
    const unsigned before = bly_list_max_lookups(type, known);
    const unsigned now = bly_list_max_lookups(type, &all);
    if (now > before && now * s->current_fpr > HEALTH_MARGIN * before * s->requested_fpr)
        message_warn("%s: a line now needs up to %u lookups instead of %u, so the false-positive "
                     "rate per line is up to %s; build the list again",
                     path, now, before, NUMBER_PERCENT(now * s->current_fpr));
}
