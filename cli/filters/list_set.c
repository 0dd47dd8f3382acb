/* list_set.c - looks up lines in several lists: see list_set.h. */
#include "filters/list_set.h"

#include "text/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening --------------------------------------------------------------------------------- */

/* Whether the list needs the key. A list that is not available counts as keyed. */
static bool needs_key(live_list *l) {
    handle_facts facts;
    return l->handle.options.key &&
           (l->unavailable || handle_get_facts(&l->handle, &facts, false) != BLY_OK || facts.keyed);
}

static bool open_lists(list_set *s, cli_operands names) {
    bool keyed = false;
    for (; s->count < names.count; s->count++) {
        live_list *l = &s->lists[s->count].list;
        if (!live_list_open(l, names.items[s->count], &s->options))
            return false;
        keyed = keyed || needs_key(l);
    }
    if (s->options.key && !keyed)
        (void)message_error(names.count > 1 ? "none of the lists is keyed; leave out --key-file"
                                            : "the list is not keyed; leave out --key-file");
    return keyed || !s->options.key;
}

bool list_set_open(list_set *s, cli_operands names) {
    s->options.key_is_shared = names.count > 1;
    s->lists = calloc(names.count, sizeof *s->lists);
    if (s->lists && bly_list_reader_create(&s->query.reader) == BLY_OK)
        return open_lists(s, names);
    return message_fail("out of memory");
}

void list_set_close(list_set *s) {
    while (s->count > 0)
        live_list_close(&s->lists[--s->count].list);
    query_free(&s->query);
    free(s->lists);
    s->lists = NULL;
}

/* ---- lookups --------------------------------------------------------------------------------- */

static void combine(list_set *s, size_t n) {
    list_answers *any = &s->any;
    memset(any->match, 0, n);
    memset(any->malformed, 1, n);
    memset(any->assumed, 0, n);
    for (set_list *l = s->lists; l < s->lists + s->count; l++)
        for (size_t i = 0; i < n; i++) {
            any->match[i] |= l->answers.match[i];
            any->malformed[i] &= l->answers.malformed[i];
            any->assumed[i] |= l->answers.assumed[i];
            l->matched += l->answers.match[i];
            l->assumed += l->answers.assumed[i];
        }
}

bool list_set_batch(list_set *s, const bly_bytes *lines, size_t n) {
    for (set_list *l = s->lists; l < s->lists + s->count; l++)
        if (!query_batch(&s->query, &l->list, lines, n, &l->answers))
            return false;
    combine(s, n);
    return true;
}

bool list_set_refresh(list_set *s) {
    bool good = true;
    for (size_t i = 0; good && i < s->count; i++)
        good = live_list_refresh(&s->lists[i].list);
    return good;
}

/* ---- facts ----------------------------------------------------------------------------------- */

const char *list_set_name(const set_list *l) {
    return l->list.handle.name;
}

bly_bytes list_set_entry(list_set *s, set_list *l, bly_bytes line, char room[BLY_LIST_WORDS]) {
    return query_explain(&s->query, &l->list, line, room);
}

/* Why a line is malformed for the i-th list. */
static const char *reason_of(list_set *s, size_t i, bly_bytes line) {
    char room[BLY_LIST_WORDS];
    (void)query_explain(&s->query, &s->lists[i].list, line, room);
    return s->query.reason;
}

const char *list_set_reason(list_set *s, bly_bytes line) {
    bool differ = false;
    (void)snprintf(s->reason, sizeof s->reason, "%s", reason_of(s, 0, line));
    for (size_t i = 1; i < s->count && !differ; i++)
        differ = strcmp(s->reason, reason_of(s, i, line)) != 0;
    if (differ)
        (void)snprintf(s->reason, sizeof s->reason, "malformed for every list; %s: %s",
                       list_set_name(s->lists), reason_of(s, 0, line));
    return s->reason;
}

/* Whether no list before the i-th has its type. */
static bool is_first_of_type(const list_set *s, size_t i) {
    size_t first = 0;
    while (s->lists[first].list.type != s->lists[i].list.type)
        first++;
    return first == i;
}

char *list_set_types(const list_set *s, char out[LIST_SET_TYPES]) {
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < s->count && used < LIST_SET_TYPES; i++)
        if (is_first_of_type(s, i))
            used += (size_t)snprintf(out + used, LIST_SET_TYPES - used, "%s%s", i ? " or " : "",
                                     line_type_words(s->lists[i].list.type));
    return out;
}
