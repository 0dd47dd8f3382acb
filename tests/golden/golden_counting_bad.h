/* golden_counting_bad.h - damaged counting filters, sketches and overlays. Included only by
 * make_golden.c. */
#ifndef BLYT_GOLDEN_COUNTING_BAD_H
#define BLYT_GOLDEN_COUNTING_BAD_H

static const kind_lie counting_lies[] = {
    {"counting-fnv1a", {"counting-k-0.ECORRUPT", 8, 1, 0}},
    {"counting-fnv1a", {"counting-k-65.ECORRUPT", 8, 1, 65}},
    {"counting-fnv1a", {"counting-width-2.ECORRUPT", 9, 1, 2}},
    {"counting-fnv1a", {"counting-sub-8.ECORRUPT", 10, 2, 8}},
    {"counting-fnv1a", {"counting-3-bits.ECORRUPT", 9, 3, 0x0303}},
    {"counting-fnv1a", {"counting-1-bit.ECORRUPT", 9, 3, 0x0101}},
    {"counting-fnv1a", {"counting-32-bits.ECORRUPT", 9, 3, 0x2020}},
    {"counting-fnv1a", {"counting-foldable.ECORRUPT", 7, 1, 4}},
    {"counting-fnv1a", {"counting-size-63.ECORRUPT", 16, 8, 63}},
    {"counting-fnv1a", {"counting-size-a-line-more.ECORRUPT", 16, 8, 385}},
    {"counting-fnv1a", {"counting-size-2-to-47.ECORRUPT", 16, 8, UINT64_C(1) << 47}},
    {"counting-fnv1a", {"counting-size-2-to-62.ECORRUPT", 16, 8, UINT64_C(1) << 62}},
    {"counting-fnv1a", {"counting-padding.ECORRUPT", 64 + 150, 1, 1}},
    {"multilayer-fnv1a", {"multilayer-k-0.ECORRUPT", 8, 1, 0}},
    {"multilayer-fnv1a", {"multilayer-k-33.ECORRUPT", 8, 1, 33}},
    {"multilayer-fnv1a", {"multilayer-width-2.ECORRUPT", 9, 1, 2}},
    {"multilayer-fnv1a", {"multilayer-sub-past-the-blocks.ECORRUPT", 10, 2, 3}},
    {"multilayer-fnv1a", {"multilayer-sub-181.ECORRUPT", 10, 2, 181}},
    {"multilayer-fnv1a", {"multilayer-size-0.ECORRUPT", 16, 8, 0}},
    {"multilayer-fnv1a", {"multilayer-a-block-more.ECORRUPT", 16, 8, 6}},
    {"multilayer-fnv1a", {"multilayer-size-2-to-40.ECORRUPT", 16, 8, UINT64_C(1) << 40}},
    {"multilayer-fnv1a", {"multilayer-no-layers.ECORRUPT", 64 + 63, 1, 0}},
    {"multilayer-fnv1a", {"multilayer-185-layers.ECORRUPT", 64 + 63, 1, 185}},
    {"multilayer-fnv1a", {"multilayer-254-layers.ECORRUPT", 64 + 63, 1, 254}},
    {"multilayer-fnv1a", {"multilayer-spilled-without-room.ECORRUPT", 64 + 63, 1, 255}},
    {"multilayer-fnv1a", {"multilayer-all-cells.ECORRUPT", 64, 8, UINT64_MAX}},
    {"multilayer-fnv1a", {"multilayer-bit-after-the-layers.ECORRUPT", 64 + 62, 1, 0x80}},
    {"multilayer-spilled-fnv1a", {"multilayer-99-records.ECORRUPT", 64 + 192, 8, 99}},
    {"multilayer-spilled-fnv1a", {"multilayer-owner-77.ECORRUPT", 64 + 200, 8, 77}},
    {"multilayer-spilled-fnv1a", {"multilayer-record-9.ECORRUPT", 64 + 40, 8, 9}},
    {"multilayer-spilled-fnv1a", {"multilayer-sum.ECORRUPT", 64 + 48, 8, 1}},
    {"multilayer-spilled-fnv1a", {"multilayer-after-the-sum.ECORRUPT", 64 + 56, 1, 1}},
    {"multilayer-spilled-fnv1a", {"multilayer-record-of-none.ECORRUPT", -1, 1, 1}},
    {"multilayer-spilled-fnv1a", {"multilayer-count-65535.ECORRUPT", 64 + 256, 2, 65535}},
    {"layered-fnv1a", {"layered-k-7.ECORRUPT", 8, 1, 7}},
    {"layered-fnv1a", {"layered-width-1.ECORRUPT", 9, 1, 1}},
    {"layered-fnv1a", {"layered-sub-1.ECORRUPT", 10, 2, 1}},
    {"layered-fnv1a", {"layered-size-0.ECORRUPT", 16, 8, 0}},
    {"layered-fnv1a", {"layered-a-block-more.ECORRUPT", 16, 8, 5}},
    {"layered-fnv1a", {"layered-size-2-to-39.ECORRUPT", 16, 8, UINT64_C(1) << 39}},
    {"layered-fnv1a", {"layered-size-2-to-56.ECORRUPT", 16, 8, UINT64_C(1) << 56}},
    {"layered-empty-fnv1", {"layered-count-of-a-free-cell.ECORRUPT", 64 + 64, 1, 1}},
    {"layered-empty-fnv1", {"layered-after-the-front.ECORRUPT", 64 + 40, 1, 1}},
    {"layered-odd-md5", {"layered-padding.ECORRUPT", -1, 1, 1}},
    {"hybrid-fnv1a", {"hybrid-k-5.ECORRUPT", 8, 1, 5}},
    {"hybrid-fnv1a", {"hybrid-k-56.ECORRUPT", 8, 1, 56}},
    {"hybrid-fnv1a", {"hybrid-width-10.ECORRUPT", 9, 1, 10}},
    {"hybrid-fnv1a", {"hybrid-sub-1.ECORRUPT", 10, 2, 1}},
    {"hybrid-fnv1a", {"hybrid-sub-181.ECORRUPT", 10, 2, 181}},
    {"hybrid-fnv1a", {"hybrid-size-0.ECORRUPT", 16, 8, 0}},
    {"hybrid-fnv1a", {"hybrid-size-2-to-46.ECORRUPT", 16, 8, UINT64_C(1) << 46}},
    {"hybrid-fnv1a", {"hybrid-size-2-to-60.ECORRUPT", 16, 8, UINT64_C(1) << 60}},
    {"hybrid-fnv1a", {"hybrid-items.ECORRUPT", 32, 8, 59}},
    {"hybrid-fnv1a", {"hybrid-tail.ECORRUPT", 64 + 100, 1, 1}},
    {"hybrid-fnv1a", {"hybrid-counts-0.ECORRUPT", 64 + 128, 8, 0}},
    {"hybrid-spilled-fnv1a", {"hybrid-8-copies.ECORRUPT", 264 + 2, 1, 8}},
    {"hybrid-spilled-fnv1a", {"hybrid-other-id.ECORRUPT", 264, 2, 611}},
    {"hybrid-spilled-fnv1a", {"hybrid-id-of-no-bucket.ECORRUPT", 264, 2, 65535}},
    {"hybrid-spilled-fnv1a", {"hybrid-place-twice.ECORRUPT", 264 + 8, 8, 19 << 16 | 610}},
    {"hybrid-spilled-fnv1a", {"hybrid-17-places.ECORRUPT", 64 + 192, 8, 17}},
    {"hybrid-empty-xxh64", {"hybrid-count-without-entry.ECORRUPT", 64 + 64, 1, 1}},
    {"hybrid-empty-xxh64", {"hybrid-after-the-table.ECORRUPT", 64 + 20, 1, 1}},
    {"hybrid-empty-xxh64", {"hybrid-after-the-counts.ECORRUPT", 64 + 66, 1, 1}},
    {"hybrid-empty-xxh64", {"hybrid-places-in-use.ECORRUPT", 64 + 128, 8, 1}},
    {"hybrid-empty-xxh64", {"hybrid-place-without-entry.ECORRUPT", 64 + 138, 1, 20}},
    {"hybrid-empty-xxh64", {"hybrid-place-without-count.ECORRUPT", 64 + 136, 1, 1}},
    {"counts-fnv1a", {"counts-k-3.ECORRUPT", 8, 1, 3}},
    {"counts-fnv1a", {"counts-k-5.ECORRUPT", 8, 1, 5}},
    {"counts-fnv1a", {"counts-width-4.ECORRUPT", 9, 1, 4}},
    {"counts-fnv1a", {"counts-sub-2.ECORRUPT", 10, 2, 2}},
    {"counts-fnv1a", {"counts-size-0.ECORRUPT", 16, 8, 0}},
    {"counts-fnv1a", {"counts-a-line-more.ECORRUPT", 16, 8, 4}},
    {"counts-fnv1a", {"counts-size-2-to-40.ECORRUPT", 16, 8, UINT64_C(1) << 40}},
    {"hll-4-fnv1a", {"hll-k-3.ECORRUPT", 8, 1, 3}},
    {"hll-4-fnv1a", {"hll-k-5.ECORRUPT", 8, 1, 5}},
    {"hll-4-fnv1a", {"hll-k-19.ECORRUPT", 8, 1, 19}},
    {"hll-4-fnv1a", {"hll-width-8.ECORRUPT", 9, 1, 8}},
    {"hll-4-fnv1a", {"hll-sub-1.ECORRUPT", 10, 2, 1}},
    {"hll-4-fnv1a", {"hll-size-15.ECORRUPT", 16, 8, 15}},
    {"hll-4-fnv1a", {"hll-size-17.ECORRUPT", 16, 8, 17}},
    {"hll-4-fnv1a", {"hll-register-63.ECORRUPT", 64, 1, 63}},
    {"hll-4-fnv1a", {"hll-padding.ECORRUPT", 64 + 12, 1, 1}},
};

/* For an overlay with three parts: a fuse filter, a table for 80 deleted keys, and one for 50 added
 * keys. */
static const part_lie overlay_lies[] = {
    {{"overlay-one-part.ECORRUPT", 8, 1, 1}, 0},
    {{"overlay-two-parts.ECORRUPT", 8, 1, 2}, 0},
    {{"overlay-four-parts.ECORRUPT", 8, 1, 4}, 0},
    {{"overlay-width-2.ECORRUPT", 9, 1, 2}, 0},
    {{"overlay-sub-2.ECORRUPT", 10, 2, 2}, 0},
    {{"overlay-hidden-with-deleted.ECORRUPT", 10, 2, 1}, 0},
    {{"overlay-foldable.ECORRUPT", 7, 1, 4}, 0},
    {{"overlay-approximate.ECORRUPT", 7, 1, 2}, 0},
    {{"overlay-capacity.ECORRUPT", 24, 8, 7}, 0},
    {{"overlay-items.ECORRUPT", 32, 8, 371}, 0},
    {{"overlay-rate.ECORRUPT", 48, 8, UINT64_C(0x3f60000000000000)}, 0},
    {{"overlay-over-overlay.ECORRUPT", 5, 1, 12}, 1},
    {{"overlay-over-hll.ECORRUPT", 5, 1, 18}, 1},
    {{"overlay-over-kind-200.EKIND", 5, 1, 200}, 1},
    {{"overlay-base-items.ECORRUPT", 32, 8, 399}, 1},
    {{"overlay-base-seed.ECORRUPT", 40, 8, 5}, 1},
    {{"overlay-base-approximate.ECORRUPT", 7, 1, 2}, 1},
    {{"overlay-deleted-cuckoo.ECORRUPT", 5, 1, 14}, 2},
    {{"overlay-deleted-seed.ECORRUPT", 40, 8, 5}, 2},
    {{"overlay-deleted-items.ECORRUPT", 32, 8, 79}, 2},
    {{"overlay-deleted-sub-31.ECORRUPT", 10, 2, 31}, 2},
    {{"overlay-deleted-capacity.ECORRUPT", 24, 8, UINT64_C(1) << 40}, 2},
    {{"overlay-deleted-rate.ECORRUPT", 48, 8, UINT64_C(0x3f60000000000000)}, 2},
    {{"overlay-deleted-approximate.ECORRUPT", 7, 1, 2}, 2},
    {{"overlay-deleted-version-2.EVERSION", 4, 1, 2}, 2},
    {{"overlay-added-classic.ECORRUPT", 5, 1, 1}, 3},
    {{"overlay-added-items.ECORRUPT", 32, 8, 49}, 3},
    {{"overlay-added-capacity.ECORRUPT", 24, 8, UINT64_C(1) << 40}, 3},
};

/* For an overlay whose deleted keys are in a Bloom filter. */
static const part_lie bloom_lies[] = {
    {{"overlay-bloom-too-full.ECORRUPT", 32, 8, 41}, 2},
    {{"overlay-bloom-capacity.ECORRUPT", 24, 8, UINT64_C(1) << 40}, 2},
    {{"overlay-bloom-rate.ECORRUPT", 48, 8, UINT64_C(0x3f60000000000000)}, 2},
    {{"overlay-bloom-textbook.ECORRUPT", 10, 2, 1}, 2},
    {{"overlay-bloom-foldable.ECORRUPT", 7, 1, 4}, 2},
};

static void make_bad_overlays(const output *out) {
    bly_filter *base = make_named("fuse-fnv1a");
    for (int bloom = 0; bloom < 2; bloom++) {
        image im = {{0}, 0};
        bly_filter *f = make_laid(base, bloom ? BLY_CLASSIC : BLY_CUCKOO);
        must(bly_filter_write(f, append, &im) == BLY_OK, "write");
        bly_filter_destroy(f);
        const part_lie *lies_of = bloom ? bloom_lies : overlay_lies;
        size_t n = bloom ? sizeof bloom_lies : sizeof overlay_lies;
        for (size_t i = 0; i < n / sizeof *lies_of; i++)
            put_part_lie(out, &im, &lies_of[i]);
    }
    bly_filter_destroy(base);
}

static void make_bad_counting(const output *out) {
    for (size_t i = 0; i < sizeof counting_lies / sizeof *counting_lies; i++)
        put_kind_lie(out, &counting_lies[i]);
    make_bad_overlays(out);
}

#endif
