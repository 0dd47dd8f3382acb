/* Where a cluster keeps a key, and names for keys that are to be in certain places.
 *
 * The slot of a key is the CRC-16 of its tag, or of the whole key where it has none, modulo 16384;
 * the tag is what stands between the first '{' and the first '}' after it, if that is anything. A
 * cluster gives ranges of slots to its nodes.
 *
 * A filter's shards shall be in slots of their own, evenly spread, so that any number of nodes gets
 * an even share of them, and anyone must be able to work out their names. So the circle of slots is
 * cut into as many ranges as there are shards, the first beginning at the slot of the filter's
 * name, and shard j is called name:{j.t} with the smallest t that leads into its range: about as
 * many tries as there are shards. A name with a tag of its own says that its user wants all of it
 * in one slot.
 *
 * That a search ends: CRCs are linear, so that decimal numbers of one length lead, after whatever
 * text, to as many different slots as they do after any other, and those of six digits lead to all.
 */
#include "slots.h"

#include "bitmap.h"

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
    return name.size <= BLY_BITMAP_MOST_BYTES - BLYI_KEY_ROOM;
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
    bool tagged;   /* it has a tag */
} ending;

/* "j.t" in its brackets, for the smallest t that leads into the shard's range. Of the name, what is
 * hashed with it is hashed but once: nothing where it has no '{'; what follows a '{' that these
 * brackets are the first to close; all of it where an empty tag is in it. */
static void seek(bly_bytes name, uint32_t shard, uint32_t shards, ending *e) {
    const char *open = name.size ? memchr(name.data, '{', name.size) : NULL;
    const size_t rest = open ? name.size - (size_t)(open + 1 - (const char *)name.data) : 0;
    const bool whole = rest > 0 && open[1] == '}';
    const unsigned before = whole  ? crc16(0, name.data, name.size)
                            : open ? crc16(0, open + 1, rest)
                                   : 0;
    const size_t from = open ? 0 : 2, cut = whole ? 0 : 1;
    const unsigned start = bly_redis_slot(name);
    const unsigned first = shard * BLYI_SLOTS / shards, past = (shard + 1) * BLYI_SLOTS / shards;
    e->tagged = !whole;
    e->text[0] = ':';
    e->text[1] = '{';
    char *const number = put_number(e->text + 2, shard);
    *number = '.';
    for (unsigned t = 0;; t++) {
        char *end = put_number(number + 1, t);
        *end++ = '}';
        e->size = (size_t)(end - e->text);
        e->slot = crc16(before, e->text + from, e->size - cut - from) % BLYI_SLOTS;
        const unsigned way = (e->slot + BLYI_SLOTS - start) % BLYI_SLOTS;
        if (way >= first && way < past)
            return;
    }
}

static ending ending_of(bly_bytes name, uint32_t shard, uint32_t shards) {
    ending e = {.slot = bly_redis_slot(name), .tagged = has_tag(name)};
    if (shard > 0 && e.tagged) {
        e.text[0] = ':';
        e.size = (size_t)(put_number(e.text + 1, shard) - e.text);
    } else if (shard > 0) {
        seek(name, shard, shards, &e);
    }
    return e;
}

/* The three one after the other, if they fit. */
static size_t write_key(bly_bytes a, bly_bytes b, bly_bytes c, char *out, size_t room) {
    const size_t size = a.size + b.size + c.size;
    if (size >= room)
        return size;
    if (a.size)
        memcpy(out, a.data, a.size);
    if (b.size)
        memcpy(out + a.size, b.data, b.size);
    if (c.size)
        memcpy(out + a.size + b.size, c.data, c.size);
    out[size] = 0;
    return size;
}

size_t bly_bitmap_key(const bly_bitmap *b, bly_bytes name, uint32_t shard, char *out, size_t room) {
    if (shard >= b->shards)
        return 0;
    const ending e = ending_of(name, shard, b->shards);
    return write_key((bly_bytes){NULL, 0}, name, (bly_bytes){e.text, e.size}, out, room);
}

/* After a tag, anything may follow. Without one, a tag that leads to the same slot comes first. */
size_t blyi_bitmap_arrival_key(const bly_bitmap *b, bly_bytes name, uint32_t shard, char *out,
                               size_t room) {
    static const char mark[] = ":arriving";
    char tag[BLYI_KEY_ROOM];
    if (shard >= b->shards)
        return 0;
    bly_bytes first = {tag, 0};
    ending e = ending_of(name, shard, b->shards);
    memcpy(e.text + e.size, mark, sizeof mark - 1);
    e.size += sizeof mark - 1;
    for (unsigned t = 0; !e.tagged; t++) {
        tag[0] = '{';
        char *end = put_number(tag + 1, t);
        e.tagged = crc16(0, tag + 1, (size_t)(end - tag - 1)) % BLYI_SLOTS == e.slot;
        *end++ = '}';
        *end++ = ':';
        first.size = (size_t)(end - tag);
    }
    return write_key(first, name, (bly_bytes){e.text, e.size}, out, room);
}
