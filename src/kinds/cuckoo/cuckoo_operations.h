/* cuckoo_operations.h - operations on a fingerprint table that the kinds made of one share: cuckoo,
 * growable-cuckoo, scalable-cuckoo and hybrid. Internal. cuckoo.c implements the operations,
 * cuckoo_pipeline.c the lookups.
 */
#ifndef BLYI_KINDS_CUCKOO_OPERATIONS_H
#define BLYI_KINDS_CUCKOO_OPERATIONS_H

#include "kinds/cuckoo/cuckoo_table.h"

#define BLYI_CUCKOO_CAPABILITIES                                                                   \
    (BLY_CAN_ADD | BLY_CAN_UNION | BLY_CAN_INTERSECT | BLY_CAN_OVERLAP | BLY_CAN_MAP |             \
     BLY_CAN_REMOVE | BLY_CAN_SUBTRACT | BLY_CAN_COUNT | BLY_HAS_SLOTS)

/* Adds an entry of class c, which is a class of f's table at its present size, without counting it
 * in f->items. Each kind has such a function. Returns BLY_OK; BLY_EFULL if there is no room; or
 * another status if the table could not grow. A failed call changes nothing. */
typedef bly_status blyi_cuckoo_add_fn(bly_filter *f, blyi_cuckoo_class c);

/* blyi_ops.try_add_many and blyi_ops.union_with. `add` is the kind's function that adds an
 * entry. */
bly_status blyi_cuckoo_add_many(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added,
                                bly_batch_result *sum, blyi_cuckoo_add_fn *add);
bly_status blyi_cuckoo_union(bly_filter *dst, const bly_filter *src, blyi_cuckoo_add_fn *add);

/* The other operations of blyi_ops. */
void blyi_cuckoo_prefetch(const bly_filter *f, const bly_hash *h, size_t n);
size_t blyi_cuckoo_contains_many(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found);
size_t blyi_cuckoo_contains_keys(const bly_filter *f, const bly_bytes *keys, size_t n,
                                 uint8_t *found);
size_t blyi_cuckoo_contains_hashes(const bly_filter *f, const bly_hash *h, size_t n,
                                   uint8_t *found);
bly_status blyi_cuckoo_remove_one(bly_filter *f, bly_hash h, bool *removed);
uint64_t blyi_cuckoo_count_copies(const bly_filter *f, bly_hash h);
bool blyi_cuckoo_body_is_valid(const blyi_shape *shape, const uint8_t *body);
void blyi_cuckoo_fill_stats(const bly_filter *f, bly_filter_info *out);
bly_status blyi_cuckoo_intersect(bly_filter *dst, const bly_filter *src);
bly_status blyi_cuckoo_subtract(bly_filter *dst, const bly_filter *src);
bly_status blyi_cuckoo_overlap(const bly_filter *a, const bly_filter *b, bly_overlap *out);
bool blyi_cuckoo_equal(const bly_filter *a, const bly_filter *b);

/* blyi_ops.prefetch for a table and its counts. */
void blyi_table_prefetch(const blyi_cuckoo_table *t, const bly_hash *h, size_t n);
/* Whether every entry is one that a key can have, and the bits after the last slot are 0. Sets
 * *used to the number of entries. */
bool blyi_table_is_valid(const blyi_cuckoo_table *t, uint64_t *used);
/* Whether the entry in that slot, of class c, is the first copy of its class. */
bool blyi_entry_is_first(const blyi_cuckoo_table *t, uint64_t slot, blyi_cuckoo_class c);
/* Fills in the statistics that follow from the entries: set_bits, fill, estimated_keys,
 * expected_fpr and current_fpr. `floor` is the probability of a collision of whole hashes. It is
 * added to both FPRs. */
void blyi_table_stats(const blyi_cuckoo_table *t, const bly_geometry *g, double floor,
                      bly_filter_info *out);
/* blyi_ops.estimate_overlap of two tables with in_a and in_b entries. */
void blyi_table_overlap(const bly_filter *a, double in_a, const bly_filter *b, double in_b,
                        bly_overlap *out);
/* Replaces dst by `copy`, a changed clone of dst, and frees the old contents of dst. */
void blyi_cuckoo_replace(bly_filter *dst, bly_filter *copy);

#endif
