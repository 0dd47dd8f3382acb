/* list_build.c - builds a list from lines. It stores the hashes of their keys, and creates the
 * filter at the end, when the number and the levels of the keys are known. It takes 16 bytes of
 * memory per line in addition to the filter. `bloomery build` does the same with more options.
 */
#include "lists/list_reader.h"

#include "base/struct_size.h"

#include <stdlib.h>
#include <string.h>

struct bly_list_builder {
    bly_list_type type;
    uint32_t flags;
    double fpr; /* per line */
    bly_spec spec;
    bly_allocator allocator; /* what spec.allocator points to, if it is not NULL */
    bly_list_reader *reader;
    bly_list_levels levels;
    bly_hash *hashes;
    size_t count, room;
    bool finished;
};

static bly_status build_prepare(bly_list_builder *b, const bly_list_build_options *o) {
    b->flags = o->flags;
    b->spec = bly_spec_for(o->kind, o->capacity, b->fpr);
    if (o->allocator) {
        b->allocator = *o->allocator;
        b->spec.allocator = &b->allocator;
    }
    bly_status status = BLY_OK;
    if (o->hasher && o->hasher->id != BLY_HASH_NONE) {
        b->spec.hasher = *o->hasher;
        if (!o->hasher->one || !o->hasher->many)
            status = BLY_EHASHER;
    } else
        status = bly_hasher_default(&b->spec.hasher, BLY_LIST_FORESEEN_KEYS, b->fpr, o->seed);
    return status == BLY_OK ? bly_list_reader_create(&b->reader) : status;
}

bly_status bly_list_builder_create(bly_list_type type, double fpr,
                                   const bly_list_build_options *options, bly_list_builder **out) {
    bly_list_build_options o = {0};
    *out = NULL;
    if (options && !blyi_read_struct(&o, sizeof o, sizeof o, options))
        return BLY_EINVAL;
    if (!bly_list_is_typed(type) && type != BLY_LIST_LINE)
        return BLY_EINVAL;
    if (o.flags & ~(uint32_t)(BLY_LIST_COMMENTS | BLY_LIST_RECORDS))
        return BLY_EINVAL;
    if (!(fpr > 0 && fpr < 1))
        return BLY_ERATE;
    if (o.kind && bly_kind_capabilities(o.kind) == 0)
        return BLY_EKIND;
    if (bly_kind_capabilities(o.kind) & (BLY_CARDINALITY_ONLY | BLY_FORGETS))
        return BLY_EUNSUPPORTED;
    bly_list_builder *b = calloc(1, sizeof *b);
    if (!b)
        return BLY_ENOMEM;
    b->type = type;
    b->fpr = fpr;
    const bly_status status = build_prepare(b, &o);
    if (status != BLY_OK)
        bly_list_builder_destroy(b);
    else
        *out = b;
    return status;
}

static bool build_reserve(bly_list_builder *b) {
    enum { MIN_ROOM = 256 };
    if (b->count < b->room)
        return true;
    if (b->room > SIZE_MAX / 2 / sizeof *b->hashes)
        return false;
    const size_t room = b->room ? 2 * b->room : MIN_ROOM;
    bly_hash *hashes = realloc(b->hashes, room * sizeof *hashes);
    if (!hashes)
        return false;
    b->hashes = hashes;
    b->room = room;
    return true;
}

bly_status bly_list_builder_add(bly_list_builder *b, const void *line, size_t len, bool *added) {
    bly_list_key key;
    if (b->finished)
        return blyi_list_refuse(b->reader, "the list is already finished");
    const bly_status status = bly_list_read(b->reader, b->type, b->flags, line, len, &key);
    if (status != BLY_OK)
        return status;
    if (!key.blank && !build_reserve(b))
        return BLY_ENOMEM;
    if (added)
        *added = !key.blank;
    if (key.blank)
        return BLY_OK;
    bly_list_levels_add(&b->levels, key.level);
    b->hashes[b->count++] = bly_hash_key(&b->spec.hasher, key.bytes.data, key.bytes.size);
    return BLY_OK;
}

const char *bly_list_builder_reason(const bly_list_builder *b) {
    return bly_list_reader_reason(b->reader);
}

/* Whether repeated keys must be kept: for kinds that count copies but cannot remove them. */
static bool build_keeps_copies(bly_kind kind) {
    const uint32_t can = bly_kind_capabilities(kind);
    return (can & BLY_CAN_COUNT) && !(can & BLY_CAN_REMOVE);
}

bly_status bly_list_builder_finish(bly_list_builder *b, bly_filter **out) {
    *out = NULL;
    if (b->finished)
        return BLY_EINVAL;
    b->finished = true;
    const bool records = b->type == BLY_LIST_LINE && (b->flags & BLY_LIST_RECORDS);
    bly_list_contents c = {.struct_size = sizeof c,
                           .type = b->type,
                           .rule = records ? BLY_KEYS_RECORD : bly_list_key_rule(b->type),
                           .hashes = b->hashes,
                           .count = b->count,
                           .copies = build_keeps_copies(b->spec.geometry.kind)};
    c.distinct = bly_list_sort_hashes(b->hashes, &c.count, c.copies);
    b->spec.fpr = bly_list_record_lookups(b->type, b->fpr, &b->levels);
    c.levels = b->levels;
    return bly_list_fill(&c, &b->spec, out);
}

void bly_list_builder_destroy(bly_list_builder *b) {
    if (!b)
        return;
    bly_list_reader_destroy(b->reader);
    free(b->hashes);
    free(b);
}
