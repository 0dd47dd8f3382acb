/* list_check.c - opens a list, and looks up lines in it.
 *
 * A line may need several lookups: for the parents of a domain, or the blocks around an address. In
 * a batch, the hashes for many lines are collected, each with the index of its line, and looked up
 * together, so that the filter loads memory for one hash while it tests another.
 */
#include "lists/list_reader.h"

#include "base/struct_size.h"

#include <stdlib.h>
#include <string.h>

struct bly_list {
    const bly_filter *filter;
    bly_map *map; /* contains the filter; NULL: the filter is the caller's */
    bly_list_type type;
    bly_list_levels levels;
    bool has_returns; /* keys may end in a carriage return: records, or lines of no recorded rule */
};

/* ---- opening --------------------------------------------------------------------------------- */

static bly_status check_find_type(bly_list *l, bly_list_type as) {
    const bly_list_source source = bly_list_source_of(l->filter);
    const bool unrecorded = source.rule == BLY_KEYS_UNRECORDED;
    const bly_list_type own = bly_list_recognise(l->filter, &l->levels);
    const bool same_lines = bly_list_is_lines(own) && as == BLY_LIST_LINE;
    l->type = as && !same_lines ? as : own;
    if (l->type == BLY_LIST_NONE || l->type == BLY_LIST_OTHER)
        return BLY_EUNSUPPORTED;
    const bool is_record = l->type == BLY_LIST_RECORD || l->type == BLY_LIST_RECORD_URL ||
                           l->type == BLY_LIST_RECORD_CRAWL;
    l->has_returns =
        is_record || (unrecorded && l->type == BLY_LIST_LINE && !bly_list_is_typed(own));
    if (l->type != own)
        return bly_list_recognise_levels(&source, l->type, &l->levels);
    if (!unrecorded)
        l->levels = bly_list_levels_recorded(l->type, &l->levels);
    return BLY_OK;
}

bly_status bly_list_from_filter(const bly_filter *f, bly_list_type as, bly_list **out) {
    *out = NULL;
    if (as && !bly_list_type_name(as))
        return BLY_EINVAL;
    if (bly_kind_capabilities(bly_filter_geometry(f).kind) & BLY_CARDINALITY_ONLY)
        return BLY_EUNSUPPORTED;
    if (!bly_filter_hasher(f))
        return BLY_EKEY;
    bly_list *l = calloc(1, sizeof *l);
    if (!l)
        return BLY_ENOMEM;
    l->filter = f;
    const bly_status status = check_find_type(l, as);
    if (status == BLY_OK)
        *out = l;
    else
        free(l);
    return status;
}

bly_status bly_list_open(const char *path, const bly_open_options *options, bly_list **out) {
    bly_map *map;
    *out = NULL;
    bly_status status = bly_map_open(path, options, &map);
    if (status != BLY_OK)
        return status;
    status = bly_list_from_filter(bly_map_filter(map), BLY_LIST_NONE, out);
    if (status == BLY_OK)
        (*out)->map = map;
    else
        bly_map_close(map);
    return status;
}

void bly_list_close(bly_list *l) {
    if (!l)
        return;
    bly_map_close(l->map);
    free(l);
}

const bly_filter *bly_list_filter(const bly_list *l) {
    return l->filter;
}

bly_status bly_list_get_info(const bly_list *l, bly_list_info *out) {
    if (!blyi_can_write_struct(out, sizeof *out))
        return BLY_EINVAL;
    bly_list_info info = {.struct_size = sizeof info};
    bly_list_examine(l->filter, &info);
    if (info.type != l->type) /* the caller chose another type: the list records nothing about it */
        info = (bly_list_info){.type = l->type, .per_lookup = info.per_lookup};
    for (size_t i = 0; i < sizeof info.levels.bits / sizeof *info.levels.bits; i++)
        info.levels.bits[i] |= l->levels.bits[i];
    info.lookups = bly_list_max_lookups(l->type, &l->levels);
    info.per_line = info.requested_lookups * info.per_lookup;
    blyi_write_struct(out, &info, sizeof info);
    return BLY_OK;
}

/* ---- lookups --------------------------------------------------------------------------------- */

/* Fills r->entries with the keys to look up for a line; a blank line has no keys. Returns
 * BLY_EINVAL if the line is malformed. */
static bly_status check_entries(const bly_list *l, bly_list_reader *r, bly_bytes line) {
    const uint32_t flags = l->type == BLY_LIST_LINE ? 0 : BLY_LIST_BLANK_KEYS;
    bly_list_key key;
    r->entries.count = 0;
    const bly_status status = bly_list_read(r, l->type, flags, line.data, line.size, &key);
    if (status != BLY_OK || key.blank)
        return status;
    bly_list_widen(l->type, &key, &l->levels, &r->entries);
    if (l->has_returns && bly_list_without_return(line).size < line.size)
        r->entries.keys[r->entries.count++] = line;
    return BLY_OK;
}

bly_status bly_list_check(const bly_list *l, bly_list_reader *r, const void *text, size_t len,
                          bly_list_result *out) {
    uint8_t found[BLY_LIST_MAX_LOOKUPS];
    const bly_list_entries *e = &r->entries;
    const bly_status status = check_entries(l, r, (bly_bytes){text, len});
    *out = (bly_list_result){BLY_LIST_NO, {NULL, 0}, ""};
    if (status == BLY_EINVAL) {
        out->answer = BLY_LIST_MALFORMED;
        out->reason = bly_list_reader_reason(r);
        return BLY_OK;
    }
    if (status != BLY_OK || bly_filter_contains_many(l->filter, e->keys, e->count, found) == 0)
        return status;
    const uint8_t *first = memchr(found, 1, e->count);
    out->answer = BLY_LIST_MAYBE;
    out->entry = bly_list_words(l->type, e->keys[first - found], r->words);
    return BLY_OK;
}

/* Looks up the first n hashes of the reader. For each that is found, sets the answer for its
 * line. */
static void check_flush(const bly_list *l, bly_list_reader *r, size_t n, uint8_t *answers) {
    (void)bly_filter_contains_hashes(l->filter, r->hashes, n, r->found);
    for (size_t i = 0; i < n; i++)
        if (r->found[i])
            answers[r->owner[i]] = BLY_LIST_MAYBE;
}

bly_status bly_list_check_many(const bly_list *l, bly_list_reader *r, const bly_bytes *lines,
                               size_t n, uint8_t *answers) {
    const bly_hasher *hasher = bly_filter_hasher(l->filter);
    const bly_list_entries *e = &r->entries;
    size_t waiting = 0;
    for (size_t i = 0; i < n; i++) {
        const bly_status status = check_entries(l, r, lines[i]);
        answers[i] = status == BLY_EINVAL ? BLY_LIST_MALFORMED : BLY_LIST_NO;
        if (status != BLY_OK && status != BLY_EINVAL)
            return status;
        if (waiting + e->count > BLYI_LIST_BATCH) {
            check_flush(l, r, waiting, answers);
            waiting = 0;
        }
        bly_hash_keys(hasher, e->keys, e->count, r->hashes + waiting);
        for (size_t k = 0; k < e->count; k++)
            r->owner[waiting++] = i;
    }
    check_flush(l, r, waiting, answers);
    return BLY_OK;
}
