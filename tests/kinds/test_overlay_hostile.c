/* Untrusted files of overlays: a file with a wrong part is refused, and no damage does harm. */
#include "overlay_support.h"

#include "kinds/overlay/overlay_layout.h"

/* Asserts that a file is refused because of a header: also by a map without verification, which
 * checks the headers alone. */
static void assert_refused_by_header(blyt_buffer im, bly_status want) {
    bly_map *map = (bly_map *)&im;
    assert_refused(im, NULL, want);
    assert_int_equal(bly_map_open(at("refused.bly"), NULL, &map), want);
    assert_null(map);
}

/* ---- wrong parts ----------------------------------------------------------------------------- */

/* A small file of three parts, and the offsets of their headers. `right` is a copy without
 * changes. */
typedef struct three {
    blyt_buffer im, right;
    size_t header[3], size[3]; /* sizes of headers and bodies together */
} three;

static void find_parts(three *t) {
    size_t where = HEADER;
    for (int i = 0; i < 3; i++) {
        bly_file_info info = {.struct_size = sizeof info};
        assert_ok(bly_file_parse_info(t->im.data + where, t->im.size - where, &info));
        t->header[i] = where;
        t->size[i] = HEADER + (size_t)info.body_bytes;
        where += t->size[i];
    }
    assert_int_equal(where, t->im.size);
}

static three three_parts(bly_kind base_kind, bly_kind marker) {
    bly_filter *base = base_of(base_kind, 4, 0.01), *f = over(base, 4, marker);
    assert_ok(remove_key(f, 1, NULL));
    assert_ok(add_key(f, 1000, NULL));
    assert_ok(add_key(f, 1001, NULL));
    three t = {.im = blyt_write(f)};
    find_parts(&t);
    t.right = (blyt_buffer){malloc(t.im.size), t.im.size};
    memcpy(t.right.data, t.im.data, t.im.size);
    bly_filter_destroy(f);
    bly_filter_destroy(base);
    return t;
}

static void set_right(three *t) {
    memcpy(t->im.data, t->right.data, t->right.size);
}

static void three_free(three *t) {
    free(t->im.data);
    free(t->right.data);
}

/* Corrects the checksums of part i, and then those of the file. */
static void fix_part(three *t, int i) {
    fix_sums((blyt_buffer){t->im.data + t->header[i], t->size[i]});
    fix_sums(t->im);
}

static const lie part_lies[] = {
    {0, 1, 'X', BLY_ECORRUPT}, /* magic */
    {4, 1, 0, BLY_ECORRUPT},   /* version */
    {4, 1, 2, BLY_EVERSION},
    {5, 1, 0, BLY_EKIND}, /* kind */
    {5, 1, BLY_OVERLAY, BLY_ECORRUPT},
    {5, 1, BLY_SCALABLE, BLY_ECORRUPT},
    {5, 1, 200, BLY_EKIND},
    {6, 1, 0, BLY_EHASHER}, /* hash */
    {6, 1, BLY_HASH_XXH64, BLY_ECORRUPT},
    {7, 1, 1, BLY_ECORRUPT}, /* flags: keyed, approximate, unknown */
    {7, 1, 2, BLY_ECORRUPT},
    {7, 1, 8, BLY_ECORRUPT},
    {8, 1, 0, BLY_ECORRUPT},  /* k */
    {9, 1, 77, BLY_ECORRUPT}, /* width */
    {16, 8, 0, BLY_ECORRUPT}, /* size */
    {16, 8, 1000, BLY_ECORRUPT},
    {16, 8, UINT64_C(1) << 39, BLY_ECORRUPT},
    {16, 8, UINT64_MAX, BLY_ECORRUPT},
    {24, 8, 0, BLY_ECORRUPT}, /* capacity */
    {24, 8, 5000, BLY_ECORRUPT},
    {24, 8, UINT64_MAX, BLY_ECORRUPT},
    {32, 8, 3, BLY_ECORRUPT}, /* items */
    {40, 8, 8, BLY_ECORRUPT}, /* seed */
    {48, 8, 0, BLY_ECORRUPT}, /* rate: 0, nan, 1/64 */
    {48, 8, UINT64_C(0x7ff8000000000001), BLY_ECORRUPT},
    {48, 8, UINT64_C(0x3f90000000000000), BLY_ECORRUPT},
};

static void parts_that_lie(void **state) {
    (void)state;
    const bly_kind markers[] = {BLY_CUCKOO, BLY_CLASSIC};
    for (size_t m = 0; m < 2; m++) {
        three t = three_parts(BLY_CLASSIC, markers[m]);
        for (int part = 0; part < 3; part++) {
            for (size_t i = 0; i < COUNT_OF(part_lies); i++) {
                uint8_t *header = t.im.data + t.header[part];
                store(header + part_lies[i].offset, part_lies[i].value, part_lies[i].width);
                fix_header_sum(header);
                fix_sums(t.im);
                assert_refused_by_header(t.im, part_lies[i].status);
                set_right(&t);
            }
            t.im.data[t.header[part] + 12] ^= 1; /* its header sum */
            fix_sums(t.im);
            assert_refused_by_header(t.im, BLY_ECORRUPT);
            set_right(&t);
            t.im.data[t.header[part] + HEADER] ^= 1; /* its body */
            fix_sums(t.im);
            assert_refused(t.im, NULL, BLY_ECORRUPT);
            set_right(&t);
        }
        three_free(&t);
    }
}

/* Tables with a geometry that overlays do not create. */
static void tables_that_lie(void **state) {
    (void)state;
    three t = three_parts(BLY_CLASSIC, BLY_CUCKOO);
    const lie lies[] = {
        {5, 1, BLY_CUCKOO, BLY_ECORRUPT}, {8, 1, 37, BLY_ECORRUPT},  {8, 1, 39, BLY_ECORRUPT},
        {10, 2, 0, BLY_ECORRUPT},         {10, 2, 31, BLY_ECORRUPT}, {10, 2, 33, BLY_ECORRUPT},
        {16, 8, 3, BLY_ECORRUPT},
    };
    for (int part = 1; part < 3; part++) {
        for (size_t i = 0; i < COUNT_OF(lies); i++) {
            uint8_t *header = t.im.data + t.header[part];
            store(header + lies[i].offset, lies[i].value, lies[i].width);
            header[9] = (uint8_t)(header[8] + 1);
            fix_header_sum(header);
            fix_sums(t.im);
            assert_refused_by_header(t.im, lies[i].status);
            set_right(&t);
        }
        /* Flips a bit in each byte of a table, which may cause an entry too many, an entry without
         * a core, or bits after the last slot. */
        uint8_t *body = t.im.data + t.header[part] + HEADER;
        size_t bytes = t.size[part] - HEADER;
        for (size_t i = 0; i < bytes; i++) {
            body[i] ^= 0x10;
            fix_part(&t, part);
            bly_filter *f;
            bly_status status = bly_filter_parse(t.im.data, t.im.size, NULL, &f);
            assert_true(status == BLY_OK || status == BLY_ECORRUPT);
            if (status == BLY_OK) /* one entry was changed to another */
                assert_int_equal(bly_filter_count(f), 5);
            bly_filter_destroy(f);
            set_right(&t);
        }
    }
    three_free(&t);
}

static const lie outer_lies[] = {
    {7, 1, 2, BLY_ECORRUPT}, /* approximate: the base is not */
    {7, 1, 4, BLY_ECORRUPT}, /* foldable */
    {8, 1, 0, BLY_ECORRUPT}, /* parts */
    {8, 1, 1, BLY_ECORRUPT},
    {8, 1, 2, BLY_ECORRUPT},
    {8, 1, 4, BLY_ECORRUPT},
    {9, 1, 2, BLY_ECORRUPT},
    {10, 2, 1, BLY_ECORRUPT}, /* the flag for hidden keys, but a key is deleted */
    {10, 2, 2, BLY_ECORRUPT},
    {16, 8, 0, BLY_ECORRUPT},
    {24, 8, 5, BLY_ECORRUPT}, /* capacity: the base has 4 */
    {32, 8, 6, BLY_ECORRUPT}, /* items: 4 - 1 + 2 */
    {32, 8, 4, BLY_ECORRUPT},
    {40, 8, 8, BLY_ECORRUPT},                            /* seed */
    {48, 8, UINT64_C(0x3f90000000000000), BLY_ECORRUPT}, /* rate: not the base's */
};

static void a_whole_that_lies(void **state) {
    (void)state;
    three t = three_parts(BLY_CLASSIC, BLY_CUCKOO);
    for (size_t i = 0; i < COUNT_OF(outer_lies); i++) {
        store(t.im.data + outer_lies[i].offset, outer_lies[i].value, outer_lies[i].width);
        fix_header_sum(t.im.data);
        assert_refused_by_header(t.im, outer_lies[i].status);
        set_right(&t);
    }
    /* The flag for hidden keys, with the count that it implies; but a key is deleted. */
    store(t.im.data + 10, BLYI_OVERLAY_HIDDEN, 2);
    store(t.im.data + 32, 2, 8);
    fix_header_sum(t.im.data);
    assert_refused_by_header(t.im, BLY_ECORRUPT);
    set_right(&t);
    /* The last part is missing or truncated, and the size is corrected to fit. */
    for (size_t size = HEADER; size < t.im.size; size += 64) {
        blyt_buffer cut = {t.im.data, size};
        store(cut.data + 16, size - HEADER, 8);
        fix_sums(cut);
        assert_refused_by_header(cut, BLY_ECORRUPT);
        set_right(&t);
    }
    three_free(&t);
}

/* Truncates the file to every length, and flips every bit. */
static void any_damage(void **state) {
    (void)state;
    const bly_kind kinds[] = {BLY_CLASSIC, BLY_SCALABLE};
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        three t = three_parts(kinds[k], BLY_CUCKOO);
        bly_filter *f;
        for (size_t size = 0; size < t.im.size; size++) {
            assert_int_equal(bly_filter_parse(t.im.data, size, NULL, &f), BLY_ECORRUPT);
            assert_null(f);
        }
        for (size_t i = 0; i < t.im.size; i++) {
            t.im.data[i] ^= (uint8_t)(1U << i % 8);
            assert_true(bly_filter_parse(t.im.data, t.im.size, NULL, &f) != BLY_OK);
            assert_null(f);
            if (i % 7 == 0 || BLYT_SLOW == 1) {
                spill(at("d.bly"), t.im.data, t.im.size);
                assert_true(bly_filter_load(at("d.bly"), NULL, &f) != BLY_OK);
                assert_null(f);
            }
            set_right(&t);
        }
        three_free(&t);
    }
}

/* Uses a changed file that was accepted after its checksums were corrected. */
static void behaves(bly_filter *f, blyt_buffer im) {
    bly_filter_info s = {.struct_size = sizeof s};
    bly_filter *copy;
    bool changed;
    assert_bytes(f, im);
    bly_filter_get_info(f, &s);
    assert_true(s.set_bits <= s.bits && s.current_fpr >= 0 && s.current_fpr <= 1);
    assert_true(s.miss_bound >= 0 && s.miss_bound <= 1);
    assert_ok(bly_filter_clone(f, NULL, &copy));
    assert_true(bly_filter_equal(f, copy));
    for (uint64_t i = 0; i < 4; i++) {
        bly_status status = add_key(f, i, &changed);
        if (status == BLY_OK)
            assert_true(contains_key(f, i));
        status = remove_key(f, i, &changed);
        if (status == BLY_OK)
            assert_false(contains_key(f, i));
    }
    bly_filter_clear(f);
    assert_int_equal(bly_filter_count(f), 0);
    bly_filter_destroy(copy);
}

static void any_change(void **state) {
    (void)state;
    const bly_kind markers[] = {BLY_CUCKOO, BLY_CLASSIC};
    size_t let_in = 0;
    for (size_t m = 0; m < 2; m++) {
        three t = three_parts(BLY_CLASSIC, markers[m]);
        for (size_t i = HEADER; i < t.im.size; i++) {
            for (int bit = 0; bit < 8; bit++) {
                bly_filter *f;
                int part = i >= t.header[2] ? 2 : i >= t.header[1] ? 1 : 0;
                t.im.data[i] ^= (uint8_t)(1U << bit);
                fix_part(&t, part);
                if (bly_filter_parse(t.im.data, t.im.size, NULL, &f) == BLY_OK) {
                    behaves(f, t.im);
                    let_in++;
                }
                bly_filter_destroy(f);
                set_right(&t);
            }
        }
        three_free(&t);
    }
    assert_true(let_in > 100); /* a Bloom filter may have any bits */
}

/* A map without verification may have any body: answers may be wrong, but nothing worse happens. */
static void any_body(void **state) {
    (void)state;
    uint64_t seed = 99;
    for (int turn = 0; turn < 300 / BLYT_SLOW; turn++) {
        three t = three_parts(turn % 2 ? BLY_CLASSIC : BLY_FUSE, BLY_CUCKOO);
        bly_map *map;
        bly_filter *copy;
        bly_filter_info s = {.struct_size = sizeof s};
        for (int part = 0; part < 3; part++)
            for (size_t i = HEADER; i < t.size[part]; i++)
                t.im.data[t.header[part] + i] = (uint8_t)blyt_next(&seed);
        spill(at("any.bly"), t.im.data, t.im.size);
        assert_ok(bly_map_open(at("any.bly"), NULL, &map));
        const bly_filter *f = bly_map_filter(map);
        for (uint64_t i = 0; i < 100; i++)
            (void)contains_key(f, i);
        blyt_list l = blyt_list_of(KEYS_DECIMAL, 0, 100);
        (void)bly_filter_contains_many(f, l.keys, l.n, NULL);
        blyt_list_free(&l);
        bly_filter_get_info(f, &s);
        assert_true(s.set_bits <= s.bits && s.current_fpr <= 1 && s.miss_bound <= 1);
        bly_status status = bly_filter_clone(f, NULL, &copy);
        assert_true(status == BLY_OK || status == BLY_ECORRUPT);
        bly_filter_destroy(copy);
        bly_map_close(map);
        three_free(&t);
    }
}

/* A table with two equal entries, which overlays never create: both are removed together. */
static void a_class_twice(void **state) {
    (void)state;
    bly_filter *base = base_of(BLY_FUSE, 50, 1e-6), *f = over(base, 20, 0), *g;
    assert_ok(remove_key(f, 7, NULL));
    assert_ok(add_key(f, 1000, NULL));
    const uint64_t keys[] = {7, 1000};
    for (unsigned part = BLYI_OVERLAY_DELETED; part <= BLYI_OVERLAY_ADDED; part++) {
        char key[BLYT_KEY_MAX];
        size_t len = blyt_key(KEYS_DECIMAL, keys[part - 1], key);
        bly_hash h = blyi_overlay_mix(bly_hash_key(bly_filter_hasher(f), key, len));
        for (int i = 0; i < 3; i++)
            assert_ok(bly_filter_add_hash(f->levels->at[part], h, NULL));
    }
    blyi_levels_recompute(f);
    blyt_buffer im = blyt_write(f);
    assert_ok(bly_filter_parse(im.data, im.size, NULL, &g));
    assert_true(!contains_key(g, 7) && contains_key(g, 1000));
    assert_ok(add_key(g, 7, NULL));
    assert_ok(remove_key(g, 1000, NULL));
    assert_true(contains_key(g, 7) && !contains_key(g, 1000));
    assert_int_equal(bly_filter_count(g), 50);
    free(im.data);
    bly_filter_destroy(g);
    bly_filter_destroy(f);
    bly_filter_destroy(base);
}

/* ---- assembled files ------------------------------------------------------------------------- */

/* Returns a file of that kind that contains the files in `parts`, and frees those. */
static blyt_buffer assemble(bly_kind kind, blyt_buffer *parts, size_t n, uint64_t items) {
    blyt_buffer im = {calloc(1, HEADER), HEADER};
    for (size_t i = 0; i < n; i++)
        assert_ok(blyt_sink(&im, parts[i].data, parts[i].size));
    memcpy(im.data, parts[0].data, HEADER); /* magic, version, hash, flags, seed, capacity, rate */
    im.data[5] = (uint8_t)kind;
    im.data[8] = (uint8_t)n;
    im.data[9] = 1;
    store(im.data + 10, 0, 2);
    store(im.data + 16, im.size - HEADER, 8);
    store(im.data + 32, items, 8);
    fix_sums(im);
    for (size_t i = 0; i < n; i++)
        free(parts[i].data);
    return im;
}

static blyt_buffer part_of(three *t, int i) {
    blyt_buffer part = {malloc(t->size[i]), t->size[i]};
    memcpy(part.data, t->right.data + t->header[i], part.size);
    return part;
}

/* Asserts that files assembled from the parts of t and b can be loaded if the parts fit together.
 * The deleted keys of `t` are in a cuckoo table, those of `b` in a Bloom filter. */
static void parts_that_fit(three *t, three *b) {
    blyt_buffer im;
    bly_filter *f;
    { /* the parts of a normal overlay */
        blyt_buffer parts[] = {part_of(t, 0), part_of(t, 1), part_of(t, 2)};
        im = assemble(BLY_OVERLAY, parts, 3, 5);
        assert_int_equal(im.size, t->right.size);
        assert_memory_equal(im.data, t->right.data, im.size);
        free(im.data);
    }
    { /* the table of added keys of t fits b, too */
        blyt_buffer parts[] = {part_of(b, 0), part_of(b, 1), part_of(t, 2)};
        im = assemble(BLY_OVERLAY, parts, 3, 5);
        assert_ok(bly_filter_parse(im.data, im.size, NULL, &f));
        bly_filter_destroy(f);
        free(im.data);
    }
}

static void level_of_the_base_that_lies(void) {
    three s = three_parts(BLY_SCALABLE, BLY_CUCKOO);
    uint8_t *level = s.im.data + s.header[0] + HEADER;
    store(level + 40, 8, 8); /* another seed */
    fix_header_sum(level);
    fix_part(&s, 0);
    assert_refused_by_header(s.im, BLY_ECORRUPT);
    set_right(&s);
    level = s.im.data + s.header[0] + HEADER;
    level[HEADER] ^= 1; /* a bit of its body: only its own sum is wrong */
    fix_part(&s, 0);
    assert_refused(s.im, NULL, BLY_ECORRUPT);
    set_right(&s);
    s.im.data[s.header[0] + 56] ^= 1; /* the base's own body sum */
    fix_header_sum(s.im.data + s.header[0]);
    fix_sums(s.im);
    assert_refused(s.im, NULL, BLY_ECORRUPT);
    three_free(&s);
}

static void only_such_parts(void **state) {
    (void)state;
    three t = three_parts(BLY_CLASSIC, BLY_CUCKOO), b = three_parts(BLY_CLASSIC, BLY_CLASSIC);
    blyt_buffer im;
    parts_that_fit(&t, &b);
    { /* added keys cannot be a Bloom filter, because they must be removable */
        blyt_buffer parts[] = {part_of(&t, 0), part_of(&t, 1), part_of(&b, 1)};
        im = assemble(BLY_OVERLAY, parts, 3, 4);
        assert_refused_by_header(im, BLY_ECORRUPT);
        free(im.data);
    }
    { /* an overlay cannot be a part of an overlay or of a scalable filter */
        blyt_buffer whole = {malloc(t.right.size), t.right.size};
        memcpy(whole.data, t.right.data, whole.size);
        blyt_buffer parts[] = {whole, part_of(&t, 1)};
        im = assemble(BLY_OVERLAY, parts, 2, 4);
        assert_refused_by_header(im, BLY_ECORRUPT);
        blyt_buffer level[] = {{malloc(t.right.size), t.right.size}};
        memcpy(level[0].data, t.right.data, t.right.size);
        free(im.data);
        im = assemble(BLY_SCALABLE, level, 1, 5);
        assert_refused_by_header(im, BLY_ECORRUPT);
        free(im.data);
    }
    { /* one part, four */
        blyt_buffer one[] = {part_of(&t, 0)};
        im = assemble(BLY_OVERLAY, one, 1, 4);
        assert_refused_by_header(im, BLY_ECORRUPT);
        free(im.data);
        blyt_buffer four[] = {part_of(&t, 0), part_of(&t, 1), part_of(&t, 2), part_of(&t, 2)};
        im = assemble(BLY_OVERLAY, four, 4, 5);
        assert_refused_by_header(im, BLY_ECORRUPT);
        free(im.data);
    }
    level_of_the_base_that_lies();
    three_free(&t);
    three_free(&b);
}

/* Every allocation of loading and mapping fails once. */
static void out_of_memory(void **state) {
    (void)state;
    three t = three_parts(BLY_SCALABLE, BLY_CUCKOO);
    spill(at("m.bly"), t.im.data, t.im.size);
    for (int way = 0; way < 3; way++) {
        size_t failures = 0;
        bly_status status = BLY_ENOMEM;
        for (size_t fail = 1; status != BLY_OK; fail++) {
            blyt_heap heap = {.fail_at = fail};
            bly_allocator a = blyt_heap_allocator(&heap);
            bly_open_options o = {.struct_size = sizeof o, .allocator = &a};
            bly_filter *f = NULL;
            bly_map *map = NULL;
            status = way == 0   ? bly_filter_parse(t.im.data, t.im.size, &o, &f)
                     : way == 1 ? bly_filter_load(at("m.bly"), &o, &f)
                                : bly_map_open(at("m.bly"), &o, &map);
            assert_true(status == BLY_OK || status == BLY_ENOMEM);
            failures += status == BLY_ENOMEM;
            assert_true((f != NULL || map != NULL) == (status == BLY_OK));
            bly_filter_destroy(f);
            bly_map_close(map);
            assert_int_equal(heap.live, 0);
        }
        assert_true(failures >= 8);
    }
    three_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(parts_that_lie), IN_SCRATCH(tables_that_lie), IN_SCRATCH(a_whole_that_lies),
        IN_SCRATCH(any_damage),     IN_SCRATCH(any_change),      IN_SCRATCH(any_body),
        IN_SCRATCH(a_class_twice),  IN_SCRATCH(only_such_parts), IN_SCRATCH(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
