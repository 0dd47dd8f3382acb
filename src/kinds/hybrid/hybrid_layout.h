/* hybrid_layout.h - the parts of a hybrid filter's body, and its map of spilled counts. Internal.
 * hybrid.c explains them.
 *
 *     slots of the fingerprint table | a half byte for each slot | spill map, if detail is not 0
 *
 * Each part begins at a multiple of 64 bytes. The spill map begins with the number of entries in
 * use, 8 bytes. Then come blyi_size_of_class(detail) entries, each with an id and a count.
 */
#ifndef BLYI_KINDS_HYBRID_LAYOUT_H
#define BLYI_KINDS_HYBRID_LAYOUT_H

#include "base/size_class.h"
#include "kinds/cuckoo/cuckoo_table.h"

enum {
    BLYI_MAX_INLINE = 14,        /* the most copies that a half byte counts */
    BLYI_SPILLED = 15,           /* the half byte if the count is larger, and so in the map */
    BLYI_BACK_INLINE = 8,        /* a count in the map that falls to this moves back */
    BLYI_SPILL_HEADER_BYTES = 8, /* bytes before the map's entries */
    BLYI_COUNT_BYTES = 6,        /* bytes of a count in the map */
    BLYI_MAX_DISTANCE = 255,     /* the most slots from an entry's home to the entry */
};

/* The maximum number of copies of a class. */
#define BLYI_MAX_COUNTED (((uint64_t)1 << 8 * BLYI_COUNT_BYTES) - 1)

/* Where in the body the counts of the slots (half bytes) begin. */
static inline uint64_t blyi_hybrid_counts_at(const bly_geometry *g) {
    return (blyi_table_bits(g) + 511) / 512 * 64;
}

/* Where in the body the spill map begins. */
static inline uint64_t blyi_hybrid_spill_at(const bly_geometry *g) {
    return blyi_hybrid_counts_at(g) + (g->size * BLYI_BUCKET_SLOTS / 2 + 63) / 64 * 64;
}

/* The size in bytes, 2 to 12, of a class's id in the map: bucket << f | remainder. */
static inline unsigned blyi_hybrid_id_bytes(const bly_geometry *g) {
    unsigned bits = g->hashes;
    for (uint64_t last = g->size - 1; last != 0; last >>= 1)
        bits++;
    return bits <= 16 ? 2 : (bits + 7) / 8;
}

/* The fingerprint table, with its counts. */
static inline blyi_cuckoo_table blyi_hybrid_table_over(const bly_geometry *g, uint8_t *body) {
    blyi_cuckoo_table t = blyi_table_over(g, body);
    t.counts = body + blyi_hybrid_counts_at(g);
    return t;
}

static inline blyi_cuckoo_table blyi_hybrid_table(const bly_filter *f) {
    return blyi_hybrid_table_over(&f->geometry, f->body);
}

/* ---- the spill map: exact counts of classes (hybrid_spilled_counts.c) -------------------------
 *
 * Functions that take a const map are memory-safe for any contents, and a lookup ends after at most
 * BLYI_MAX_DISTANCE + 1 entries. The other functions require a valid map.
 */

typedef struct blyi_spilled_counts {
    uint8_t *head; /* NULL when there is no map */
    uint64_t slots;
    unsigned remainder_bits; /* f */
    unsigned id_bytes;       /* bytes of an entry's id; the count follows the id */
} blyi_spilled_counts;

/* The map of a body of that geometry. */
blyi_spilled_counts blyi_spilled_over(const bly_geometry *g, uint8_t *body);

/* The number of entries in use. */
uint64_t blyi_spilled_used(const blyi_spilled_counts *s);

/* The maximum number of entries in use. */
uint64_t blyi_spilled_capacity(const blyi_spilled_counts *s);

/* The slot of a class; BLYI_NO_SLOT if the map does not have it. */
uint64_t blyi_spilled_find(const blyi_spilled_counts *s, blyi_cuckoo_class c);

/* The count in a slot; 0 if the slot is free. */
uint64_t blyi_spilled_count(const blyi_spilled_counts *s, uint64_t at);

/* Replaces the count in a slot that is in use. `count` must not be 0. */
void blyi_spilled_set_count(blyi_spilled_counts *s, uint64_t at, uint64_t count);

/* Adds a class that the map does not have. Returns false, and changes nothing, if there is no
 * room. */
bool blyi_spilled_add(blyi_spilled_counts *s, blyi_cuckoo_class c, uint64_t count);

/* Removes the entry in a slot that is in use. */
void blyi_spilled_remove(blyi_spilled_counts *s, uint64_t at);

/* Adds all classes of `from`, with their counts, to `s`, which must be empty. Returns false if
 * there is no room for one of them. */
bool blyi_spilled_add_all(blyi_spilled_counts *s, const blyi_spilled_counts *from);

/* Iterates over the slots in use. Set *at to 0 before the first call. Each call sets *at to the
 * slot after the entry that it finds, and *c to the class of the entry. Returns false after the
 * last entry. */
bool blyi_spilled_next(const blyi_spilled_counts *s, uint64_t *at, blyi_cuckoo_class *c);

/* Whether the map is valid. It must have as many entries as its header says, and at most its
 * capacity. Each must be where a lookup finds it (so no class occurs twice), with a class below m
 * 2^f and a count above BLYI_BACK_INLINE. All other bytes must be 0. */
bool blyi_spilled_is_valid(const blyi_spilled_counts *s, uint64_t buckets);

#endif
