/* Computes the slot of a key in a cluster, and names for the keys of shards that spread the shards
 * over the slots.
 *
 * The slot of a key is the CRC-16 of its tag, or of the whole key if it has none, modulo 16384. The
 * tag is the text between the first '{' and the first '}' after it, if it is not empty. A cluster
 * assigns ranges of slots to its nodes.
 *
 * A filter's shards should be in different slots, spread so evenly that S nodes with equal ranges
 * get one each, and every client must be able to compute their names. So S points are chosen on the
 * circle of slots, at equal distances, the first at the slot of the filter's name. Shard j has the
 * key name:{j.t}, with the smallest t for which the slot is in an arc around its point. The arc is
 * a sixteenth of the distance wide, or 64 slots if that is more (but not more than the distance).
 * With up to 256 shards the search takes about 256 tries for each shard; with 4096 shards about
 * 4096, a few dozen microseconds. So clients that need the keys repeatedly store t. If the name
 * itself has a tag, all shards are in its slot.
 *
 * The search always ends. CRCs are linear, so the decimal numbers of one length lead to the same
 * number of different slots after any prefix, and those of six digits lead to all slots.
 */
#include "redis/bitmap/shard_keys.h"

#include <string.h>

/* CRC-16/XMODEM: polynomial 0x1021, high bits first, half a byte at a time. `crc` is the CRC of the
 * preceding bytes; 0 at the beginning. */
static unsigned redis_slot_crc16(unsigned crc, const void *from, size_t n) {
    const uint8_t *p = from;
    static const uint16_t step[16] = {0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5,
                                      0x60c6, 0x70e7, 0x8108, 0x9129, 0xa14a, 0xb16b,
                                      0xc18c, 0xd1ad, 0xe1ce, 0xf1ef};
    for (; n > 0; n--, p++) {
        crc = (crc << 4 ^ step[(crc >> 12 ^ *p >> 4) & 15]) & 0xffff;
        crc = (crc << 4 ^ step[(crc >> 12 ^ *p) & 15]) & 0xffff;
    }
    return crc;
}

/* Returns the part of the key that determines its slot. */
static bly_bytes redis_slot_hashed_part(bly_bytes key) {
    const char *open = key.size ? memchr(key.data, '{', key.size) : NULL;
    if (!open)
        return key;
    const size_t after = key.size - (size_t)(open + 1 - (const char *)key.data);
    const char *close = memchr(open + 1, '}', after);
    if (!close || close == open + 1)
        return key;
    return (bly_bytes){open + 1, (size_t)(close - open - 1)};
}

static bool redis_slot_has_tag(bly_bytes key) {
    return redis_slot_hashed_part(key).size != key.size;
}

unsigned bly_redis_slot(bly_bytes key) {
    const bly_bytes part = redis_slot_hashed_part(key);
    return redis_slot_crc16(0, part.data, part.size) % BLYI_CLUSTER_SLOTS;
}

bool blyi_key_name_fits(bly_bytes name) {
    return name.size <= BLYI_MAX_KEY_NAME;
}

static char *shard_key_write_number(char *at, unsigned number) {
    char digits[10];
    unsigned n = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (n > 0)
        *at++ = digits[--n];
    return at;
}

/* The text that follows the name in the key of a shard. */
typedef struct shard_key_suffix {
    char text[BLYI_KEY_ROOM];
    size_t size;
    unsigned slot; /* of the whole key */
    unsigned t;    /* the number in the tag */
    bool tagged;   /* the key has a tag */
} shard_key_suffix;

/* A part of the circle of slots: `width` slots from `first` on. */
typedef struct redis_slot_arc {
    unsigned first, width;
} redis_slot_arc;

static redis_slot_arc redis_slot_arc_of(unsigned start, uint32_t shard, uint32_t shards) {
    enum { FEW = 64, PART = 16 };
    const unsigned step = BLYI_CLUSTER_SLOTS / shards, few = step < FEW ? step : FEW;
    const unsigned width = step / PART > few ? step / PART : few;
    return (redis_slot_arc){
        (start + shard * BLYI_CLUSTER_SLOTS / shards + BLYI_CLUSTER_SLOTS - width / 2) %
            BLYI_CLUSTER_SLOTS,
        width};
}

/* Returns the smallest number from t on that gives a key a slot in the arc `within`. The hashed
 * part of the key is a text whose CRC is `crc`, then the digits of the number, then `tail`. The
 * digits before the last one are hashed only once for ten numbers. */
static unsigned shard_key_find_number(unsigned crc, unsigned t, bly_bytes tail,
                                      redis_slot_arc within, unsigned *slot) {
    for (unsigned stem = crc;; t++) {
        if (t >= 10 && (t % 10 == 0 || stem == crc)) {
            char digits[10];
            stem = redis_slot_crc16(crc, digits,
                                    (size_t)(shard_key_write_number(digits, t / 10) - digits));
        }
        const char last = (char)('0' + t % 10);
        *slot = redis_slot_crc16(redis_slot_crc16(stem, &last, 1), tail.data, tail.size) %
                BLYI_CLUSTER_SLOTS;
        if ((*slot + BLYI_CLUSTER_SLOTS - within.first) % BLYI_CLUSTER_SLOTS < within.width)
            return t;
    }
}

/* Finds a suffix: the text ":{", then `label`, t, "}" and `after`. t is the smallest number from
 * e->t on that gives the key a slot in the arc `within`. The part of the name that the slot depends
 * on is hashed only once. If the name has no '{', that part is empty. If the name has a '{' that
 * this suffix closes, it is the text after that '{'. If the name begins a tag that is empty ("{}"),
 * the slot depends on the whole key. */
static void shard_key_find_suffix(bly_bytes name, bly_bytes label, bly_bytes after,
                                  redis_slot_arc within, shard_key_suffix *e) {
    const char *open = name.size ? memchr(name.data, '{', name.size) : NULL;
    const size_t rest = open ? name.size - (size_t)(open + 1 - (const char *)name.data) : 0;
    const bool whole = rest > 0 && open[1] == '}';
    const unsigned before = whole  ? redis_slot_crc16(0, name.data, name.size)
                            : open ? redis_slot_crc16(0, open + 1, rest)
                                   : 0;
    const size_t from = open ? 0 : 2, fixed = 2 + label.size;
    char tail[BLYI_KEY_ROOM] = "}";
    e->tagged = !whole;
    memcpy(tail + 1, after.data, after.size);
    memcpy(e->text, ":{", 2);
    memcpy(e->text + 2, label.data, label.size);
    e->t = shard_key_find_number(redis_slot_crc16(before, e->text + from, fixed - from), e->t,
                                 (bly_bytes){tail, whole ? after.size + 1 : 0}, within, &e->slot);
    char *end = shard_key_write_number(e->text + fixed, e->t);
    memcpy(end, tail, after.size + 1);
    e->size = (size_t)(end - e->text) + after.size + 1;
}

enum { SHARD_KEY_LABEL_BYTES = 12 };

/* Returns "j." for shard j, or an empty text for the first shard. */
static bly_bytes shard_key_label(uint32_t shard, char room[SHARD_KEY_LABEL_BYTES]) {
    char *end = room;
    if (shard > 0) {
        end = shard_key_write_number(room, shard);
        *end++ = '.';
    }
    return (bly_bytes){room, (size_t)(end - room)};
}

/* Finds the suffix of a shard's key. The search for t starts with `from`. */
static shard_key_suffix shard_key_suffix_of(bly_bytes name, uint32_t shard, uint32_t shards,
                                            unsigned from) {
    shard_key_suffix e = {
        .slot = bly_redis_slot(name), .t = from, .tagged = redis_slot_has_tag(name)};
    if (shard > 0 && e.tagged) {
        e.text[0] = ':';
        e.size = (size_t)(shard_key_write_number(e.text + 1, shard) - e.text);
    } else if (shard > 0) {
        char room[SHARD_KEY_LABEL_BYTES];
        shard_key_find_suffix(name, shard_key_label(shard, room), (bly_bytes){"", 0},
                              redis_slot_arc_of(e.slot, shard, shards), &e);
    }
    return e;
}

/* Writes the name and the suffix, if they fit. Returns their length in any case. */
static size_t shard_key_write(bly_bytes name, const shard_key_suffix *e, char *out, size_t room) {
    const size_t size = name.size + e->size;
    if (size >= room)
        return size;
    if (name.size)
        memcpy(out, name.data, name.size);
    memcpy(out + name.size, e->text, e->size);
    out[size] = 0;
    return size;
}

size_t blyi_bitmap_key_cached(const bly_bitmap *b, bly_bytes name, uint32_t shard, uint32_t *tag,
                              char *out, size_t room) {
    if (shard >= b->shards)
        return 0;
    const shard_key_suffix e =
        shard_key_suffix_of(name, shard, b->shards, tag && *tag ? *tag - 1 : 0);
    if (tag)
        *tag = e.t + 1;
    return shard_key_write(name, &e, out, room);
}

size_t bly_bitmap_key(const bly_bitmap *b, bly_bytes name, uint32_t shard, char *out, size_t room) {
    return blyi_bitmap_key_cached(b, name, shard, NULL, out, room);
}

/* Writes a key that ends in `mark` and is in the same slot as the shard's own key. If that key has
 * a tag, the mark is appended, which does not change the slot. Else the new key gets a tag that
 * leads to the same slot. */
static size_t shard_key_with_mark(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                                  bly_bytes mark, char *out, size_t room) {
    if (shard >= b->shards)
        return 0;
    shard_key_suffix e = shard_key_suffix_of(name, shard, b->shards, 0);
    if (e.tagged) {
        memcpy(e.text + e.size, mark.data, mark.size);
        e.size += mark.size;
    } else {
        char label[SHARD_KEY_LABEL_BYTES];
        e.t = 0;
        shard_key_find_suffix(name, shard_key_label(shard, label), mark,
                              (redis_slot_arc){e.slot, 1}, &e);
    }
    return shard_key_write(name, &e, out, room);
}

size_t blyi_bitmap_staging_key(const bly_bitmap *b, bly_bytes name, uint32_t shard, char *out,
                               size_t room) {
    return shard_key_with_mark(b, name, shard, (bly_bytes){":arriving", 9}, out, room);
}

size_t blyi_bitmap_parking_key(const bly_bitmap *b, bly_bytes name, uint32_t shard, char *out,
                               size_t room) {
    return shard_key_with_mark(b, name, shard, (bly_bytes){":parked", 7}, out, room);
}
