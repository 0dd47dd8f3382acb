/* fuzz_bitmap.c - parses untrusted replies of a server, for filters on a plain Redis.
 *
 * The first byte is the type of the reply. The second determines what the other bytes are: the text
 * of the reply, or changes to a valid head, and whether checksums are corrected. Each reply is
 * parsed as a head, as the reply to a creation, as an error, as a redirection in a cluster, and as
 * the reply to several batches. If a reply is accepted, its parts must be consistent; if it is
 * refused, no result may be changed.
 */
#include <bloomery/bloomery.h>
#include <bloomery/redis/bitmap.h>

#include "redis/bitmap/bitmap_layout.h"
#include "redis/bitmap/shard_keys.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { AS_CHANGES = 1, FIX_SUMS = 2, AS_CREATED = 4, WITH_KEY = 8, KEYS = 3 };

static void demand(bool truth) {
    if (!truth)
        __builtin_trap();
}

static void store32(uint8_t *to, uint64_t value) {
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/* Corrects the checksum of the header in the head, then that of the head. */
static void fix_sums(uint8_t *head) {
    uint8_t *header = head + 24;
    store32(header + 12, 0);
    store32(header + 12, XXH64(header, 64, 0));
    store32(head + 88, XXH64(head, 88, 0));
}

static bly_bytes word(const char *text) {
    return (bly_bytes){text, strlen(text)};
}

/* Applies changes. Each change is a pair of bytes: a position, and the bits to flip there. */
static void change(uint8_t *head, const uint8_t *data, size_t size) {
    for (; size >= 2; data += 2, size -= 2)
        head[data[0] % BLY_BITMAP_HEAD] ^= data[1];
}

static const bly_bytes keys[KEYS] = {{"a", 1}, {"bc", 2}, {"", 0}};

/* Uses a shape that was accepted: every function must succeed. */
static void use(const bly_bitmap *b) {
    bly_bitmap_batch *batch;
    char key[64], staging[64];
    demand(b->shards > 0 && b->shards <= BLY_BITMAP_MAX_SHARDS && b->shards <= b->geometry.size);
    uint64_t blocks = 0;
    for (uint32_t s = 0; s < b->shards; s++) {
        demand(bly_bitmap_shard_bytes(b, s) <= BLY_BITMAP_MAX_BYTES);
        blocks += bly_bitmap_shard_blocks(b, s);
    }
    demand(blocks == b->geometry.size);
    const size_t size = bly_bitmap_key(b, word("name"), b->shards - 1, key, sizeof key);
    const size_t other =
        blyi_bitmap_staging_key(b, word("name"), b->shards - 1, staging, sizeof staging);
    demand(size < sizeof key && other < sizeof staging);
    demand(bly_redis_slot((bly_bytes){key, size}) == bly_redis_slot((bly_bytes){staging, other}));
    for (bly_bitmap_op what = BLY_BITMAP_ADD; what <= BLY_BITMAP_CONTAINS; what++) {
        demand(bly_bitmap_batch_open(b, word("name"), what, keys, KEYS, 1, &batch) == BLY_OK);
        demand(bly_bitmap_batch_count(batch) == KEYS);
        bly_bitmap_batch_close(batch);
    }
}

static void read_head(const bly_redis_value *value, bool created, const bly_hasher *hasher) {
    bly_bitmap_head head, again;
    bly_redis_reason why = {""};
    bool made;
    bly_status status = created ? bly_bitmap_create_parse(value, hasher, &made, &head, &why)
                                : bly_bitmap_head_parse(value, hasher, &head, &why);
    demand((status == BLY_OK) == (why.text[0] == 0));
    if (status != BLY_OK)
        return;
    uint8_t bytes[BLY_BITMAP_HEAD];
    blyi_bitmap_head_encode(&head.bitmap, head.shard, head.complete, bytes);
    const uint8_t *in = (const uint8_t *)value->text.data + created;
    demand(memcmp(bytes, in, BLYI_BITMAP_IDENTITY) == 0);
    const bly_redis_value inside = {.type = BLY_REDIS_TEXT, .text = {in, BLY_BITMAP_HEAD}};
    demand(blyi_bitmap_head_read_keyless(&inside, NULL, &again, NULL) == BLY_OK);
    demand(bly_bitmap_compatible(&head.bitmap, &again.bitmap) && head.shard < head.bitmap.shards);
    use(&head.bitmap);
}

static void read_errors(const bly_redis_value *value) {
    bly_redis_reason why = {""};
    bly_redis_redirect place;
    const bly_redis_verdict verdict = bly_redis_classify(value);
    const bly_status status = bly_bitmap_refusal(value, &why);
    const bool error = value->type == BLY_REDIS_ERROR;
    demand(error == (status != BLY_OK) && error == (verdict != BLY_REDIS_DONE));
    demand(error == (why.text[0] != 0) && memchr(why.text, 0, sizeof why.text));
    if (!bly_redis_redirect_parse(value, &place))
        return;
    demand(verdict == BLY_REDIS_MOVED || verdict == BLY_REDIS_ASK);
    const char *host = place.host.data, *text = value->text.data;
    demand(place.port != 0 && place.slot < 16384);
    demand(host >= text && host + place.host.size <= text + value->text.size);
}

/* The batches whose replies are parsed; created once. */
static bly_bitmap_batch *batches[6];

static void make_batches(bly_bitmap *good) {
    bly_bitmap shapes[3];
    const bly_bitmap_spec spec = {
        .struct_size = sizeof spec, .capacity = 20000, .fpr = 0.001, .kind = BLY_SPLIT512};
    demand(bly_bitmap_plan(&spec, &shapes[0]) == BLY_OK);
    demand(bly_bitmap_gozero(1000, &shapes[1]) == BLY_OK);
    shapes[0].stamp = 1;
    shapes[2] = *good;
    for (unsigned i = 0; i < 6; i++)
        demand(bly_bitmap_batch_open(&shapes[i / 2], word("n"),
                                     i % 2 ? BLY_BITMAP_ADD : BLY_BITMAP_CONTAINS, keys, KEYS, 0,
                                     &batches[i]) == BLY_OK);
}

static void read_batches(const bly_redis_value *value) {
    for (unsigned i = 0; i < 6; i++) {
        uint8_t answers[KEYS] = {77, 77, 77};
        bly_redis_reason why = {""};
        size_t fresh = 88, told = 0, yes = 0;
        const bly_status status =
            bly_bitmap_batch_parse(batches[i], 0, value, i % 4 == 1, answers, &fresh, &why);
        for (unsigned k = 0; k < KEYS; k++) {
            demand(answers[k] <= BLY_UNSURE || answers[k] == 77);
            told += answers[k] != 77;
            yes += answers[k] == BLY_YES;
        }
        demand(status == BLY_OK ? told > 0 && fresh == yes : told == 0 && fresh == 88);
        demand((status == BLY_OK) == (why.text[0] == 0));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bly_bitmap good;
    static const uint8_t secret[16] = {1};
    const bly_bitmap_spec spec = {
        .struct_size = sizeof spec, .capacity = 20000, .fpr = 0.01, .shards = 3};
    bly_hasher keyed;
    if (good.shards == 0) {
        demand(bly_bitmap_plan(&spec, &good) == BLY_OK);
        good.stamp = 1; /* a fixed stamp, so that an input always has the same effect */
        make_batches(&good);
    }
    if (size < 2)
        return 0;
    const unsigned how = data[1];
    const bool created = (how & AS_CREATED) != 0;
    const size_t bytes = how & AS_CHANGES ? BLY_BITMAP_HEAD + (size_t)created : size - 2;
    uint8_t *text = malloc(bytes ? bytes : 1);
    if (!text)
        return 0;
    if (how & AS_CHANGES) {
        text[0] = '1';
        blyi_bitmap_head_encode(&good, 0, true, text + created);
        change(text + created, data + 2, size - 2);
    } else {
        memcpy(text, data + 2, bytes);
    }
    if (how & FIX_SUMS && bytes >= BLY_BITMAP_HEAD + (size_t)created)
        fix_sums(text + created);
    const bly_redis_value value = {
        .type = (bly_redis_type)(data[0] % 5), .integer = size > 2, .text = {text, bytes}};
    const bool has_key = how & WITH_KEY && bly_hasher_keyed(&keyed, secret) == BLY_OK;
    read_head(&value, created, has_key ? &keyed : NULL);
    read_errors(&value);
    read_batches(&value);
    free(text);
    return 0;
}
