/* redisbloom_load.c - the fields of an RDB file, one by one. Each is checked against those before
 * it and against the bytes that have really come, so that never more is allocated than was
 * received. */
#include "formats/redisbloom_load.h"

#include <string.h>

/* ---- Bloom ----------------------------------------------------------------------------------- */

bool blyi_rb_bloom_sound(const bly_rb_bloom_fields *fields) {
    const uint64_t all =
        BLY_RB_NO_ROUNDING | BLY_RB_SIZE_IS_BITS | BLY_RB_HASH_64 | BLY_RB_NONSCALING;
    return fields->links > 0 && fields->links <= BLY_RB_MAX_PARTS && fields->options <= all &&
           fields->growth <= UINT32_MAX;
}

bly_status bly_rb_bloom_load(const bly_rb_bloom_fields *fields, uint64_t max_bytes,
                             const bly_allocator *a, bly_rb_bloom **out) {
    bly_rb_bloom_fields told = *fields;
    *out = NULL;
    if (told.encoding > BLY_RB_ENCODING)
        return BLY_EVERSION;
    if (told.encoding < 2)
        told.options = 0;
    if (told.encoding < 4)
        told.growth = 2;
    if (!blyi_rb_bloom_sound(&told))
        return BLY_ECORRUPT;
    if (sizeof **out > max_bytes)
        return BLY_ENOMEM;
    bly_status status = blyi_rb_bloom_make(told.options, told.growth, a, out);
    if (status)
        return status;
    (*out)->items = told.items;
    (*out)->encoding = (uint32_t)told.encoding;
    (*out)->links = told.links;
    (*out)->max_bytes = max_bytes;
    return BLY_OK;
}

bly_status bly_rb_bloom_load_link(bly_rb_bloom *f, const bly_rb_link *link) {
    bly_rb_link told = *link;
    uint64_t bytes = link->bitmap.size;
    blyi_rb_link l;
    if (f->chain.n == f->links)
        return BLY_ECORRUPT;
    if (f->encoding == 0) {
        double bits = (double)told.capacity * told.bpe;
        if (!(bits >= 1 && bits <= (double)(8 * BLYI_RB_MAX_BYTES)))
            return BLY_ECORRUPT;
        told.bits = (uint64_t)bits;
        told.n2 = 0;
    }
    bly_status status = blyi_rb_link_take(&told, bytes, &l);
    if (status)
        return status;
    if (sizeof *f + blyi_rb_memory_after(&f->chain, bytes) > f->max_bytes ||
        !blyi_rb_push(&f->chain, &l.part))
        return BLY_ENOMEM;
    memcpy(blyi_rb_at(&f->chain, f->chain.n - 1)->data, link->bitmap.data, link->bitmap.size);
    return BLY_OK;
}

bly_status bly_rb_bloom_load_end(bly_rb_bloom *f) {
    uint64_t left = f->items;
    if (f->chain.n != f->links)
        return BLY_ECORRUPT;
    for (uint64_t i = 0; i < f->chain.n; i++) {
        uint64_t items = blyi_rb_link_at(f, i)->items;
        if (items > left)
            return BLY_ECORRUPT;
        left -= items;
    }
    if (left != 0)
        return BLY_ECORRUPT;
    blyi_rb_is_loaded(&f->chain);
    return BLY_OK;
}

/* ---- cuckoo ---------------------------------------------------------------------------------- */

/* Those that every encoding has, and those that the host fills in for the old ones. */
static bool sound_cuckoo(const bly_rb_cuckoo_fields *t) {
    return t->filters > 0 && t->filters <= BLY_RB_MAX_PARTS && blyi_is_power(t->buckets) &&
           t->buckets <= BLYI_RB_MAX_BYTES && t->bucket_size >= 1 && t->bucket_size <= 255 &&
           t->max_iterations >= 1 && t->max_iterations <= 65535 &&
           (t->expansion == 0 || blyi_is_power(t->expansion)) &&
           t->expansion <= BLY_RB_MAX_EXPANSION;
}

bly_status blyi_rb_cuckoo_check(const bly_rb_cuckoo_fields *told, uint64_t max_bytes) {
    if (!sound_cuckoo(told))
        return BLY_ECORRUPT;
    uint64_t buckets = told->buckets, slots = 0;
    for (uint64_t i = 0; i < told->filters; i++) {
        if (buckets == 0 || buckets > BLYI_RB_MAX_BYTES)
            return BLY_ECORRUPT;
        slots += buckets * told->bucket_size;
        if (slots > BLYI_RB_MAX_BYTES)
            return BLY_ECORRUPT;
        buckets *= told->expansion;
    }
    if (told->items > slots)
        return BLY_ECORRUPT;
    uint64_t table = told->filters * sizeof(blyi_rb_sub);
    return sizeof(bly_rb_cuckoo) + table + slots > max_bytes ? BLY_ENOMEM : BLY_OK;
}

bly_status bly_rb_cuckoo_load(const bly_rb_cuckoo_fields *fields, uint64_t max_bytes,
                              const bly_allocator *a, bly_rb_cuckoo **out) {
    bly_rb_cuckoo_fields told = *fields;
    *out = NULL;
    if (told.encoding > BLY_RB_ENCODING)
        return BLY_EVERSION;
    bly_status status;
    if (told.encoding == BLY_RB_ENCODING) {
        status = blyi_rb_cuckoo_check(&told, max_bytes);
    } else {
        told.deletes = 0;
        status = !sound_cuckoo(&told)       ? BLY_ECORRUPT
                 : sizeof **out > max_bytes ? BLY_ENOMEM
                                            : BLY_OK;
    }
    if (status == BLY_OK)
        status = blyi_rb_cuckoo_make(&told, a, out);
    if (status)
        return status;
    (*out)->encoding = (uint32_t)told.encoding;
    (*out)->filters = told.filters;
    (*out)->max_bytes = max_bytes;
    return BLY_OK;
}

/* Old encodings leave the shape to the number of slots: the first sub-filter's gives the size of a
 * bucket, the second's the expansion, if that is 1. */
static void learn_shape(bly_rb_cuckoo *f, uint64_t slots) {
    uint64_t each = slots / f->buckets;
    if (f->chain.n == 0 && each >= 1 && each <= 255)
        f->bucket_size = (uint32_t)each;
    if (f->chain.n == 1 && slots == f->chain.bytes)
        f->expansion = 1;
}

bly_status bly_rb_cuckoo_load_sub(bly_rb_cuckoo *f, const bly_rb_sub *sub) {
    blyi_rb_sub next;
    if (f->chain.n == f->filters)
        return BLY_ECORRUPT;
    if (f->encoding < BLY_RB_ENCODING)
        learn_shape(f, sub->slots.size);
    if (blyi_rb_sub_plan(f, &next) != BLY_OK || next.part.bytes != sub->slots.size ||
        (f->encoding == BLY_RB_ENCODING && next.mask + 1 != sub->buckets))
        return BLY_ECORRUPT;
    if (sizeof *f + blyi_rb_memory_after(&f->chain, next.part.bytes) > f->max_bytes ||
        !blyi_rb_push(&f->chain, &next.part))
        return BLY_ENOMEM;
    memcpy(blyi_rb_at(&f->chain, f->chain.n - 1)->data, sub->slots.data, sub->slots.size);
    return BLY_OK;
}

bly_status bly_rb_cuckoo_load_end(bly_rb_cuckoo *f) {
    if (f->chain.n != f->filters || f->items > f->chain.bytes)
        return BLY_ECORRUPT;
    blyi_rb_is_loaded(&f->chain);
    return BLY_OK;
}
