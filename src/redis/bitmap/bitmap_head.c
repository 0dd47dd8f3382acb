/* Reads and writes the head with which each string of a filter begins (docs/format.md, section 22).
 *
 *      0  "BLYR"             8  shard       16  stamp               88  checksum of 0 .. 87
 *      4  version, 1        12  shards      24  a file's header     92  0
 *     96  keys that were new in this shard    104  state    105 .. 127  0
 *
 * The header at 24 is that of a file with the whole filter and no keys, so to make a file of a
 * filter that is fetched from a server, only the count and the checksum must be set. Every script
 * compares the first 96 bytes. They depend only on the filter's shape, its stamp and the shard, and
 * each field has only one encoding. So a head is valid if encoding the fields that were read gives
 * the same bytes again.
 */
#include "redis/bitmap/bitmap_layout.h"

#include "base/little_endian.h"
#include "file/header.h"

#include <stdio.h>

enum { BITMAP_HEAD_VERSION = 1 };

enum {
    BITMAP_HEAD_AT_VERSION = 4,
    BITMAP_HEAD_AT_SHARD = 8,
    BITMAP_HEAD_AT_SHARDS = 12,
    BITMAP_HEAD_AT_STAMP = 16,
    BITMAP_HEAD_AT_HEADER = 24,
    BITMAP_HEAD_AT_SUM = BITMAP_HEAD_AT_HEADER + BLYI_HEADER_BYTES,
};

static const uint8_t bitmap_head_magic[4] = {'B', 'L', 'Y', 'R'};

static uint32_t bitmap_head_checksum(const uint8_t *head) {
    return (uint32_t)blyi_body_sum(head, BITMAP_HEAD_AT_SUM);
}

void blyi_bitmap_head_encode(const bly_bitmap *b, uint32_t shard, bool complete,
                             uint8_t out[BLY_BITMAP_HEAD]) {
    const blyi_shape shape = {
        .geometry = b->geometry,
        .hasher = b->hasher,
        .capacity = b->capacity,
        .fpr = b->fpr,
        .approximate = b->approximate,
        .key_rule = b->key_rule,
    };
    memset(out, 0, BLY_BITMAP_HEAD);
    memcpy(out, bitmap_head_magic, sizeof bitmap_head_magic);
    out[BITMAP_HEAD_AT_VERSION] = BITMAP_HEAD_VERSION;
    blyi_store32le(out + BITMAP_HEAD_AT_SHARD, shard);
    blyi_store32le(out + BITMAP_HEAD_AT_SHARDS, b->shards);
    blyi_store64le(out + BITMAP_HEAD_AT_STAMP, b->stamp);
    blyi_header_encode(&shape, 0, out + BITMAP_HEAD_AT_HEADER);
    blyi_store32le(out + BITMAP_HEAD_AT_SUM, bitmap_head_checksum(out));
    out[BLYI_BITMAP_STATE_AT] = complete || shard > 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

static const char bitmap_head_foreign[] =
    "the key is not a Bloomery filter, or is damaged; use another key, or delete it";

/* Sets the reason for `status` in *why, which may be NULL, and returns `status`. */
static bly_status bitmap_head_fail(bly_status status, bly_redis_reason *why) {
    const char *text = status == BLY_EMISSING ? "there is no such key" : bitmap_head_foreign;
    if (status == BLY_EVERSION)
        text = "the filter was created by a newer version of Bloomery; upgrade to use it";
    else if (status == BLY_EHASHER)
        text = "the filter's hash function is not in this build";
    else if (status == BLY_EKEY)
        text = "the filter is keyed; pass the hasher that it was created with";
    if (why)
        (void)snprintf(why->text, sizeof why->text, "%s", text);
    return status;
}

static bly_status bitmap_head_bind(bly_bitmap *b, const bly_hasher *given, bool without_key) {
    blyi_header h = {.shape = {.hasher = b->hasher}};
    bly_open_options options = {.flags = without_key ? BLY_OPEN_WITHOUT_KEY : 0};
    if (bly_hash_is_custom((bly_hash_id)b->hasher.id))
        return BLY_EHASHER;
    if (b->hasher.id == BLY_HASH_SIPHASH)
        options.hasher = given;
    bly_status status = blyi_header_bind(&h, &options);
    b->hasher = h.shape.hasher;
    return status;
}

/* Whether the filter can have this shard, and its strings are not longer than a server allows. */
static bool bitmap_head_shape_fits(const bly_bitmap_head *head) {
    const bly_bitmap *b = &head->bitmap;
    return (b->geometry.kind == BLY_SBBF || b->geometry.kind == BLY_SPLIT512) && b->shards > 0 &&
           b->shards <= BLY_BITMAP_MAX_SHARDS && b->shards <= b->geometry.size &&
           head->shard < b->shards && bly_bitmap_shard_bytes(b, 0) <= BLY_BITMAP_MAX_BYTES;
}

static bool bitmap_head_rest_fits(const bly_bitmap_head *head, const uint8_t *in) {
    uint8_t again[BLY_BITMAP_HEAD];
    blyi_bitmap_head_encode(&head->bitmap, head->shard, head->complete, again);
    memcpy(again + BLYI_BITMAP_COUNT_AT, in + BLYI_BITMAP_COUNT_AT, 8);
    return memcmp(again, in, sizeof again) == 0;
}

static bly_status bitmap_head_decode(const uint8_t *in, bly_bitmap_head *out) {
    blyi_header h;
    if (memcmp(in, bitmap_head_magic, sizeof bitmap_head_magic) != 0 ||
        in[BITMAP_HEAD_AT_VERSION] == 0)
        return BLY_ECORRUPT;
    if (in[BITMAP_HEAD_AT_VERSION] > BITMAP_HEAD_VERSION)
        return BLY_EVERSION;
    if (blyi_load32le(in + BITMAP_HEAD_AT_SUM) != bitmap_head_checksum(in))
        return BLY_ECORRUPT;
    bly_status status = blyi_header_decode(in + BITMAP_HEAD_AT_HEADER, &h);
    if (status != BLY_OK)
        return status == BLY_EKIND ? BLY_ECORRUPT : status;
    *out = (bly_bitmap_head){
        .bitmap =
            {
                .form = BLY_BITMAP_NATIVE,
                .geometry = h.shape.geometry,
                .capacity = h.shape.capacity,
                .fpr = h.shape.fpr,
                .hasher = h.shape.hasher,
                .shards = blyi_load32le(in + BITMAP_HEAD_AT_SHARDS),
                .stamp = blyi_load64le(in + BITMAP_HEAD_AT_STAMP),
                .approximate = h.shape.approximate,
                .key_rule = h.shape.key_rule,
            },
        .shard = blyi_load32le(in + BITMAP_HEAD_AT_SHARD),
        .count = blyi_load64le(in + BLYI_BITMAP_COUNT_AT),
        .complete = in[BLYI_BITMAP_STATE_AT] == 1,
    };
    return bitmap_head_shape_fits(out) && bitmap_head_rest_fits(out, in) ? BLY_OK : BLY_ECORRUPT;
}

/* Parses a head. `text` may be shorter than a head. */
static bly_status bitmap_head_parse(bly_bytes text, const bly_hasher *hasher, bool without_key,
                                    bly_bitmap_head *out, bly_redis_reason *why) {
    bly_bitmap_head head;
    bly_status status = text.size == 0                 ? BLY_EMISSING
                        : text.size != BLY_BITMAP_HEAD ? BLY_ECORRUPT
                                                       : bitmap_head_decode(text.data, &head);
    if (status == BLY_OK)
        status = bitmap_head_bind(&head.bitmap, hasher, without_key);
    if (status != BLY_OK)
        return bitmap_head_fail(status, why);
    *out = head;
    return BLY_OK;
}

/* Returns the status for a reply that is not text, and so contains no head. */
static bly_status bitmap_head_refuse(const bly_redis_value *value, bly_redis_reason *why) {
    bly_status status = bly_bitmap_refusal(value, why);
    if (status != BLY_OK)
        return status;
    return bitmap_head_fail(value->type == BLY_REDIS_NIL ? BLY_EMISSING : BLY_ECORRUPT, why);
}

bly_status bly_bitmap_head_parse(const bly_redis_value *value, const bly_hasher *hasher,
                                 bly_bitmap_head *out, bly_redis_reason *why) {
    if (value->type != BLY_REDIS_TEXT)
        return bitmap_head_refuse(value, why);
    return bitmap_head_parse(value->text, hasher, false, out, why);
}

bly_status blyi_bitmap_head_read_keyless(const bly_redis_value *value, const bly_hasher *hasher,
                                         bly_bitmap_head *out, bly_redis_reason *why) {
    if (value->type != BLY_REDIS_TEXT)
        return bitmap_head_refuse(value, why);
    return bitmap_head_parse(value->text, hasher, true, out, why);
}

static bly_status bitmap_head_parse_created(const bly_redis_value *value, const bly_hasher *hasher,
                                            bool without_key, bool *made, bly_bitmap_head *out,
                                            bly_redis_reason *why) {
    if (value->type != BLY_REDIS_TEXT)
        return bitmap_head_refuse(value, why);
    const char *text = value->text.data;
    if (value->text.size == 0 || (text[0] != '0' && text[0] != '1'))
        return bitmap_head_fail(BLY_ECORRUPT, why);
    /* If the reply is only the digit, the key existed with an empty string, which has no head. */
    const bly_bytes head = {text + 1, value->text.size - 1};
    bly_status status = head.size == 0 ? bitmap_head_fail(BLY_ECORRUPT, why)
                                       : bitmap_head_parse(head, hasher, without_key, out, why);
    if (status == BLY_OK && made)
        *made = text[0] == '1';
    return status;
}

bly_status bly_bitmap_create_parse(const bly_redis_value *value, const bly_hasher *hasher,
                                   bool *made, bly_bitmap_head *out, bly_redis_reason *why) {
    return bitmap_head_parse_created(value, hasher, false, made, out, why);
}

bly_status blyi_bitmap_created_keyless(const bly_redis_value *value, bool *made,
                                       bly_bitmap_head *out, bly_redis_reason *why) {
    return bitmap_head_parse_created(value, NULL, true, made, out, why);
}
