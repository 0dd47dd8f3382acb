/* The spill map: exact counts of classes. Open addressing with linear probing, in Robin Hood order.
 *
 * The home of a class is slot mulhi(fmix64(id), slots), and the class is there or in one of the
 * slots after it, where slot 0 follows the last. Along a run of slots in use the entries are in the
 * order of their homes (Celis 1986); entries with the same home are in the order of their ids. So a
 * lookup ends not only at a free slot, but also at the first entry with a later home, and the bytes
 * of the map depend on what is in it, not on the order of adds (Blelloch and Golovin 2007).
 * Removing an entry moves the entries after it one slot back, up to one that is at its home. There
 * are no tombstones, so a map from which everything was removed consists of zero bytes.
 *
 * Seven eighths of the slots may be in use. Entries are then 3.5 slots from their home on average,
 * and in a map of a million slots the maximum was 42. Robin Hood order is the reason: with entries
 * in the order of adds, the maximum was 484 to 1073. No entry may be more than 255 slots from its
 * home, which bounds every lookup. Only keys chosen by an attacker can reach that limit.
 *
 * An entry is as small as the table allows: the id, bucket << f | remainder, in just enough bytes
 * (four for ten million keys at 1%, five at 0.1%), and six bytes of count. A count of 0 is a free
 * slot. All of it is little-endian. An entry is at least eight bytes long, so a word of eight bytes
 * can be read that begins where an entry begins, or that ends where an entry ends.
 */
#include "kinds/hybrid/hybrid_layout.h"

typedef struct spilled_class_id {
    uint64_t low, high; /* the first eight bytes, and those after them */
} spilled_class_id;

blyi_spilled_counts blyi_spilled_over(const bly_geometry *g, uint8_t *body) {
    uint64_t slots = blyi_size_of_class(g->detail);
    uint8_t *head = slots ? body + blyi_hybrid_spill_at(g) : NULL;
    return (blyi_spilled_counts){head, slots, g->hashes, blyi_hybrid_id_bytes(g)};
}

uint64_t blyi_spilled_used(const blyi_spilled_counts *s) {
    return s->head ? blyi_load64le(s->head) : 0;
}

uint64_t blyi_spilled_capacity(const blyi_spilled_counts *s) {
    return s->slots - (s->slots + 7) / 8;
}

/* ---- one entry ------------------------------------------------------------------------------- */

static inline size_t spilled_stride(const blyi_spilled_counts *s) {
    return s->id_bytes + BLYI_COUNT_BYTES;
}

static inline uint8_t *spilled_entry(const blyi_spilled_counts *s, uint64_t at) {
    return s->head + BLYI_SPILL_HEADER_BYTES + at * spilled_stride(s);
}

/* The id of a class. The shifts are valid, because a remainder has 6 to 55 bits. */
static inline spilled_class_id spilled_id(const blyi_spilled_counts *s, blyi_cuckoo_class c) {
    return (spilled_class_id){c.bucket << s->remainder_bits | c.remainder,
                              c.bucket >> (64 - s->remainder_bits)};
}

static inline blyi_cuckoo_class spilled_class(const blyi_spilled_counts *s, spilled_class_id id) {
    uint64_t remainder = id.low & (((uint64_t)1 << s->remainder_bits) - 1);
    return (blyi_cuckoo_class){id.high << (64 - s->remainder_bits) | id.low >> s->remainder_bits,
                               remainder};
}

static inline uint64_t spilled_low_bytes(uint64_t word, unsigned n) {
    return n >= 8 ? word : word & (((uint64_t)1 << 8 * n) - 1);
}

static inline spilled_class_id spilled_id_at(const blyi_spilled_counts *s, uint64_t at) {
    const uint8_t *e = spilled_entry(s, at);
    spilled_class_id id = {spilled_low_bytes(blyi_load64le(e), s->id_bytes), 0};
    if (s->id_bytes > 8)
        id.high = spilled_low_bytes(blyi_load64le(e + 6) >> 16, s->id_bytes - 8);
    return id;
}

uint64_t blyi_spilled_count(const blyi_spilled_counts *s, uint64_t at) {
    return blyi_load64le(spilled_entry(s, at) + s->id_bytes - 2) >> 16;
}

void blyi_spilled_set_count(blyi_spilled_counts *s, uint64_t at, uint64_t count) {
    uint8_t *word = spilled_entry(s, at) + s->id_bytes - 2;
    blyi_store64le(word, count << 16 | (blyi_load64le(word) & 0xffff));
}

static void spilled_write(blyi_spilled_counts *s, uint64_t at, spilled_class_id id,
                          uint64_t count) {
    uint8_t bytes[24];
    blyi_store64le(bytes, id.low);
    blyi_store64le(bytes + 8, id.high);
    blyi_store64le(bytes + s->id_bytes, count);
    memcpy(spilled_entry(s, at), bytes, spilled_stride(s));
}

/* ---- slots ----------------------------------------------------------------------------------- */

static inline uint64_t spilled_home(const blyi_spilled_counts *s, spilled_class_id id) {
    return blyi_mulhi(blyi_fmix64(id.low ^ id.high * BLYI_GOLD), s->slots);
}

static inline uint64_t spilled_next_slot(const blyi_spilled_counts *s, uint64_t at) {
    return at + 1 == s->slots ? 0 : at + 1;
}

/* How many slots the entry at `at` is away from its home. */
static inline uint64_t spilled_distance(const blyi_spilled_counts *s, uint64_t at,
                                        spilled_class_id id) {
    uint64_t home = spilled_home(s, id);
    return at >= home ? at - home : at + s->slots - home;
}

static inline bool spilled_same_id(spilled_class_id a, spilled_class_id b) {
    return a.low == b.low && a.high == b.high;
}

static inline bool spilled_id_less(spilled_class_id a, spilled_class_id b) {
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* Sets *present to whether the map has that id, *at to the slot where its entry is or would be
 * added, and *far to the distance of this slot from the id's home. Returns false if an added entry
 * would be too far from its home. */
static bool spilled_seek(const blyi_spilled_counts *s, spilled_class_id id, uint64_t *at,
                         uint64_t *far, bool *present) {
    uint64_t max = s->slots <= BLYI_MAX_DISTANCE ? s->slots : BLYI_MAX_DISTANCE + 1;
    *at = spilled_home(s, id);
    *present = false;
    for (*far = 0; *far < max; ++*far) {
        if (blyi_spilled_count(s, *at) == 0)
            return true;
        spilled_class_id other = spilled_id_at(s, *at);
        *present = spilled_same_id(id, other);
        if (*present)
            return true;
        uint64_t its = spilled_distance(s, *at, other);
        if (its < *far || (its == *far && spilled_id_less(id, other)))
            return true;
        *at = spilled_next_slot(s, *at);
    }
    return false;
}

uint64_t blyi_spilled_find(const blyi_spilled_counts *s, blyi_cuckoo_class c) {
    uint64_t at, far;
    bool present;
    return s->slots && spilled_seek(s, spilled_id(s, c), &at, &far, &present) && present
               ? at
               : BLYI_NO_SLOT;
}

/* Sets *end to the first free slot from `at` on, which always exists. Returns false if an entry
 * before it is too far from its home to be moved by one slot. */
static bool spilled_run_end(const blyi_spilled_counts *s, uint64_t at, uint64_t *end) {
    for (; blyi_spilled_count(s, at) != 0; at = spilled_next_slot(s, at))
        if (spilled_distance(s, at, spilled_id_at(s, at)) == BLYI_MAX_DISTANCE)
            return false;
    *end = at;
    return true;
}

bool blyi_spilled_add(blyi_spilled_counts *s, blyi_cuckoo_class c, uint64_t count) {
    spilled_class_id id = spilled_id(s, c);
    uint64_t at, far, end, used = blyi_spilled_used(s);
    bool present;
    if (used >= blyi_spilled_capacity(s) || !spilled_seek(s, id, &at, &far, &present) ||
        !spilled_run_end(s, at, &end))
        return false;
    while (end != at) {
        uint64_t before = end == 0 ? s->slots - 1 : end - 1;
        memcpy(spilled_entry(s, end), spilled_entry(s, before), spilled_stride(s));
        end = before;
    }
    spilled_write(s, at, id, count);
    blyi_store64le(s->head, used + 1);
    return true;
}

void blyi_spilled_remove(blyi_spilled_counts *s, uint64_t at) {
    for (uint64_t next = spilled_next_slot(s, at);; at = next, next = spilled_next_slot(s, at)) {
        if (blyi_spilled_count(s, next) == 0 ||
            spilled_distance(s, next, spilled_id_at(s, next)) == 0)
            break;
        memcpy(spilled_entry(s, at), spilled_entry(s, next), spilled_stride(s));
    }
    memset(spilled_entry(s, at), 0, spilled_stride(s));
    blyi_store64le(s->head, blyi_spilled_used(s) - 1);
}

/* ---- all entries ----------------------------------------------------------------------------- */

bool blyi_spilled_next(const blyi_spilled_counts *s, uint64_t *at, blyi_cuckoo_class *c) {
    for (; *at < s->slots; ++*at)
        if (blyi_spilled_count(s, *at) != 0) {
            *c = spilled_class(s, spilled_id_at(s, (*at)++));
            return true;
        }
    return false;
}

/* Adds the classes in the order of `from`, which is nearly the order in `s`, so that each goes to
 * the end of a run. */
bool blyi_spilled_add_all(blyi_spilled_counts *s, const blyi_spilled_counts *from) {
    blyi_cuckoo_class c;
    for (uint64_t at = 0; blyi_spilled_next(from, &at, &c);)
        if (!blyi_spilled_add(s, c, blyi_spilled_count(from, at - 1)))
            return false;
    return true;
}

bool blyi_spilled_is_valid(const blyi_spilled_counts *s, uint64_t buckets) {
    uint64_t used = 0;
    for (uint64_t at = 0; at < s->slots; at++) {
        spilled_class_id id = spilled_id_at(s, at);
        uint64_t count = blyi_spilled_count(s, at);
        blyi_cuckoo_class c = spilled_class(s, id);
        if (count == 0 && (id.low | id.high) == 0)
            continue;
        /* An entry that a lookup finds is in order: the lookup has passed the entries before it. */
        if (count <= BLYI_BACK_INLINE || c.bucket >= buckets || blyi_spilled_find(s, c) != at)
            return false;
        used++;
    }
    return used == blyi_spilled_used(s) && used <= blyi_spilled_capacity(s);
}
