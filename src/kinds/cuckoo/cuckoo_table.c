/* The fingerprint table: finding, adding and removing entries.
 *
 * A new entry goes into its primary bucket, else into its other one. If both are full, some entry
 * must move to its own other bucket, which may evict a third entry, and so on. The shortest such
 * path is searched breadth first: from the two buckets, over the buckets that their entries could
 * move to, until one has a free slot. Then the entries of the path move, beginning at its free end:
 * each goes into the slot that the entry before it has left, and changes its role. Nothing is
 * written before the path is known, so a search that fails changes nothing, and every entry is in
 * one of its buckets at any time.
 *
 * (The usual method, to evict at random and continue with the victim, needs hundreds of moves where
 * this method needs at most five, and has a victim without a slot when it gives up.)
 *
 * The path found never visits a bucket twice: without the part between the two visits it would be
 * shorter, and the shorter path would have been found first.
 */
#include "kinds/cuckoo/cuckoo_table.h"

enum { MAX_EVICTION_NODES = 1024 }; /* buckets examined in one search */

/* A bucket on an eviction path. The entry in slot `slot` of node `from`'s bucket can move to it.
 */
typedef struct eviction_node {
    uint64_t bucket;
    uint16_t from;
    uint8_t slot;
} eviction_node;

static inline uint64_t table_get(const blyi_cuckoo_table *t, uint64_t bucket, unsigned i) {
    return blyi_slot_get(t->body, blyi_table_width(t), bucket * BLYI_BUCKET_SLOTS + i);
}

static inline void table_set(blyi_cuckoo_table *t, uint64_t bucket, unsigned i, uint64_t entry) {
    blyi_slot_set(t->body, blyi_table_width(t), bucket * BLYI_BUCKET_SLOTS + i, entry);
}

/* The role bit of a slot. */
static inline uint64_t table_role(const blyi_cuckoo_table *t) {
    return (uint64_t)1 << t->remainder_bits;
}

/* Returns the index of the bucket's first slot that contains `entry`, or of its first free slot if
 * `entry` is 0; BLYI_BUCKET_SLOTS if no slot does. */
static unsigned bucket_find(const blyi_cuckoo_table *t, uint64_t bucket, uint64_t entry) {
    unsigned i = 0;
    while (i < BLYI_BUCKET_SLOTS && table_get(t, bucket, i) != entry)
        i++;
    return i;
}

static unsigned bucket_count(const blyi_cuckoo_table *t, uint64_t bucket, uint64_t entry) {
    unsigned n = 0;
    for (unsigned i = 0; i < BLYI_BUCKET_SLOTS; i++)
        n += table_get(t, bucket, i) == entry;
    return n;
}

uint64_t blyi_table_find(const blyi_cuckoo_table *t, blyi_cuckoo_class c) {
    unsigned i = bucket_find(t, c.bucket, c.remainder);
    if (i == BLYI_BUCKET_SLOTS) {
        c.bucket = blyi_other_bucket(t, c.bucket, c.remainder);
        i = bucket_find(t, c.bucket, c.remainder | table_role(t));
    }
    return i == BLYI_BUCKET_SLOTS ? BLYI_NO_SLOT : c.bucket * BLYI_BUCKET_SLOTS + i;
}

unsigned blyi_table_count(const blyi_cuckoo_table *t, blyi_cuckoo_class c) {
    return bucket_count(t, c.bucket, c.remainder) +
           bucket_count(t, blyi_other_bucket(t, c.bucket, c.remainder),
                        c.remainder | table_role(t));
}

/* Moves an entry, with its count, to a free slot of its other bucket. */
static void evict_entry(blyi_cuckoo_table *t, uint64_t bucket, unsigned i, uint64_t next,
                        unsigned to) {
    table_set(t, next, to, table_get(t, bucket, i) ^ table_role(t));
    if (t->counts) {
        uint64_t slot = bucket * BLYI_BUCKET_SLOTS + i;
        blyi_slot_set_count(t, next * BLYI_BUCKET_SLOTS + to, blyi_slot_count(t, slot));
        blyi_slot_set_count(t, slot, 0);
    }
}

/* Moves the entries of a path, beginning at its free end: the first move is from slot i of
 * nodes[at] to slot `to` of `bucket`. Then writes `remainder` to the slot that the last move has
 * freed, and returns that slot. */
static uint64_t evict_path(blyi_cuckoo_table *t, const eviction_node *nodes, unsigned at,
                           unsigned i, uint64_t bucket, unsigned to, uint64_t remainder) {
    for (;;) {
        evict_entry(t, nodes[at].bucket, i, bucket, to);
        bucket = nodes[at].bucket;
        to = i;
        if (at < 2) /* nodes 0 and 1 are the key's buckets, 0 the primary one */
            break;
        i = nodes[at].slot;
        at = nodes[at].from;
    }
    table_set(t, bucket, to, at == 0 ? remainder : remainder | table_role(t));
    return bucket * BLYI_BUCKET_SLOTS + to;
}

uint64_t blyi_table_add(blyi_cuckoo_table *t, blyi_cuckoo_class c) {
    eviction_node nodes[MAX_EVICTION_NODES];
    unsigned n = 2;
    nodes[0].bucket = c.bucket;
    nodes[1].bucket = blyi_other_bucket(t, c.bucket, c.remainder);
    for (unsigned at = 0; at < 2; at++) {
        unsigned i = bucket_find(t, nodes[at].bucket, 0);
        if (i < BLYI_BUCKET_SLOTS) {
            table_set(t, nodes[at].bucket, i, at == 0 ? c.remainder : c.remainder | table_role(t));
            return nodes[at].bucket * BLYI_BUCKET_SLOTS + i;
        }
    }
    for (unsigned at = 0; at < n; at++) {
        for (unsigned i = 0; i < BLYI_BUCKET_SLOTS; i++) {
            uint64_t remainder = table_get(t, nodes[at].bucket, i) & (table_role(t) - 1);
            uint64_t next = blyi_other_bucket(t, nodes[at].bucket, remainder);
            unsigned to = bucket_find(t, next, 0);
            if (to < BLYI_BUCKET_SLOTS)
                return evict_path(t, nodes, at, i, next, to, c.remainder);
            if (n < MAX_EVICTION_NODES)
                nodes[n++] = (eviction_node){next, (uint16_t)at, (uint8_t)i};
        }
    }
    return BLYI_NO_SLOT;
}

bool blyi_table_remove(blyi_cuckoo_table *t, blyi_cuckoo_class c) {
    uint64_t slot = blyi_table_find(t, c);
    if (slot != BLYI_NO_SLOT)
        blyi_slot_set(t->body, blyi_table_width(t), slot, 0);
    return slot != BLYI_NO_SLOT;
}

bool blyi_table_add_all(blyi_cuckoo_table *t, const blyi_cuckoo_table *from) {
    blyi_cuckoo_class c;
    for (uint64_t slot = 0; blyi_table_next(from, &slot, &c);)
        if (!blyi_table_try_add(t, blyi_cuckoo_class_in(t, from, c)))
            return false;
    return true;
}
