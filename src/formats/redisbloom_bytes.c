/* redisbloom_bytes.c - the headers of SCANDUMP and LOADCHUNK: packed, little-endian.
 *
 *   Bloom:   u64 items, u32 links, u32 options, u32 growth; then for each link u64 bytes, u64 bits,
 *            u64 items, f64 error, f64 bpe, u32 hashes, u64 capacity, u8 n2
 *   cuckoo:  u64 items, u64 buckets, u64 deletes, u64 sub-filters, u16 bucket size,
 *            u16 max iterations, u16 expansion
 *
 * A header may claim any size and brings no proof. So it is read twice: once to check it all and
 * add up what it would take, and again to allocate that.
 */
#include "formats/redisbloom_load.h"

#include "core/bytes.h"

static uint8_t *put64(uint8_t *to, uint64_t value) {
    blyi_store64le(to, value);
    return to + 8;
}

static uint8_t *put32(uint8_t *to, uint32_t value) {
    blyi_store32le(to, value);
    return to + 4;
}

static uint8_t *put16(uint8_t *to, uint32_t value) {
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
    return to + 2;
}

static uint8_t *put_double(uint8_t *to, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return put64(to, bits);
}

static double load_double(const uint8_t *from) {
    uint64_t bits = blyi_load64le(from);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t load16(const uint8_t *from) {
    return from[0] | (uint64_t)from[1] << 8;
}

/* ---- Bloom ----------------------------------------------------------------------------------- */

size_t bly_rb_bloom_header_size(const bly_rb_bloom *f) {
    return BLY_RB_BLOOM_HEAD + (size_t)f->chain.n * BLY_RB_BLOOM_LINK;
}

void bly_rb_bloom_header(const bly_rb_bloom *f, uint8_t *to) {
    to = put64(to, f->items);
    to = put32(to, (uint32_t)f->chain.n);
    to = put32(to, f->options);
    to = put32(to, f->growth);
    for (uint64_t i = 0; i < f->chain.n; i++) {
        const blyi_rb_link *l = blyi_rb_link_at(f, i);
        to = put64(to, l->part.bytes);
        to = put64(to, l->bits);
        to = put64(to, l->items);
        to = put_double(to, l->error);
        to = put_double(to, l->bpe);
        to = put32(to, l->hashes);
        to = put64(to, l->capacity);
        *to++ = (uint8_t)l->n2;
    }
}

static bly_status take_link(const uint8_t *from, blyi_rb_link *out) {
    const bly_rb_link told = {.bits = blyi_load64le(from + 8),
                              .items = blyi_load64le(from + 16),
                              .error = load_double(from + 24),
                              .bpe = load_double(from + 32),
                              .hashes = blyi_load32le(from + 40),
                              .capacity = blyi_load64le(from + 44),
                              .n2 = from[52]};
    return blyi_rb_link_take(&told, blyi_load64le(from), out);
}

/* Whether the links are sound and add up; *bytes is what their bits take. */
static bool sound_links(const uint8_t *from, uint64_t n, uint64_t items, uint64_t *bytes) {
    blyi_rb_link l;
    for (*bytes = 0; n > 0; n--, from += BLY_RB_BLOOM_LINK) {
        if (take_link(from, &l) != BLY_OK || l.items > items)
            return false;
        items -= l.items;
        *bytes += l.part.bytes;
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
    const bly_rb_bloom_fields told = {.encoding = BLY_RB_ENCODING,
                                      .items = blyi_load64le(from),
                                      .links = blyi_load32le(from + 8),
                                      .options = blyi_load32le(from + 12),
                                      .growth = blyi_load32le(from + 16)};
    if (!blyi_rb_bloom_sound(&told) || size - BLY_RB_BLOOM_HEAD != told.links * BLY_RB_BLOOM_LINK ||
        !sound_links(links, told.links, told.items, &bytes))
        return BLY_ECORRUPT;
    if (sizeof(bly_rb_bloom) + told.links * sizeof(blyi_rb_link) + bytes > max_bytes)
        return BLY_ENOMEM;
    bly_status status = blyi_rb_bloom_make(told.options, told.growth, a, out);
    if (status)
        return status;
    (*out)->items = told.items;
    bool enough = blyi_rb_reserve(&(*out)->chain, told.links);
    for (uint64_t i = 0; i < told.links && enough; i++) {
        blyi_rb_link l;
        enough = take_link(links + i * BLY_RB_BLOOM_LINK, &l) == BLY_OK &&
                 blyi_rb_push(&(*out)->chain, &l.part);
    }
    if (enough) {
        blyi_rb_is_loaded(&(*out)->chain);
        return BLY_OK;
    }
    bly_rb_bloom_destroy(*out);
    *out = NULL;
    return BLY_ENOMEM;
}

/* ---- cuckoo ---------------------------------------------------------------------------------- */

void bly_rb_cuckoo_header(const bly_rb_cuckoo *f, uint8_t to[BLY_RB_CUCKOO_HEADER]) {
    uint8_t *at = put64(to, f->items);
    at = put64(at, f->buckets);
    at = put64(at, f->deletes);
    at = put64(at, f->chain.n);
    at = put16(at, f->bucket_size);
    at = put16(at, f->max_iterations);
    put16(at, f->expansion);
}

bly_status bly_rb_cuckoo_parse(const void *header, size_t size, uint64_t max_bytes,
                               const bly_allocator *a, bly_rb_cuckoo **out) {
    const uint8_t *from = header;
    *out = NULL;
    if (size != BLY_RB_CUCKOO_HEADER)
        return BLY_ECORRUPT;
    const bly_rb_cuckoo_fields told = {.encoding = BLY_RB_ENCODING,
                                       .items = blyi_load64le(from),
                                       .buckets = blyi_load64le(from + 8),
                                       .deletes = blyi_load64le(from + 16),
                                       .filters = blyi_load64le(from + 24),
                                       .bucket_size = load16(from + 32),
                                       .max_iterations = load16(from + 34),
                                       .expansion = load16(from + 36)};
    bly_status status = blyi_rb_cuckoo_check(&told, max_bytes);
    if (status == BLY_OK)
        status = blyi_rb_cuckoo_make(&told, a, out);
    if (status)
        return status;
    bool enough = blyi_rb_reserve(&(*out)->chain, told.filters);
    for (uint64_t i = 0; i < told.filters && enough; i++) {
        blyi_rb_sub sub;
        enough = blyi_rb_sub_plan(*out, &sub) == BLY_OK && blyi_rb_push(&(*out)->chain, &sub.part);
    }
    if (enough) {
        blyi_rb_is_loaded(&(*out)->chain);
        return BLY_OK;
    }
    bly_rb_cuckoo_destroy(*out);
    *out = NULL;
    return BLY_ENOMEM;
}
