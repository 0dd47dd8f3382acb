/* Where a cluster keeps a key, and names for keys that are to be in certain places.
 *
 * The slot of a key is the CRC-16 of its tag, or of the whole key where it has none, modulo 16384;
 * the tag is what stands between the first '{' and the first '}' after it, if that is anything. A
 * cluster gives ranges of slots to its nodes.
 *
 * A filter's shards shall be in slots of their own, so evenly spread that S nodes with equal ranges
 * get one each, and anyone must be able to work out their names. So S points are marked on the
 * circle of slots, at equal distances, the first at the slot of the filter's name, and shard j is
 * called name:{j.t} with the smallest t that leads to the neighbourhood of its point: a sixteenth
 * of the distance, or 64 slots if that is more and there are so many. With up to 256 shards that
 * takes some 256 tries for each, with 4096 some 4096, a few dozen microseconds; so whoever needs
 * the keys again and again keeps t. A name with a tag of its own says that its user wants all of it
 * in one slot.
 *
 * That a search ends: CRCs are linear, so that decimal numbers of one length lead, after whatever
 * text, to as many different slots as they do after any other, and those of six digits lead to all.
 */
#include "redis/bitmap/shard_keys.h"

#include "redis/bitmap/bitmap_layout.h"

#include <string.h>

/* CRC-16/XMODEM: polynomial 0x1021; high bits first, half a byte at a time. `crc`: of what comes
 * before, 0 of nothing. */
static unsigned crc16(unsigned crc, const void *from, size_t n) {
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

/* What the slot is made of. */
static bly_bytes hashed_part(bly_bytes key) {
    const char *open = key.size ? memchr(key.data, '{', key.size) : NULL;
    if (!open)
        return key;
    const size_t after = key.size - (size_t)(open + 1 - (const char *)key.data);
    const char *close = memchr(open + 1, '}', after);
    if (!close || close == open + 1)
        return key;
    return (bly_bytes){open + 1, (size_t)(close - open - 1)};
}

static bool has_tag(bly_bytes key) {
    return hashed_part(key).size != key.size;
}

unsigned bly_redis_slot(bly_bytes key) {
    const bly_bytes part = hashed_part(key);
    return crc16(0, part.data, part.size) % BLYI_SLOTS;
}

bool blyi_name_fits(bly_bytes name) {
    return name.size <= BLYI_MOST_NAME;
}

static char *put_number(char *at, unsigned number) {
    char digits[10];
    unsigned n = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (n > 0)
        *at++ = digits[--n];
    return at;
}

/* What comes after the name in the key of a shard. */
typedef struct ending {
    char text[BLYI_KEY_ROOM];
    size_t size;
    unsigned slot; /* of the key */
    unsigned t;    /* the number that was found */
    bool tagged;   /* it has a tag */
} ending;

/* A part of the circle: from `first` on, `width` slots. */
typedef struct arc {
    unsigned first, width;
} arc;

static arc arc_of(unsigned start, uint32_t shard, uint32_t shards) {
    enum { FEW = 64, PART = 16 };
    const unsigned step = BLYI_SLOTS / shards, few = step < FEW ? step : FEW;
    const unsigned width = step / PART > few ? step / PART : few;
    return (arc){(start + shard * BLYI_SLOTS / shards + BLYI_SLOTS - width / 2) % BLYI_SLOTS,
                 width};
}

/* The smallest number, from t on, that leads into the arc when its digits come after a text with
 * that CRC, and `tail` after them. Those before the last digit are hashed once for ten. */
static unsigned find_number(unsigned crc, unsigned t, bly_bytes tail, arc within, unsigned *slot) {
    for (unsigned stem = crc;; t++) {
        if (t >= 10 && (t % 10 == 0 || stem == crc)) {
            char digits[10];
            stem = crc16(crc, digits, (size_t)(put_number(digits, t / 10) - digits));
        }
        const char last = (char)('0' + t % 10);
        *slot = crc16(crc16(stem, &last, 1), tail.data, tail.size) % BLYI_SLOTS;
        if ((*slot + BLYI_SLOTS - within.first) % BLYI_SLOTS < within.width)
            return t;
    }
}

/* ":{" label t "}" after, for the smallest t, from e->t on, that makes a key of `name` in the arc.
 * Of the name, what is hashed with it is hashed but once: nothing where it has no '{'; what follows
 * a '{' that these brackets are the first to close; all of it, and of this, where an empty tag is
 * in it. */
static void seek(bly_bytes name, bly_bytes label, bly_bytes after, arc within, ending *e) {
    const char *open = name.size ? memchr(name.data, '{', name.size) : NULL;
    const size_t rest = open ? name.size - (size_t)(open + 1 - (const char *)name.data) : 0;
    const bool whole = rest > 0 && open[1] == '}';
    const unsigned before = whole  ? crc16(0, name.data, name.size)
                            : open ? crc16(0, open + 1, rest)
                                   : 0;
    const size_t from = open ? 0 : 2, fixed = 2 + label.size;
    char tail[BLYI_KEY_ROOM] = "}";
    e->tagged = !whole;
    memcpy(tail + 1, after.data, after.size);
    memcpy(e->text, ":{", 2);
    memcpy(e->text + 2, label.data, label.size);
    e->t = find_number(crc16(before, e->text + from, fixed - from), e->t,
                       (bly_bytes){tail, whole ? after.size + 1 : 0}, within, &e->slot);
    char *end = put_number(e->text + fixed, e->t);
    memcpy(end, tail, after.size + 1);
    e->size = (size_t)(end - e->text) + after.size + 1;
}

enum { LABEL = 12 };

/* "j." of shard j; nothing of the first. */
static bly_bytes label_of(uint32_t shard, char room[LABEL]) {
    char *end = room;
    if (shard > 0) {
        end = put_number(room, shard);
        *end++ = '.';
    }
    return (bly_bytes){room, (size_t)(end - room)};
}

/* `from`: no number below it will do. */
static ending ending_of(bly_bytes name, uint32_t shard, uint32_t shards, unsigned from) {
    ending e = {.slot = bly_redis_slot(name), .t = from, .tagged = has_tag(name)};
    if (shard > 0 && e.tagged) {
        e.text[0] = ':';
        e.size = (size_t)(put_number(e.text + 1, shard) - e.text);
    } else if (shard > 0) {
        char room[LABEL];
        seek(name, label_of(shard, room), (bly_bytes){"", 0}, arc_of(e.slot, shard, shards), &e);
    }
    return e;
}

/* Both, if they fit. */
static size_t write_key(bly_bytes name, const ending *e, char *out, size_t room) {
    const size_t size = name.size + e->size;
    if (size >= room)
        return size;
    if (name.size)
        memcpy(out, name.data, name.size);
    memcpy(out + name.size, e->text, e->size);
    out[size] = 0;
    return size;
}

size_t blyi_bitmap_key_again(const bly_bitmap *b, bly_bytes name, uint32_t shard, uint32_t *tag,
                             char *out, size_t room) {
    if (shard >= b->shards)
        return 0;
    const ending e = ending_of(name, shard, b->shards, tag && *tag ? *tag - 1 : 0);
    if (tag)
        *tag = e.t + 1;
    return write_key(name, &e, out, room);
}

size_t bly_bitmap_key(const bly_bitmap *b, bly_bytes name, uint32_t shard, char *out, size_t room) {
    return blyi_bitmap_key_again(b, name, shard, NULL, out, room);
}

/* After a tag, anything may follow. A key without one gets one that leads to the same slot. */
static size_t marked_key(const bly_bitmap *b, bly_bytes name, uint32_t shard, bly_bytes mark,
                         char *out, size_t room) {
    if (shard >= b->shards)
        return 0;
    ending e = ending_of(name, shard, b->shards, 0);
    if (e.tagged) {
        memcpy(e.text + e.size, mark.data, mark.size);
        e.size += mark.size;
    } else {
        char label[LABEL];
        e.t = 0;
        seek(name, label_of(shard, label), mark, (arc){e.slot, 1}, &e);
    }
    return write_key(name, &e, out, room);
}

size_t blyi_bitmap_arrival_key(const bly_bitmap *b, bly_bytes name, uint32_t shard, char *out,
                               size_t room) {
    return marked_key(b, name, shard, (bly_bytes){":arriving", 9}, out, room);
}

size_t blyi_bitmap_parking_key(const bly_bitmap *b, bly_bytes name, uint32_t shard, char *out,
                               size_t room) {
    return marked_key(b, name, shard, (bly_bytes){":parked", 7}, out, room);
}
