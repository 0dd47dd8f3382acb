/* The spill map: open addressing with linear probing, in the order of Robin Hood.
 *
 * A class belongs at mulhi(fmix64(id), slots), and is there or at one of the places after it, the
 * first place following the last. Along a run of places in use the entries are in the order in
 * which they belong (Celis 1986), those that belong at the same place in the order of their ids. So
 * a look-up ends not only at a free place, but at the first entry that belongs later; and what is
 * in the map, not in which order it came, decides its bytes (Blelloch and Golovin 2007). Leaving a
 * place moves the entries after it one back, up to one that is where it belongs: no marks of what
 * was deleted, so a map from which everything left is empty to the last bit.
 *
 * Seven eighths of the places may be in use. Entries then lie 3.5 places from where they belong on
 * average, and in a map of a million places the farthest was 42 away. The order makes that so: in
 * the order of their coming, the farthest was 484 to 1073 away. More than 255 is not allowed, which
 * bounds every look-up, and which only keys chosen for the purpose can reach.
 *
 * An entry is as small as the table allows: the id, bucket << f | remainder, in just enough bytes
 * (four for ten million keys at 1%, five at 0.1%), and six bytes of count. A count of 0 is a free
 * place. All of it is little-endian. An entry is at least eight bytes long, so words of eight bytes
 * can be read that end, or begin, where an entry does.
 */
#include "kinds/hybrid/hybrid_spill.h"

typedef struct class_id {
    uint64_t low, high; /* the first eight bytes, and those after them */
} class_id;

blyi_spilled blyi_spilled_over(const bly_geometry *g, uint8_t *body) {
    uint64_t slots = blyi_size_of_class(g->detail);
    uint8_t *head = slots ? body + blyi_hybrid_spill_at(g) : NULL;
    return (blyi_spilled){head, slots, g->hashes, blyi_hybrid_id_bytes(g)};
}

uint64_t blyi_spilled_used(const blyi_spilled *s) {
    return s->head ? blyi_load64le(s->head) : 0;
}

uint64_t blyi_spilled_room(const blyi_spilled *s) {
    return s->slots - (s->slots + 7) / 8;
}

/* ---- one entry ------------------------------------------------------------------------------- */

static inline size_t stride(const blyi_spilled *s) {
    return s->id_bytes + BLYI_COUNT_BYTES;
}

static inline uint8_t *entry(const blyi_spilled *s, uint64_t at) {
    return s->head + BLYI_SPILL_HEAD + at * stride(s);
}

/* A remainder has 6 to 55 bits. */
static inline class_id id_of(const blyi_spilled *s, blyi_class c) {
    return (class_id){c.bucket << s->rest | c.rest, c.bucket >> (64 - s->rest)};
}

static inline blyi_class class_of(const blyi_spilled *s, class_id id) {
    uint64_t rest = id.low & (((uint64_t)1 << s->rest) - 1);
    return (blyi_class){id.high << (64 - s->rest) | id.low >> s->rest, rest};
}

static inline uint64_t low_bytes(uint64_t word, unsigned n) {
    return n >= 8 ? word : word & (((uint64_t)1 << 8 * n) - 1);
}

static inline class_id id_at(const blyi_spilled *s, uint64_t at) {
    const uint8_t *e = entry(s, at);
    class_id id = {low_bytes(blyi_load64le(e), s->id_bytes), 0};
    if (s->id_bytes > 8)
        id.high = low_bytes(blyi_load64le(e + 6) >> 16, s->id_bytes - 8);
    return id;
}

uint64_t blyi_spilled_count(const blyi_spilled *s, uint64_t at) {
    return blyi_load64le(entry(s, at) + s->id_bytes - 2) >> 16;
}

void blyi_spilled_set(blyi_spilled *s, uint64_t at, uint64_t count) {
    uint8_t *word = entry(s, at) + s->id_bytes - 2;
    blyi_store64le(word, count << 16 | (blyi_load64le(word) & 0xffff));
}

static void write_entry(blyi_spilled *s, uint64_t at, class_id id, uint64_t count) {
    uint8_t bytes[24];
    blyi_store64le(bytes, id.low);
    blyi_store64le(bytes + 8, id.high);
    blyi_store64le(bytes + s->id_bytes, count);
    memcpy(entry(s, at), bytes, stride(s));
}

/* ---- places ---------------------------------------------------------------------------------- */

static inline uint64_t home_of(const blyi_spilled *s, class_id id) {
    return blyi_mulhi(blyi_fmix64(id.low ^ id.high * BLYI_GOLD), s->slots);
}

static inline uint64_t after(const blyi_spilled *s, uint64_t at) {
    return at + 1 == s->slots ? 0 : at + 1;
}

/* How far the entry at `at` is from where it belongs. */
static inline uint64_t distance(const blyi_spilled *s, uint64_t at, class_id id) {
    uint64_t home = home_of(s, id);
    return at >= home ? at - home : at + s->slots - home;
}

static inline bool same(class_id a, class_id b) {
    return a.low == b.low && a.high == b.high;
}

static inline bool less(class_id a, class_id b) {
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* Where an entry of that id is, or would be put: *far places from home. False when that is too far
 * from it; else *there tells which of the two. */
static bool seek(const blyi_spilled *s, class_id id, uint64_t *at, uint64_t *far, bool *there) {
    uint64_t most = s->slots <= BLYI_FARTHEST ? s->slots : BLYI_FARTHEST + 1;
    *at = home_of(s, id);
    *there = false;
    for (*far = 0; *far < most; ++*far) {
        if (blyi_spilled_count(s, *at) == 0)
            return true;
        class_id other = id_at(s, *at);
        *there = same(id, other);
        if (*there)
            return true;
        uint64_t its = distance(s, *at, other);
        if (its < *far || (its == *far && less(id, other)))
            return true;
        *at = after(s, *at);
    }
    return false;
}

uint64_t blyi_spilled_find(const blyi_spilled *s, blyi_class c) {
    uint64_t at, far;
    bool there;
    return s->slots && seek(s, id_of(s, c), &at, &far, &there) && there ? at : BLYI_NO_SLOT;
}

/* The end of the run of places in use that `at` is in: a free place, which there is. False when an
 * entry before it could not be moved on. */
static bool run_end(const blyi_spilled *s, uint64_t at, uint64_t *end) {
    for (; blyi_spilled_count(s, at) != 0; at = after(s, at))
        if (distance(s, at, id_at(s, at)) == BLYI_FARTHEST)
            return false;
    *end = at;
    return true;
}

bool blyi_spilled_insert(blyi_spilled *s, blyi_class c, uint64_t count) {
    class_id id = id_of(s, c);
    uint64_t at, far, end, used = blyi_spilled_used(s);
    bool there;
    if (used >= blyi_spilled_room(s) || !seek(s, id, &at, &far, &there) || !run_end(s, at, &end))
        return false;
    while (end != at) {
        uint64_t before = end == 0 ? s->slots - 1 : end - 1;
        memcpy(entry(s, end), entry(s, before), stride(s));
        end = before;
    }
    write_entry(s, at, id, count);
    blyi_store64le(s->head, used + 1);
    return true;
}

void blyi_spilled_erase(blyi_spilled *s, uint64_t at) {
    for (uint64_t next = after(s, at);; at = next, next = after(s, at)) {
        if (blyi_spilled_count(s, next) == 0 || distance(s, next, id_at(s, next)) == 0)
            break;
        memcpy(entry(s, at), entry(s, next), stride(s));
    }
    memset(entry(s, at), 0, stride(s));
    blyi_store64le(s->head, blyi_spilled_used(s) - 1);
}

/* ---- all of them ----------------------------------------------------------------------------- */

bool blyi_spilled_next(const blyi_spilled *s, uint64_t *at, blyi_class *c) {
    for (; *at < s->slots; ++*at)
        if (blyi_spilled_count(s, *at) != 0) {
            *c = class_of(s, id_at(s, (*at)++));
            return true;
        }
    return false;
}

/* In the order of `from`, which is nearly the order in `s`: so each is put at the end of a run. */
bool blyi_spilled_insert_all(blyi_spilled *s, const blyi_spilled *from) {
    blyi_class c;
    for (uint64_t at = 0; blyi_spilled_next(from, &at, &c);)
        if (!blyi_spilled_insert(s, c, blyi_spilled_count(from, at - 1)))
            return false;
    return true;
}

bool blyi_spilled_sound(const blyi_spilled *s, uint64_t buckets) {
    uint64_t used = 0;
    for (uint64_t at = 0; at < s->slots; at++) {
        class_id id = id_at(s, at);
        uint64_t count = blyi_spilled_count(s, at);
        blyi_class c = class_of(s, id);
        if (count == 0 && (id.low | id.high) == 0)
            continue;
        /* What a look-up finds is in order, too: it has passed the entries before it. */
        if (count <= BLYI_BACK_INLINE || c.bucket >= buckets || blyi_spilled_find(s, c) != at)
            return false;
        used++;
    }
    return used == blyi_spilled_used(s) && used <= blyi_spilled_room(s);
}
