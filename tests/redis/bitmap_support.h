/* bitmap_support.h - shared by the tests of filters on a plain server. */
#ifndef BLYT_BITMAP_SUPPORT_H
#define BLYT_BITMAP_SUPPORT_H

#include "support.h"

#include "redis/bitmap/bitmap_commands.h"
#include "redis/bitmap/bitmap_layout.h"
#include "redis/bitmap/bitmap_scripts.h"

#include <bloomery/redis/bitmap.h>

/* A reply of a server that is a text. blyt_error makes a reply that is an error. */
static inline bly_redis_value blyt_says(const void *data, size_t size) {
    return (bly_redis_value){.type = BLY_REDIS_TEXT, .text = {data, size}};
}

static inline bly_redis_value blyt_error(const char *words) {
    return (bly_redis_value){.type = BLY_REDIS_ERROR, .text = blyt_text(words)};
}

static inline bly_bitmap blyt_bitmap_plan(const bly_bitmap_spec *spec) {
    bly_bitmap b;
    assert_ok(bly_bitmap_plan(spec, &b));
    return b;
}

/* The shape of the test vectors in docs/format.md, section 22. Its stamp is fixed. */
static inline bly_bitmap blyt_golden_bitmap(void) {
    bly_bitmap b = {
        .form = BLY_BITMAP_NATIVE,
        .geometry = {.kind = BLY_SBBF, .hashes = 8, .size = 1000},
        .capacity = 20000,
        .fpr = 0.01,
        .shards = 3,
        .stamp = UINT64_C(0x0123456789abcdef),
    };
    assert_ok(bly_hasher_init(&b.hasher, BLY_HASH_FNV1A, 0));
    return b;
}

#endif
