/* entries.h - what the kinds made of a fingerprint table have in common: their hooks. Internal.
 *
 * A kind adds to these how it stores an entry, which is where they differ.
 */
#ifndef BLYI_KINDS_CUCKOO_ENTRIES_H
#define BLYI_KINDS_CUCKOO_ENTRIES_H

#include "kinds/cuckoo/table.h"

#define BLYI_ENTRIES_CAN                                                                           \
    (BLY_CAN_ADD | BLY_CAN_UNION | BLY_CAN_INTERSECT | BLY_CAN_OVERLAP | BLY_CAN_MAP |             \
     BLY_CAN_REMOVE | BLY_CAN_SUBTRACT | BLY_TELLS_COPIES | BLY_HAS_SLOTS)

/* Stores a copy of a class of f's table as it is now, without counting it. BLY_EFULL, or why the
 * table could not grow: no byte has changed then. */
typedef bly_status blyi_store_fn(bly_filter *f, blyi_class c);

/* blyi_ops.try_add_many and .unite, given the kind's way of storing. */
bly_status blyi_entries_put(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                            bly_tally *sum, blyi_store_fn *store);
bly_status blyi_entries_unite(bly_filter *dst, const bly_filter *src, blyi_store_fn *store);

/* What else is made of such a table can use these.
 *
 * blyi_ops.prefetch of a table, its counts included. */
void blyi_table_prefetch(const blyi_table *t, const bly_hash *h, size_t n);
/* Whether every entry is one that a key can have left, and the bits after the last are 0; *used is
 * the number of entries. */
bool blyi_table_sound(const blyi_table *t, uint64_t *used);
/* Whether the entry in that slot, of class c, is the first of its class. */
bool blyi_entry_is_first(const blyi_table *t, uint64_t slot, blyi_class c);
/* Fills in what statistics say of the entries: set_bits, fill, estimated_keys and, given the hash's
 * floor, predicted_fpr and current_fpr. */
void blyi_table_stats(const blyi_table *t, const bly_geometry *g, double floor, bly_stats *out);
/* blyi_ops.estimate_overlap of two tables with so many entries. */
void blyi_table_overlap(const bly_filter *a, double in_a, const bly_filter *b, double in_b,
                        bly_overlap *out);
/* dst becomes what `copy`, a changed clone of it, is; that one is destroyed. */
void blyi_entries_replace(bly_filter *dst, bly_filter *copy);

/* The hooks of blyi_ops by these names. */
void blyi_entries_prefetch(const bly_filter *f, const bly_hash *h, size_t n);
size_t blyi_entries_contains(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found);
size_t blyi_entries_ask(const bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *found);
size_t blyi_entries_ask_hashes(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found);
bly_status blyi_entries_take(bly_filter *f, bly_hash h, bool *removed);
uint64_t blyi_entries_copies(const bly_filter *f, bly_hash h);
bool blyi_entries_sound(const blyi_shape *shape, const uint8_t *body);
void blyi_entries_stats(const bly_filter *f, bly_stats *out);
bly_status blyi_entries_intersect(bly_filter *dst, const bly_filter *src);
bly_status blyi_entries_subtract(bly_filter *dst, const bly_filter *src);
bly_status blyi_entries_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out);
bool blyi_entries_equal(const bly_filter *a, const bly_filter *b);

#endif
