/* check_query.c - questions to a filter, many at a time.
 *
 * Lines of type `line` are their own keys, and a batch of them is one call. Of the other types a
 * line may be several questions (the parents of a domain, the blocks around an address); their
 * hashes are gathered with a note of whose they are, and asked together: the filter fetches the
 * memory for one while it answers another.
 */
#include "check_query.h"

#include "message.h"

#include <stdio.h>
#include <string.h>

/* The part of a line that is looked for, as a key. */
static keytype_result part_key(query *q, const follow *list, bly_bytes line, keytype_key *out) {
    uint64_t fieldless = q->field.fieldless;
    bly_bytes part;
    if (!key_of(&q->field, line, &part))
        return KEYTYPE_NOMEM;
    if (q->field.fieldless > fieldless) {
        (void)snprintf(q->reader.why, sizeof q->reader.why, "there is no field %llu",
                       (unsigned long long)q->field.field);
        return KEYTYPE_MALFORMED;
    }
    q->reader.type = list->type;
    keytype_result result = keytype_read(&q->reader, part, out);
    if (result == KEYTYPE_NOMEM)
        (void)message_error("out of memory");
    return result;
}

/* The i-th line of a batch, for which there is no answer yet. */
static keytype_result read_key(query *q, const follow *list, size_t i, bly_bytes line,
                               keytype_key *out) {
    keytype_result result = part_key(q, list, line, out);
    q->malformed[i] = result == KEYTYPE_MALFORMED;
    q->match[i] = 0;
    return result;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool ask_lines(query *q, const follow *list, const bly_bytes *lines, size_t n) {
    uint16_t askable = 0;
    for (size_t i = 0; i < n; i++) {
        keytype_key key;
        keytype_result result = read_key(q, list, i, lines[i], &key);
        if (result == KEYTYPE_NOMEM)
            return false;
        if (result != KEYTYPE_KEY)
            continue;
        q->owner[askable] = (uint16_t)i;
        q->keys[askable++] = key.bytes;
    }
    (void)bly_filter_contains_many(list->file.filter, q->keys, askable, q->found);
    for (size_t i = 0; i < askable; i++)
        q->match[q->owner[i]] = q->found[i];
    return true;
}

/* ---- other types ----------------------------------------------------------------------------- */

static void ask_waiting(query *q, const follow *list) {
    (void)bly_filter_contains_hashes(list->file.filter, q->hashes, q->count, q->found);
    for (size_t i = 0; i < q->count; i++)
        q->match[q->owner[i]] |= q->found[i];
    q->count = 0;
}

static bool ask_typed(query *q, const follow *list, const bly_bytes *lines, size_t n) {
    const bly_hasher *hasher = bly_filter_hasher(list->file.filter);
    for (size_t i = 0; i < n; i++) {
        keytype_key key;
        keytype_result result = read_key(q, list, i, lines[i], &key);
        if (result == KEYTYPE_NOMEM)
            return false;
        if (result != KEYTYPE_KEY)
            continue;
        keytype_widen(list->type, &key, &list->levels, &q->tries);
        if (q->count + q->tries.count > QUERY_ROOM)
            ask_waiting(q, list);
        bly_hash_keys(hasher, q->tries.keys, q->tries.count, q->hashes + q->count);
        for (size_t t = 0; t < q->tries.count; t++)
            q->owner[q->count++] = (uint16_t)i;
    }
    ask_waiting(q, list);
    return true;
}

/* ---- public ---------------------------------------------------------------------------------- */

bool query_batch(query *q, const follow *list, const bly_bytes *lines, size_t n) {
    return list->type == KEYTYPE_LINE ? ask_lines(q, list, lines, n) : ask_typed(q, list, lines, n);
}

bly_bytes query_explain(query *q, const follow *list, bly_bytes line, char room[KEYTYPE_TEXT]) {
    keytype_key key;
    if (part_key(q, list, line, &key) != KEYTYPE_KEY)
        return (bly_bytes){room, 0};
    keytype_widen(list->type, &key, &list->levels, &q->tries);
    for (size_t i = 0; i < q->tries.count; i++) {
        bly_bytes try = q->tries.keys[i];
        if (bly_filter_contains(list->file.filter, try.data, try.size))
            return keytype_words(list->type, try, room);
    }
    return (bly_bytes){room, 0};
}

void query_free(query *q) {
    key_rule_free(&q->field);
    keytype_reader_free(&q->reader);
}
