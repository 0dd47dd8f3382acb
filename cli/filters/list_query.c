/* list_query.c - looks up lines in a list, many at a time.
 *
 * Lines of type `line` are their own keys, and a batch of them is one call. A line of another type
 * may need several lookups (the parents of a domain, the blocks around an address). Their hashes
 * are gathered with the numbers of their lines and looked up together, so that the filter can
 * prefetch memory. If the filter is not in memory, each call is a round trip, and the keys
 * themselves are gathered.
 */
#include "filters/list_query.h"

#include "text/message.h"

#include <bloomery/redis/bitmap.h>
#include <stdio.h>

/* Makes the key of a line, or of the field of it that is looked up. */
static bly_status part_key(query *q, const live_list *list, bly_bytes line, bly_list_key *out) {
    uint64_t fieldless = q->field.fieldless;
    bly_bytes part;
    if (!key_of(&q->field, line, &part))
        return BLY_ENOMEM;
    if (q->field.fieldless > fieldless) {
        (void)snprintf(q->no_field, sizeof q->no_field, "there is no field %llu",
                       (unsigned long long)q->field.field);
        q->reason = q->no_field;
        return BLY_EINVAL;
    }
    const bool blanks = list->type != BLY_LIST_LINE || list->has_blanks;
    const uint32_t flags = BLY_LIST_KEEP_RETURN | (blanks ? BLY_LIST_BLANK_KEYS : 0U);
    const bly_status status =
        bly_list_read(q->reader, list->type, q->flags | flags, part.data, part.size, out);
    q->reason = bly_list_reader_reason(q->reader);
    if (status == BLY_ENOMEM)
        (void)message_error("out of memory");
    return status;
}

/* Resets the results for the i-th line of a batch, and reads its key. Returns false if the line has
 * no key, or if memory ran out; then *result is LIVE_FAILED. */
static bool read_key(query *q, const live_list *list, size_t i, bly_bytes line, bly_list_key *out,
                     live_result *result) {
    const bly_status status = part_key(q, list, line, out);
    q->answers->malformed[i] = status == BLY_EINVAL;
    q->answers->match[i] = 0;
    q->answers->assumed[i] = 0;
    if (status == BLY_ENOMEM)
        *result = LIVE_FAILED;
    return status == BLY_OK && !out->blank;
}

/* Adds the result of one lookup to the results of its line. */
static void add_answer(query *q, size_t line, uint8_t answer) {
    q->answers->match[line] |= answer == BLY_YES;
    q->answers->assumed[line] |= answer == BLY_UNKNOWN;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* If the key ends just before the carriage return of its line, and the list may contain keys with
 * carriage returns, appends the carriage return to the key and returns true. */
static bool extend_to_return(const query *q, const live_list *list, bly_bytes line,
                             bly_bytes *key) {
    const char *end = (const char *)line.data + line.size;
    if (list->type != BLY_LIST_LINE || !list->keeps_return || q->field.exact ||
        bly_list_without_return(line).size == line.size ||
        (const char *)key->data + key->size + 1 != end)
        return false;
    key->size++;
    return true;
}

/* Gathers the keys under which a line may be in the list. If memory runs out, reports that and
 * returns false. */
static bool widen(query *q, const live_list *list, bly_bytes line, const bly_list_key *key) {
    bly_url_buffer *const buffers[] = {
        [BLY_URL_STANDARD] = &q->standard, [BLY_URL_CRAWL] = &q->field.canonical};
    bly_list_entries *entries = &q->entries;
    bly_bytes other = key->bytes;
    bly_list_widen(list->type, key, &list->levels, entries);
    if (extend_to_return(q, list, line, &other))
        entries->keys[entries->count++] = other;
    for (int level = BLY_URL_STANDARD; level <= BLY_URL_CRAWL; level++) {
        if (list->type != BLY_LIST_LINE || !list->urls[level])
            continue;
        const bly_status status = bly_url_canonical(buffers[level], (bly_url_level)level,
                                                    key->bytes.data, key->bytes.size, &other);
        if (status == BLY_ENOMEM)
            return message_fail("out of memory");
        if (status == BLY_OK)
            entries->keys[entries->count++] = other;
    }
    return true;
}

static live_result look_up_lines(query *q, live_list *list, const bly_bytes *lines, size_t n) {
    live_result result = LIVE_ANSWERED;
    uint16_t count = 0;
    for (size_t i = 0; i < n && result == LIVE_ANSWERED; i++) {
        bly_list_key key;
        if (!read_key(q, list, i, lines[i], &key, &result))
            continue;
        q->owner[count] = (uint16_t)i;
        q->keys[count++] = key.bytes;
        if (extend_to_return(q, list, lines[i], &key.bytes)) {
            q->owner[count] = (uint16_t)i;
            q->keys[count++] = key.bytes;
        }
    }
    if (result == LIVE_ANSWERED)
        result = live_list_contains(list, q->keys, count, q->found);
    for (size_t i = 0; result == LIVE_ANSWERED && i < count; i++)
        add_answer(q, q->owner[i], q->found[i]);
    return result;
}

/* ---- other types ----------------------------------------------------------------------------- */

static live_result look_up_gathered(query *q, live_list *list) {
    live_result result = LIVE_ANSWERED;
    const bly_filter *filter = handle_filter(&list->handle);
    if (!filter) {
        size_t at = 0;
        for (size_t i = 0; i < q->count; i++)
            (void)byte_strings_next(&q->texts, &at, &q->keys[i]);
        result = live_list_contains(list, q->keys, q->count, q->found);
        q->texts.used = 0;
    } else
        (void)bly_filter_contains_hashes(filter, q->hashes, q->count, q->found);
    for (size_t i = 0; result == LIVE_ANSWERED && i < q->count; i++)
        add_answer(q, q->owner[i], q->found[i]);
    q->count = 0;
    return result;
}

/* Gathers the lookups of one line. If memory runs out, reports that and returns false. */
static bool gather(query *q, const live_list *list, size_t line) {
    const bly_list_entries *entries = &q->entries;
    const bly_filter *filter = handle_filter(&list->handle);
    if (filter)
        bly_hash_keys(bly_filter_hasher(filter), entries->keys, entries->count,
                      q->hashes + q->count);
    for (size_t t = 0; t < entries->count; t++) {
        if (!filter && !byte_strings_put(&q->texts, entries->keys[t]))
            return message_fail("out of memory");
        q->owner[q->count++] = (uint16_t)line;
    }
    return true;
}

static live_result look_up_typed(query *q, live_list *list, const bly_bytes *lines, size_t n) {
    live_result result = LIVE_ANSWERED;
    for (size_t i = 0; i < n && result == LIVE_ANSWERED; i++) {
        bly_list_key key;
        if (!read_key(q, list, i, lines[i], &key, &result))
            continue;
        if (!widen(q, list, lines[i], &key))
            return LIVE_FAILED;
        if (q->count + q->entries.count > QUERY_ROOM)
            result = look_up_gathered(q, list);
        if (result == LIVE_ANSWERED && !gather(q, list, i))
            return LIVE_FAILED;
    }
    return result == LIVE_ANSWERED ? look_up_gathered(q, list) : result;
}

/* ---- public ---------------------------------------------------------------------------------- */

bool query_batch(query *q, live_list *list, const bly_bytes *lines, size_t n, list_answers *out) {
    live_result result = LIVE_RENEWED;
    q->answers = out;
    while (result == LIVE_RENEWED)
        result = bly_list_is_lines(list->type) && !list->urls[BLY_URL_STANDARD] &&
                         !list->urls[BLY_URL_CRAWL]
                     ? look_up_lines(q, list, lines, n)
                     : look_up_typed(q, list, lines, n);
    for (size_t i = 0; list->may_fail && i < n; i++) {
        q->answers->assumed[i] = q->answers->assumed[i] && !q->answers->match[i];
        q->answers->match[i] |= q->answers->assumed[i] && list->options->fallback == LIVE_YES;
    }
    return result == LIVE_ANSWERED;
}

bly_bytes query_explain(query *q, live_list *list, bly_bytes line, char room[BLY_LIST_WORDS]) {
    bly_list_key key;
    uint8_t found[BLY_LIST_MAX_LOOKUPS] = {0};
    if (part_key(q, list, line, &key) != BLY_OK || key.blank || !widen(q, list, line, &key))
        return (bly_bytes){room, 0};
    /* An error is ignored here and reported by the next batch, because handling it may replace the
     * list, which must not happen within a batch. */
    if (list->unavailable ||
        handle_contains(&list->handle, q->entries.keys, q->entries.count, found) != BLY_OK)
        return (bly_bytes){room, 0};
    for (size_t i = 0; i < q->entries.count; i++)
        if (found[i] == BLY_YES)
            return bly_list_words(list->type, q->entries.keys[i], room);
    return (bly_bytes){room, 0};
}

void query_free(query *q) {
    key_rule_free(&q->field);
    bly_list_reader_destroy(q->reader);
    bly_url_buffer_free(&q->standard);
    byte_strings_free(&q->texts);
}
