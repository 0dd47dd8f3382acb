/* Encodes and decodes the header of a filter file, and checks the body that follows it. */
#include "file/header.h"

#include "base/little_endian.h"
#include "base/memory.h"
#include "base/struct_size.h"
#include "filter/kind.h"
#include "hash/hash_custom.h"

#include <bloomery/host/describe.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    FORMAT_VERSION = 1,
    CUSTOM_BITS = 128, /* width assumed for a custom hash function */
};

/* The offsets of the fields. */
enum {
    AT_MAGIC = 0,
    AT_FORMAT = 4,
    AT_KIND = 5,
    AT_HASH = 6,
    AT_FLAGS = 7,
    AT_HASHES = 8,
    AT_WIDTH = 9,
    AT_SUB = 10,
    AT_HEADER_SUM = 12,
    AT_SIZE = 16,
    AT_CAPACITY = 24,
    AT_ITEMS = 32,
    AT_SEED = 40,
    AT_RATE = 48,
    AT_BODY_SUM = 56,
};

enum {
    FLAG_KEYED = 1,
    FLAG_APPROXIMATE = 2,
    FLAG_FOLDABLE = 4,
    KEY_RULE_SHIFT = 3, /* the upper five bits are a bly_key_rule */
};

enum { SUB_TEXTBOOK = 1 }; /* in `sub` of a classic filter; in other kinds `sub` is the detail */

static const uint8_t header_magic[4] = {'B', 'L', 'Y', '1'};

/* ---- header ---------------------------------------------------------------------------------- */

static uint32_t header_sum(const uint8_t header[BLYI_HEADER_BYTES]) {
    uint8_t copy[BLYI_HEADER_BYTES];
    memcpy(copy, header, sizeof copy);
    memset(copy + AT_HEADER_SUM, 0, 4);
    return (uint32_t)XXH64(copy, sizeof copy, 0);
}

/* Returns the width of a counter or fingerprint in bits. Most kinds consist of single bits. */
static unsigned header_width(const bly_geometry *g) {
    const blyi_planner *p = blyi_planner_of(g->kind);
    return p->layout ? 1 : p->width(g);
}

void blyi_header_encode(const blyi_shape *s, uint64_t body_sum, uint8_t out[BLYI_HEADER_BYTES]) {
    const bly_geometry *g = &s->geometry;
    uint64_t rate;
    memcpy(&rate, &s->fpr, sizeof rate);
    memset(out, 0, BLYI_HEADER_BYTES);
    memcpy(out + AT_MAGIC, header_magic, sizeof header_magic);
    out[AT_FORMAT] = FORMAT_VERSION;
    out[AT_KIND] = (uint8_t)g->kind;
    out[AT_HASH] = (uint8_t)s->hasher.id;
    out[AT_FLAGS] = (uint8_t)((s->hasher.id == BLY_HASH_SIPHASH ? FLAG_KEYED : 0) |
                              (s->approximate ? FLAG_APPROXIMATE : 0) |
                              (g->options & BLY_FOLDABLE ? FLAG_FOLDABLE : 0) |
                              (unsigned)s->key_rule << KEY_RULE_SHIFT);
    out[AT_HASHES] = (uint8_t)g->hashes;
    out[AT_WIDTH] = (uint8_t)header_width(g);
    out[AT_SUB] = g->options & BLY_TEXTBOOK ? SUB_TEXTBOOK : (uint8_t)g->detail;
    out[AT_SUB + 1] = (uint8_t)(g->detail >> 8);
    blyi_store64le(out + AT_SIZE, g->size);
    blyi_store64le(out + AT_CAPACITY, s->capacity);
    blyi_store64le(out + AT_ITEMS, s->items);
    blyi_store64le(out + AT_SEED, s->hasher.seed);
    blyi_store64le(out + AT_RATE, rate);
    blyi_store64le(out + AT_BODY_SUM, body_sum);
    blyi_store32le(out + AT_HEADER_SUM, header_sum(out));
}

/* Checks magic, version and checksum before any other field is used. A later version may have
 * another layout and checksum, so the version is checked before the checksum. */
static bly_status header_check_frame(const uint8_t *in) {
    if (memcmp(in + AT_MAGIC, header_magic, sizeof header_magic) != 0 || in[AT_FORMAT] == 0)
        return BLY_ECORRUPT;
    if (in[AT_FORMAT] > FORMAT_VERSION)
        return BLY_EVERSION;
    return blyi_load32le(in + AT_HEADER_SUM) == header_sum(in) ? BLY_OK : BLY_ECORRUPT;
}

static bly_status header_decode_geometry(const uint8_t *in, bly_geometry *g) {
    unsigned sub = in[AT_SUB] | (unsigned)in[AT_SUB + 1] << 8;
    *g = (bly_geometry){
        .kind = (bly_kind)in[AT_KIND],
        .hashes = in[AT_HASHES],
        .size = blyi_load64le(in + AT_SIZE),
    };
    if (bly_kind_removed(in[AT_KIND]))
        return BLY_EUNSUPPORTED;
    if (!blyi_kind_of(g->kind))
        return BLY_EKIND;
    if (!bly_key_rule_known(in[AT_FLAGS] >> KEY_RULE_SHIFT))
        return BLY_ECORRUPT;
    if (in[AT_FLAGS] & FLAG_FOLDABLE)
        g->options |= BLY_FOLDABLE;
    if (g->kind == BLY_CLASSIC && sub == SUB_TEXTBOOK)
        g->options |= BLY_TEXTBOOK;
    else
        g->detail = sub;
    if (bly_plan_check(g) != BLY_OK)
        return BLY_ECORRUPT;
    return in[AT_WIDTH] == header_width(g) ? BLY_OK : BLY_ECORRUPT;
}

static bly_status header_decode_hasher(const uint8_t *in, bly_hasher *hasher) {
    bly_hash_id id = (bly_hash_id)in[AT_HASH];
    unsigned bits = bly_hash_is_custom(id) ? CUSTOM_BITS : bly_hash_bits(id);
    if (bits == 0)
        return BLY_EHASHER;
    if ((id == BLY_HASH_SIPHASH) != ((in[AT_FLAGS] & FLAG_KEYED) != 0))
        return BLY_ECORRUPT;
    hasher->id = (uint16_t)id;
    hasher->bits = (uint16_t)bits;
    hasher->seed = blyi_load64le(in + AT_SEED);
    return BLY_OK;
}

bly_status blyi_header_decode(const uint8_t in[BLYI_HEADER_BYTES], blyi_header *out) {
    *out = (blyi_header){0};
    blyi_shape *s = &out->shape;
    bly_status status = header_check_frame(in);
    if (status == BLY_OK)
        status = header_decode_geometry(in, &s->geometry);
    if (status != BLY_OK)
        return status;
    uint64_t rate = blyi_load64le(in + AT_RATE);
    memcpy(&s->fpr, &rate, sizeof rate);
    s->capacity = blyi_load64le(in + AT_CAPACITY);
    s->items = blyi_load64le(in + AT_ITEMS);
    s->approximate = (in[AT_FLAGS] & FLAG_APPROXIMATE) != 0;
    s->key_rule = (bly_key_rule)(in[AT_FLAGS] >> KEY_RULE_SHIFT);
    if (!(s->fpr > 0 && s->fpr < 1) || s->capacity == 0)
        return BLY_ECORRUPT;
    out->body_bytes = bly_plan_bytes(&s->geometry);
    out->body_sum = blyi_load64le(in + AT_BODY_SUM);
    return header_decode_hasher(in, &s->hasher);
}

bool blyi_header_fits(const blyi_header *h, uint64_t file_size) {
    return file_size >= BLYI_HEADER_BYTES && file_size - BLYI_HEADER_BYTES == h->body_bytes;
}

bool blyi_open_options_read(const bly_open_options *options, bly_open_options *out) {
    *out = (bly_open_options){.struct_size = sizeof *out};
    return !options || blyi_read_struct(out, sizeof *out, sizeof *out, options);
}

/* Returns the status for a keyed or custom filter whose hasher the caller did not give. For a
 * custom hash: BLY_EKEY if another custom function was given, else BLY_EHASHER. For a keyed hash:
 * BLY_EKEY if this build has SipHash, so that only the key is wrong or missing; else
 * BLY_EHASHER. */
static bly_status header_lacks_hasher(bly_hash_id id, const bly_hasher *given) {
    bool right_sort = bly_hash_is_custom(id) ? given && bly_hash_is_custom((bly_hash_id)given->id)
                                             : bly_hash_available(id);
    return right_sort ? BLY_EKEY : BLY_EHASHER;
}

bly_status blyi_header_bind(blyi_header *h, const bly_open_options *o) {
    const bly_hasher *given = o->hasher;
    bly_hasher *own = &h->shape.hasher;
    bly_hash_id id = (bly_hash_id)own->id;
    if (o->flags & ~(uint32_t)(BLY_OPEN_WITHOUT_KEY | BLY_OPEN_VERIFY))
        return BLY_EINVAL;
    h->shape.sharing = o->sharing;
    h->shape.growth_limit = blyi_growth_limit(o->max_growth);

    bool same = blyi_hasher_match(given, own->id, own->seed, own);
    if (id != BLY_HASH_SIPHASH && !bly_hash_is_custom(id))
        return given && !same ? BLY_EHASHER : bly_hasher_init(own, id, own->seed);
    if (same)
        return BLY_OK;
    if (o->flags & BLY_OPEN_WITHOUT_KEY) {
        h->shape.keyless = true;
        return BLY_OK;
    }
    return header_lacks_hasher(id, given);
}

/* ---- body ------------------------------------------------------------------------------------ */

uint64_t blyi_body_sum(const uint8_t *body, uint64_t bytes) {
    return XXH64(body, (size_t)bytes, 0);
}

bly_status blyi_body_check(const blyi_header *h, const uint8_t *body) {
    return blyi_body_sum(body, h->body_bytes) == h->body_sum ? blyi_body_check_content(h, body)
                                                             : BLY_ECORRUPT;
}

bly_status blyi_body_check_content(const blyi_header *h, const uint8_t *body) {
    uint64_t used = bly_plan_bits(&h->shape.geometry);
    uint64_t at = used / 8;
    int stray = used % 8 ? body[at++] >> used % 8 : 0;
    while (at < h->body_bytes)
        stray |= body[at++];
    const blyi_ops *ops = blyi_ops_of(h->shape.geometry.kind);
    return stray == 0 && (!ops->body_is_valid || ops->body_is_valid(&h->shape, body))
               ? BLY_OK
               : BLY_ECORRUPT;
}

/* ---- public ---------------------------------------------------------------------------------- */

void blyi_header_get_info(const blyi_header *h, bly_file_info *out) {
    const blyi_shape *s = &h->shape;
    const bly_file_info info = {
        .geometry = s->geometry,
        .capacity = s->capacity,
        .count = s->items,
        .fpr = s->fpr,
        .hash = (bly_hash_id)s->hasher.id,
        .keyed = s->hasher.id == BLY_HASH_SIPHASH,
        .approximate = s->approximate,
        .seed = s->hasher.seed,
        .body_bytes = h->body_bytes,
        .key_rule = s->key_rule,
    };
    blyi_write_struct(out, &info, sizeof info);
}

bly_status bly_file_parse_info(const void *data, size_t size, bly_file_info *out) {
    blyi_header h;
    if (!blyi_can_write_struct(out, sizeof *out))
        return BLY_EINVAL;
    if (size < BLYI_HEADER_BYTES)
        return BLY_ECORRUPT;
    bly_status status = blyi_header_decode(data, &h);
    if (status == BLY_OK)
        blyi_header_get_info(&h, out);
    return status;
}
