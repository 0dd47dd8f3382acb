/* The cuckoo filter: a fingerprint table (Fan, Andersen, Kaminsky and Mitzenmacher 2014).
 *
 * The idea: keep of each key a few bits of its hash, its remainder, in one of two buckets that the
 * hash names. A key is present when its remainder is in either, and leaves when a copy is taken
 * out. When both buckets are full, entries move to their own other bucket until there is room
 * (table.c); so the other bucket must follow from what an entry shows: the bucket it is in and its
 * remainder.
 *
 * This table differs from the usual one in three ways (table.h has the exact rules):
 *
 * - Any number of buckets. The usual other bucket is b XOR hash(remainder), which needs a power of
 *   two, and wastes up to half the memory. Here it is sum(core) - b modulo m, which is its own
 *   inverse too.
 *
 * - Roles. A bit in each slot tells whether the entry is in its first or its second bucket. It is
 *   free: an entry now only matches queries that come to it by the same way, half as many, so a
 *   remainder of one bit less has the same rate. And it makes an entry tell its class, bucket and
 *   remainder as the hash gave them, which is what growth, union and intersection live on.
 *
 * - The core. Only the low 9 bits of a remainder choose the sum, so the others may be given up
 *   (growable.c).
 *
 * Buckets of four slots. The share of slots that can be used is 0.87 with two, 0.935 with three,
 * 0.97 with four; with eight 0.987, but a query then meets twice as many remainders, which costs
 * a bit in each.
 *
 * Rate 4 load / 2^f: 9, 12, 16, 19 bits at 1%, 0.1%, 0.01%, 0.001%, in slots of one bit more, 0.96
 * of which are in use (plan_cuckoo.c).
 *
 * Body: the slots, f + 1 bits each, one after the other from bit 0 on; 64 bits that are 0.
 */
#include "kinds/cuckoo/entries.h"

#include <bloomery/cuckoo.h>

static bly_status store(bly_filter *f, blyi_class c) {
    blyi_table t = blyi_table_of(f);
    return blyi_table_insert(&t, c) ? BLY_OK : BLY_EFULL;
}

static bly_status put(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added, bly_tally *sum) {
    return blyi_entries_put(f, h, n, added, sum, store);
}

static bly_status unite(bly_filter *dst, const bly_filter *src) {
    return blyi_entries_unite(dst, src, store);
}

bly_status bly_cuckoo_create(uint64_t keys, double fpr, bly_filter **out) {
    bly_spec spec = bly_spec_for(BLY_CUCKOO, keys, fpr);
    return bly_filter_create(&spec, out);
}

static const blyi_ops cuckoo_ops = {
    .capabilities = BLYI_ENTRIES_CAN | BLY_LIMITS_COPIES,
    .prefetch = blyi_entries_prefetch,
    .try_add_many = put,
    .contains_many = blyi_entries_contains,
    .contains_keys_pipelined = blyi_entries_ask,
    .contains_hashes_pipelined = blyi_entries_ask_hashes,
    .remove_one = blyi_entries_take,
    .count_copies = blyi_entries_copies,
    .body_is_valid = blyi_entries_sound,
    .fill_stats = blyi_entries_stats,
    .union_with = unite,
    .intersect_with = blyi_entries_intersect,
    .subtract_from = blyi_entries_subtract,
    .estimate_overlap = blyi_entries_overlap,
    .is_equal = blyi_entries_equal,
    .prefetch_reads_no_body = true,
};

const blyi_kind blyi_kind_cuckoo = {
    .code = BLY_CUCKOO,
    .name = "cuckoo",
    .meaning = "fingerprints in buckets; keys can be removed",
    .reason = "keys can be removed; smaller than a Bloom filter below 0.2%, and two cache lines",
    .hashes_name = "bits of a remainder",
    .size_unit = "bucket",
    .describe_rest = blyi_table_describe,
    .planner = &blyi_cuckoo_planner,
    .ops = &cuckoo_ops,
};
