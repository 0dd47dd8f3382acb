/* Putting entries into a fingerprint table.
 *
 * A new entry goes into its primary bucket, else into its other one. When both are full, some entry
 * must move to its own other bucket, perhaps pushing a third one, and so on. The shortest such
 * chain is searched breadth first: from the two buckets, over the buckets that their entries could
 * move to, until one has a free slot. Then the chain moves from the free end backwards, each entry
 * into the slot that the one after it has left, changing its role. Nothing is touched before the
 * chain is known, so a search that fails leaves no trace, and nothing is ever in neither place.
 *
 * (The usual way, to evict at random and go on with the victim, needs hundreds of moves where this
 * needs at most five, and a victim in hand when it gives up.)
 *
 * No chain found visits a bucket twice: the part between the two visits could be left out, and the
 * shorter chain would have been found first.
 */
#include "kinds/cuckoo/table.h"

enum { MAX_NODES = 1024 }; /* buckets looked at in one search */

/* A bucket that a chain can come to: by the entry in slot `slot` of the bucket of node `from`. */
typedef struct node {
    uint64_t bucket;
    uint16_t from;
    uint8_t slot;
} node;

static inline uint64_t get(const blyi_table *t, uint64_t bucket, unsigned i) {
    return blyi_slot_get(t->body, blyi_table_width(t), bucket * BLYI_BUCKET + i);
}

static inline void set(blyi_table *t, uint64_t bucket, unsigned i, uint64_t entry) {
    blyi_slot_set(t->body, blyi_table_width(t), bucket * BLYI_BUCKET + i, entry);
}

static inline uint64_t role(const blyi_table *t) {
    return (uint64_t)1 << t->rest;
}

/* The first slot of a bucket that holds `entry` (0: that is free); BLYI_BUCKET when none does. */
static unsigned find(const blyi_table *t, uint64_t bucket, uint64_t entry) {
    unsigned i = 0;
    while (i < BLYI_BUCKET && get(t, bucket, i) != entry)
        i++;
    return i;
}

static unsigned count(const blyi_table *t, uint64_t bucket, uint64_t entry) {
    unsigned n = 0;
    for (unsigned i = 0; i < BLYI_BUCKET; i++)
        n += get(t, bucket, i) == entry;
    return n;
}

uint64_t blyi_table_find(const blyi_table *t, blyi_class c) {
    unsigned i = find(t, c.bucket, c.rest);
    if (i == BLYI_BUCKET) {
        c.bucket = blyi_other_bucket(t, c.bucket, c.rest);
        i = find(t, c.bucket, c.rest | role(t));
    }
    return i == BLYI_BUCKET ? BLYI_NO_SLOT : c.bucket * BLYI_BUCKET + i;
}

unsigned blyi_table_count(const blyi_table *t, blyi_class c) {
    return count(t, c.bucket, c.rest) +
           count(t, blyi_other_bucket(t, c.bucket, c.rest), c.rest | role(t));
}

/* Moves an entry to a free slot of its other bucket. */
static void move(blyi_table *t, uint64_t bucket, unsigned i, uint64_t next, unsigned to) {
    set(t, next, to, get(t, bucket, i) ^ role(t));
    if (t->counts) {
        uint64_t slot = bucket * BLYI_BUCKET + i;
        blyi_slot_set_count(t, next * BLYI_BUCKET + to, blyi_slot_count(t, slot));
        blyi_slot_set_count(t, slot, 0);
    }
}

/* Moves the entries of a chain, whose last one goes from slot i of nodes[at] to slot `to` of
 * `bucket`, and puts `rest` where the first one was. Returns that slot. */
static uint64_t shift(blyi_table *t, const node *nodes, unsigned at, unsigned i, uint64_t bucket,
                      unsigned to, uint64_t rest) {
    for (;;) {
        move(t, nodes[at].bucket, i, bucket, to);
        bucket = nodes[at].bucket;
        to = i;
        if (at < 2) /* a root: 0 is the primary bucket */
            break;
        i = nodes[at].slot;
        at = nodes[at].from;
    }
    set(t, bucket, to, at == 0 ? rest : rest | role(t));
    return bucket * BLYI_BUCKET + to;
}

uint64_t blyi_table_place(blyi_table *t, blyi_class c) {
    node nodes[MAX_NODES];
    unsigned n = 2;
    nodes[0].bucket = c.bucket;
    nodes[1].bucket = blyi_other_bucket(t, c.bucket, c.rest);
    for (unsigned at = 0; at < 2; at++) {
        unsigned i = find(t, nodes[at].bucket, 0);
        if (i < BLYI_BUCKET) {
            set(t, nodes[at].bucket, i, at == 0 ? c.rest : c.rest | role(t));
            return nodes[at].bucket * BLYI_BUCKET + i;
        }
    }
    for (unsigned at = 0; at < n; at++) {
        for (unsigned i = 0; i < BLYI_BUCKET; i++) {
            uint64_t rest = get(t, nodes[at].bucket, i) & (role(t) - 1);
            uint64_t next = blyi_other_bucket(t, nodes[at].bucket, rest);
            unsigned to = find(t, next, 0);
            if (to < BLYI_BUCKET)
                return shift(t, nodes, at, i, next, to, c.rest);
            if (n < MAX_NODES)
                nodes[n++] = (node){next, (uint16_t)at, (uint8_t)i};
        }
    }
    return BLYI_NO_SLOT;
}

bool blyi_table_remove(blyi_table *t, blyi_class c) {
    uint64_t slot = blyi_table_find(t, c);
    if (slot != BLYI_NO_SLOT)
        blyi_slot_set(t->body, blyi_table_width(t), slot, 0);
    return slot != BLYI_NO_SLOT;
}

bool blyi_table_insert_all(blyi_table *t, const blyi_table *from) {
    blyi_class c;
    for (uint64_t slot = 0; blyi_table_next(from, &slot, &c);)
        if (!blyi_table_insert(t, blyi_class_in(t, from, c)))
            return false;
    return true;
}
