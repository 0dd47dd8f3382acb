/* Saves and loads RedisBloom's filters: the fields in an RDB file, and the headers that SCANDUMP
 * and LOADCHUNK transfer.
 *
 * The fields of an RDB file are loaded one by one. Each is checked against the earlier fields and
 * against the bytes that have arrived, so that no more memory is allocated than bytes were
 * received.
 *
 * The headers are packed and little-endian:
 *
 *   Bloom:   u64 items, u32 layers, u32 options, u32 growth; then for each layer u64 bytes, u64
 *            bits, u64 items, f64 error, f64 bpe, u32 hashes, u64 capacity, u8 n2
 *   cuckoo:  u64 items, u64 buckets, u64 deletes, u64 sub-filters, u16 bucket size,
 *            u16 max iterations, u16 expansion
 *
 * A header is untrusted and may claim any size. So it is read twice: first to check it and to
 * compute how much memory the filter needs, then to allocate that memory.
 */
#include "formats/redisbloom_bloom.h"
#include "formats/redisbloom_cuckoo.h"

#include "base/little_endian.h"

#include <string.h>

/* ---- RDB fields: Bloom ----------------------------------------------------------------------- */

static bool rb_bloom_fields_valid(const bly_rb_bloom_fields *fields) {
    const uint64_t all =
        BLY_RB_NO_ROUNDING | BLY_RB_SIZE_IS_BITS | BLY_RB_HASH_64 | BLY_RB_NONSCALING;
    return fields->links > 0 && fields->links <= BLY_RB_MAX_PARTS && fields->options <= all &&
           fields->growth <= UINT32_MAX;
}

bly_status bly_rb_bloom_load(const bly_rb_bloom_fields *fields, uint64_t max_bytes,
                             const bly_allocator *a, bly_rb_bloom **out) {
    bly_rb_bloom_fields known = *fields;
    *out = NULL;
    if (known.encoding > BLY_RB_ENCODING)
        return BLY_EVERSION;
    if (known.encoding < 2)
        known.options = 0;
    if (known.encoding < 4)
        known.growth = 2;
    if (!rb_bloom_fields_valid(&known))
        return BLY_ECORRUPT;
    if (sizeof **out > max_bytes)
        return BLY_ENOMEM;
    bly_status status = blyi_rb_bloom_alloc(known.options, known.growth, a, out);
    if (status)
        return status;
    (*out)->items = known.items;
    (*out)->encoding = (uint32_t)known.encoding;
    (*out)->links = known.links;
    (*out)->max_bytes = max_bytes;
    return BLY_OK;
}

bly_status bly_rb_bloom_load_link(bly_rb_bloom *f, const bly_rb_link *link) {
    bly_rb_link fields = *link;
    uint64_t bytes = link->bitmap.size;
    blyi_rb_bloom_layer l;
    if (f->layers.n == f->links)
        return BLY_ECORRUPT;
    if (f->encoding == 0) {
        double bits = (double)fields.capacity * fields.bpe;
        if (!(bits >= 1 && bits <= (double)(8 * BLYI_RB_MAX_BYTES)))
            return BLY_ECORRUPT;
        fields.bits = (uint64_t)bits;
        fields.n2 = 0;
    }
    bly_status status = blyi_rb_bloom_layer_check(&fields, bytes, &l);
    if (status)
        return status;
    if (sizeof *f + blyi_rb_layers_memory_after(&f->layers, bytes) > f->max_bytes ||
        !blyi_rb_layers_push(&f->layers, &l.base))
        return BLY_ENOMEM;
    memcpy(blyi_rb_layer_at(&f->layers, f->layers.n - 1)->data, link->bitmap.data,
           link->bitmap.size);
    return BLY_OK;
}

bly_status bly_rb_bloom_load_end(bly_rb_bloom *f) {
    uint64_t left = f->items;
    if (f->layers.n != f->links)
        return BLY_ECORRUPT;
    for (uint64_t i = 0; i < f->layers.n; i++) {
        uint64_t items = blyi_rb_bloom_layer_at(f, i)->items;
        if (items > left)
            return BLY_ECORRUPT;
        left -= items;
    }
    if (left != 0)
        return BLY_ECORRUPT;
    blyi_rb_layers_loaded(&f->layers);
    return BLY_OK;
}

/* ---- RDB fields: cuckoo ---------------------------------------------------------------------- */

static bool rb_is_power(uint64_t x) {
    return x > 0 && (x & (x - 1)) == 0;
}

/* Checks the fields that every encoding has, and those that the caller fills in for old
 * encodings. */
static bool rb_cuckoo_fields_valid(const bly_rb_cuckoo_fields *t) {
    return t->filters > 0 && t->filters <= BLY_RB_MAX_PARTS && rb_is_power(t->buckets) &&
           t->buckets <= BLYI_RB_MAX_BYTES && t->bucket_size >= 1 && t->bucket_size <= 255 &&
           t->max_iterations >= 1 && t->max_iterations <= 65535 &&
           (t->expansion == 0 || rb_is_power(t->expansion)) && t->expansion <= BLY_RB_MAX_EXPANSION;
}

/* Checks all fields. Returns BLY_OK, BLY_ECORRUPT if they are impossible, or BLY_ENOMEM if the
 * filter would need more than max_bytes. */
static bly_status rb_cuckoo_fields_check(const bly_rb_cuckoo_fields *fields, uint64_t max_bytes) {
    if (!rb_cuckoo_fields_valid(fields))
        return BLY_ECORRUPT;
    uint64_t buckets = fields->buckets, slots = 0;
    for (uint64_t i = 0; i < fields->filters; i++) {
        if (buckets == 0 || buckets > BLYI_RB_MAX_BYTES)
            return BLY_ECORRUPT;
        slots += buckets * fields->bucket_size;
        if (slots > BLYI_RB_MAX_BYTES)
            return BLY_ECORRUPT;
        buckets *= fields->expansion;
    }
    if (fields->items > slots)
        return BLY_ECORRUPT;
    uint64_t table = fields->filters * sizeof(blyi_rb_cuckoo_layer);
    return sizeof(bly_rb_cuckoo) + table + slots > max_bytes ? BLY_ENOMEM : BLY_OK;
}

bly_status bly_rb_cuckoo_load(const bly_rb_cuckoo_fields *fields, uint64_t max_bytes,
                              const bly_allocator *a, bly_rb_cuckoo **out) {
    bly_rb_cuckoo_fields known = *fields;
    *out = NULL;
    if (known.encoding > BLY_RB_ENCODING)
        return BLY_EVERSION;
    bly_status status;
    if (known.encoding == BLY_RB_ENCODING) {
        status = rb_cuckoo_fields_check(&known, max_bytes);
    } else {
        known.deletes = 0;
        status = !rb_cuckoo_fields_valid(&known) ? BLY_ECORRUPT
                 : sizeof **out > max_bytes      ? BLY_ENOMEM
                                                 : BLY_OK;
    }
    if (status == BLY_OK)
        status = blyi_rb_cuckoo_alloc(&known, a, out);
    if (status)
        return status;
    (*out)->encoding = (uint32_t)known.encoding;
    (*out)->filters = known.filters;
    (*out)->max_bytes = max_bytes;
    return BLY_OK;
}

/* Old encodings do not store the shape; it follows from the number of slots. That of the first
 * sub-filter gives the size of a bucket. The expansion is 1 if the second has as many slots as the
 * first. */
static void rb_cuckoo_infer_shape(bly_rb_cuckoo *f, uint64_t slots) {
    uint64_t each = slots / f->buckets;
    if (f->layers.n == 0 && each >= 1 && each <= 255)
        f->bucket_size = (uint32_t)each;
    if (f->layers.n == 1 && slots == f->layers.bytes)
        f->expansion = 1;
}

bly_status bly_rb_cuckoo_load_sub(bly_rb_cuckoo *f, const bly_rb_sub *sub) {
    blyi_rb_cuckoo_layer next;
    if (f->layers.n == f->filters)
        return BLY_ECORRUPT;
    if (f->encoding < BLY_RB_ENCODING)
        rb_cuckoo_infer_shape(f, sub->slots.size);
    if (blyi_rb_cuckoo_layer_plan(f, &next) != BLY_OK || next.base.bytes != sub->slots.size ||
        (f->encoding == BLY_RB_ENCODING && next.mask + 1 != sub->buckets))
        return BLY_ECORRUPT;
    if (sizeof *f + blyi_rb_layers_memory_after(&f->layers, next.base.bytes) > f->max_bytes ||
        !blyi_rb_layers_push(&f->layers, &next.base))
        return BLY_ENOMEM;
    memcpy(blyi_rb_layer_at(&f->layers, f->layers.n - 1)->data, sub->slots.data, sub->slots.size);
    return BLY_OK;
}

bly_status bly_rb_cuckoo_load_end(bly_rb_cuckoo *f) {
    if (f->layers.n != f->filters || f->items > f->layers.bytes)
        return BLY_ECORRUPT;
    blyi_rb_layers_loaded(&f->layers);
    return BLY_OK;
}

/* ---- numbers in headers ---------------------------------------------------------------------- */

static uint8_t *rb_write64(uint8_t *to, uint64_t value) {
    blyi_store64le(to, value);
    return to + 8;
}

static uint8_t *rb_write32(uint8_t *to, uint32_t value) {
    blyi_store32le(to, value);
    return to + 4;
}

static uint8_t *rb_write16(uint8_t *to, uint32_t value) {
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
    return to + 2;
}

static uint8_t *rb_write_double(uint8_t *to, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return rb_write64(to, bits);
}

static double rb_read_double(const uint8_t *from) {
    uint64_t bits = blyi_load64le(from);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t rb_read16(const uint8_t *from) {
    return from[0] | (uint64_t)from[1] << 8;
}

/* ---- headers: Bloom -------------------------------------------------------------------------- */

size_t bly_rb_bloom_header_size(const bly_rb_bloom *f) {
    return BLY_RB_BLOOM_HEAD + (size_t)f->layers.n * BLY_RB_BLOOM_LINK;
}

void bly_rb_bloom_header(const bly_rb_bloom *f, uint8_t *to) {
    to = rb_write64(to, f->items);
    to = rb_write32(to, (uint32_t)f->layers.n);
    to = rb_write32(to, f->options);
    to = rb_write32(to, f->growth);
    for (uint64_t i = 0; i < f->layers.n; i++) {
        const blyi_rb_bloom_layer *l = blyi_rb_bloom_layer_at(f, i);
        to = rb_write64(to, l->base.bytes);
        to = rb_write64(to, l->bits);
        to = rb_write64(to, l->items);
        to = rb_write_double(to, l->error);
        to = rb_write_double(to, l->bpe);
        to = rb_write32(to, l->hashes);
        to = rb_write64(to, l->capacity);
        *to++ = (uint8_t)l->n2;
    }
}

static bly_status rb_read_bloom_layer(const uint8_t *from, blyi_rb_bloom_layer *out) {
    const bly_rb_link fields = {.bits = blyi_load64le(from + 8),
                                .items = blyi_load64le(from + 16),
                                .error = rb_read_double(from + 24),
                                .bpe = rb_read_double(from + 32),
                                .hashes = blyi_load32le(from + 40),
                                .capacity = blyi_load64le(from + 44),
                                .n2 = from[52]};
    return blyi_rb_bloom_layer_check(&fields, blyi_load64le(from), out);
}

/* Whether the layers are valid and their items add up to `items`. Sets *bytes to the size of their
 * bits. */
static bool rb_bloom_layers_valid(const uint8_t *from, uint64_t n, uint64_t items,
                                  uint64_t *bytes) {
    blyi_rb_bloom_layer l;
    for (*bytes = 0; n > 0; n--, from += BLY_RB_BLOOM_LINK) {
        if (rb_read_bloom_layer(from, &l) != BLY_OK || l.items > items)
            return false;
        items -= l.items;
        *bytes += l.base.bytes;
    }
    return items == 0;
}

bly_status bly_rb_bloom_parse(const void *header, size_t size, uint64_t max_bytes,
                              const bly_allocator *a, bly_rb_bloom **out) {
    const uint8_t *from = header, *links = from + BLY_RB_BLOOM_HEAD;
    uint64_t bytes;
    *out = NULL;
    if (size < BLY_RB_BLOOM_HEAD)
        return BLY_ECORRUPT;
    const bly_rb_bloom_fields fields = {.encoding = BLY_RB_ENCODING,
                                        .items = blyi_load64le(from),
                                        .links = blyi_load32le(from + 8),
                                        .options = blyi_load32le(from + 12),
                                        .growth = blyi_load32le(from + 16)};
    if (!rb_bloom_fields_valid(&fields) ||
        size - BLY_RB_BLOOM_HEAD != fields.links * BLY_RB_BLOOM_LINK ||
        !rb_bloom_layers_valid(links, fields.links, fields.items, &bytes))
        return BLY_ECORRUPT;
    if (sizeof(bly_rb_bloom) + fields.links * sizeof(blyi_rb_bloom_layer) + bytes > max_bytes)
        return BLY_ENOMEM;
    bly_status status = blyi_rb_bloom_alloc(fields.options, fields.growth, a, out);
    if (status)
        return status;
    (*out)->items = fields.items;
    bool enough = blyi_rb_layers_reserve(&(*out)->layers, fields.links);
    for (uint64_t i = 0; i < fields.links && enough; i++) {
        blyi_rb_bloom_layer l;
        enough = rb_read_bloom_layer(links + i * BLY_RB_BLOOM_LINK, &l) == BLY_OK &&
                 blyi_rb_layers_push(&(*out)->layers, &l.base);
    }
    if (enough) {
        blyi_rb_layers_loaded(&(*out)->layers);
        return BLY_OK;
    }
    bly_rb_bloom_destroy(*out);
    *out = NULL;
    return BLY_ENOMEM;
}

/* ---- headers: cuckoo ------------------------------------------------------------------------- */

void bly_rb_cuckoo_header(const bly_rb_cuckoo *f, uint8_t to[BLY_RB_CUCKOO_HEADER]) {
    uint8_t *at = rb_write64(to, f->items);
    at = rb_write64(at, f->buckets);
    at = rb_write64(at, f->deletes);
    at = rb_write64(at, f->layers.n);
    at = rb_write16(at, f->bucket_size);
    at = rb_write16(at, f->max_iterations);
    rb_write16(at, f->expansion);
}

bly_status bly_rb_cuckoo_parse(const void *header, size_t size, uint64_t max_bytes,
                               const bly_allocator *a, bly_rb_cuckoo **out) {
    const uint8_t *from = header;
    *out = NULL;
    if (size != BLY_RB_CUCKOO_HEADER)
        return BLY_ECORRUPT;
    const bly_rb_cuckoo_fields fields = {.encoding = BLY_RB_ENCODING,
                                         .items = blyi_load64le(from),
                                         .buckets = blyi_load64le(from + 8),
                                         .deletes = blyi_load64le(from + 16),
                                         .filters = blyi_load64le(from + 24),
                                         .bucket_size = rb_read16(from + 32),
                                         .max_iterations = rb_read16(from + 34),
                                         .expansion = rb_read16(from + 36)};
    bly_status status = rb_cuckoo_fields_check(&fields, max_bytes);
    if (status == BLY_OK)
        status = blyi_rb_cuckoo_alloc(&fields, a, out);
    if (status)
        return status;
    bool enough = blyi_rb_layers_reserve(&(*out)->layers, fields.filters);
    for (uint64_t i = 0; i < fields.filters && enough; i++) {
        blyi_rb_cuckoo_layer sub;
        enough = blyi_rb_cuckoo_layer_plan(*out, &sub) == BLY_OK &&
                 blyi_rb_layers_push(&(*out)->layers, &sub.base);
    }
    if (enough) {
        blyi_rb_layers_loaded(&(*out)->layers);
        return BLY_OK;
    }
    bly_rb_cuckoo_destroy(*out);
    *out = NULL;
    return BLY_ENOMEM;
}
