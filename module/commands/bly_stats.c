/* bly_stats.c - BLY.STATS: measures the fill and false-positive rate in one pass over a filter. */
#include "command_table.h"
#include "commands/bly.h"
#include "commands/command_reply.h"
#include "config.h"

#include <bloomery/host/redisbloom.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- RedisBloom's structures ----------------------------------------------------------------- */

static uint64_t count_set_bits(bly_bytes bytes) {
    const uint8_t *from = bytes.data;
    uint64_t n = 0, word;
    size_t i = 0;
    for (; i + sizeof word <= bytes.size; i += sizeof word) {
        memcpy(&word, from + i, sizeof word);
        n += (uint64_t)__builtin_popcountll(word);
    }
    for (; i < bytes.size; i++)
        n += (uint64_t)__builtin_popcount(from[i]);
    return n;
}

/* A non-member is a false positive if all of its bits are set in at least one link. */
static bly_filter_info bloom_stats(const bly_rb_bloom *f) {
    bly_rb_bloom_info info = bly_rb_bloom_get_info(f);
    bly_filter_info s = {.struct_size = sizeof s,
                         .hashes = (uint32_t)info.links,
                         .capacity = info.capacity,
                         .count = info.items,
                         .bytes = info.memory};
    double passes = 1, predicted = 1, expected = 0;
    for (uint64_t i = 0; i < info.links; i++) {
        bly_rb_link link = bly_rb_bloom_link(f, i);
        double bits = (double)(8 * link.bitmap.size), k = (double)link.hashes;
        uint64_t set = count_set_bits(link.bitmap);
        double fill = (double)set / bits;
        double filled = -expm1(-k * (double)link.items / bits);
        s.bits += 8 * link.bitmap.size;
        s.set_bits += set;
        s.estimated_keys += -bits / k * log1p(-fill);
        expected += filled * bits;
        passes *= 1 - pow(fill, k);
        predicted *= 1 - pow(filled, k);
    }
    s.fill = (double)s.set_bits / (double)s.bits;
    s.expected_fill = expected / (double)s.bits;
    s.expected_fpr = 1 - predicted;
    s.current_fpr = 1 - passes;
    return s;
}

/* In each sub-filter, the fingerprint of a non-member is compared with those in two buckets. A
 * fingerprint has one of 255 values. */
static bly_filter_info cuckoo_stats(const bly_rb_cuckoo *f) {
    bly_rb_cuckoo_info info = bly_rb_cuckoo_get_info(f);
    bly_filter_info s = {.struct_size = sizeof s,
                         .hashes = (uint32_t)info.filters,
                         .capacity = info.data_bytes,
                         .count = info.items,
                         .bytes = info.memory,
                         .expected_fill = (double)info.items / (double)info.data_bytes};
    uint64_t used = 0;
    double compared = 0;
    for (uint64_t i = 0; i < info.filters; i++) {
        bly_rb_sub sub = bly_rb_cuckoo_sub(f, i);
        const uint8_t *slots = sub.slots.data;
        uint64_t sub_used = 0;
        for (size_t j = 0; j < sub.slots.size; j++)
            sub_used += slots[j] != 0;
        used += sub_used;
        compared += 2 * (double)info.bucket_size * (double)sub_used / (double)sub.slots.size;
    }
    s.bits = 8 * info.data_bytes;
    s.set_bits = 8 * used;
    s.fill = (double)used / (double)info.data_bytes;
    s.estimated_keys = (double)used;
    s.current_fpr = s.expected_fpr = -expm1(compared * log1p(-1.0 / 255));
    return s;
}

/* ---- the reply ------------------------------------------------------------------------------- */

static bly_filter_info measure(const bm_value *value) {
    bly_filter_info s = {.struct_size = sizeof s};
    if (value->type == BM_RB_BLOOM)
        s = bloom_stats(value->as.bloom);
    else if (value->type == BM_RB_CUCKOO)
        s = cuckoo_stats(value->as.cuckoo);
    else
        bly_filter_get_info(value->as.filter, &s);
    s.requested_fpr = bm_bly_rate(value);
    return s;
}

static void add_warning(bm_reply_map *map, const bm_value *value, const bly_filter_info *s) {
    char text[160];
    double max_ratio = bm_configs.warn_ratio;
    bool only_counts = bly_kind_capabilities(s->kind) & BLY_CARDINALITY_ONLY;
    if (!only_counts && s->current_fpr > max_ratio * s->requested_fpr)
        snprintf(text, sizeof text,
                 "the false-positive rate is %.3g times the requested one: create a larger filter",
                 s->current_fpr / s->requested_fpr);
    else if (bm_value_is_overfull(value))
        snprintf(text, sizeof text,
                 "the filter has %.3g times as many keys as its capacity: create a larger one",
                 (double)s->count / (double)s->capacity);
    else {
        bm_map_null(map, "warning");
        return;
    }
    bm_map_text(map, "warning", text);
}

int bm_bly_stats(rm_ctx *ctx, rm_string **argv, int argc) {
    bm_key key;
    if (argc != 2)
        return rm.WrongArity(ctx);
    if (!bm_bly_open(ctx, argv[1], RM_READ, &key))
        return RM_OK;
    bly_filter_info s = measure(key.value);
    bm_reply_map map = {.n = 0};
    bm_map_text(&map, "kind", bm_bly_kind(key.value));
    bm_map_number(&map, "capacity", s.capacity);
    bm_map_number(&map, "count", s.count);
    bm_map_double(&map, "estimated_keys", s.estimated_keys);
    bm_map_number(&map, "bytes", key.value->account.bytes);
    bm_map_number(&map, "bits", s.bits);
    bm_map_number(&map, "set_bits", s.set_bits);
    bm_map_double(&map, "fill", s.fill);
    bm_map_double(&map, "expected_fill", s.expected_fill);
    bm_map_double(&map, "rate_requested", s.requested_fpr);
    bm_map_double(&map, "rate_expected", s.expected_fpr);
    bm_map_double(&map, "rate_current", s.current_fpr);
    bm_map_double(&map, "ratio", s.current_fpr / s.requested_fpr);
    bm_map_bool(&map, "approximate", s.approximate);
    bm_map_number(&map, "stuck", s.stuck);
    bm_map_double(&map, "miss_bound", s.miss_bound);
    add_warning(&map, key.value, &s);
    bm_map_reply(ctx, &map);
    bm_key_close(&key);
    return RM_OK;
}
