/* levels_support.h - assembles files of filters that are made of levels. */
#ifndef BLYT_LEVELS_SUPPORT_H
#define BLYT_LEVELS_SUPPORT_H

#include "store_support.h"

/* Asserts that a file is refused because of a header: also by a map without verification, which
 * checks the headers alone. */
static void assert_refused_by_header(blyt_buffer im, bly_status want) {
    bly_map *map = (bly_map *)&im;
    assert_refused(im, NULL, want);
    assert_int_equal(bly_map_open(at("refused.bly"), NULL, &map), want);
    assert_null(map);
}

enum { MAX_PARTS = 60 };

/* Returns a file of that kind that contains the files in `parts`, and frees those. */
static blyt_buffer assemble(bly_kind kind, blyt_buffer *parts, size_t n, double rate) {
    blyt_buffer im = {calloc(1, HEADER), HEADER};
    uint64_t capacity = 0, items = 0, bits;
    memcpy(&bits, &rate, sizeof bits);
    for (size_t i = 0; i < n; i++) {
        capacity += load(parts[i].data + 24, 8);
        items += load(parts[i].data + 32, 8);
        assert_ok(blyt_sink(&im, parts[i].data, parts[i].size));
    }
    memcpy(im.data, parts[0].data, HEADER); /* magic, version, hash, flags, seed */
    im.data[5] = (uint8_t)kind;
    im.data[8] = (uint8_t)n;
    im.data[9] = 1;
    store(im.data + 10, 0, 2);
    store(im.data + 16, im.size - HEADER, 8);
    store(im.data + 24, capacity, 8);
    store(im.data + 32, items, 8);
    store(im.data + 48, bits, 8);
    fix_sums(im);
    for (size_t i = 0; i < n; i++)
        free(parts[i].data);
    return im;
}

static blyt_buffer part(bly_geometry g, uint64_t capacity, double rate, int from, int count) {
    bly_spec spec = bly_spec_for(g.kind, capacity, rate);
    bly_filter *f;
    spec.geometry = g;
    spec.seed = 0x5eed;
    assert_ok(bly_filter_create(&spec, &f));
    add_keys(f, "store", from, count);
    blyt_buffer im = blyt_write(f);
    bly_filter_destroy(f);
    return im;
}

#endif
