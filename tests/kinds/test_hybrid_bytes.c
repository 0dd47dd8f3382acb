/* The bytes of a hybrid filter: its map of large counts, compared with an exact map; files that
 * load, and files that are refused. */
#include "hybrid_support.h"

#include <unistd.h>

/* ---- the map of large counts ----------------------------------------------------------------- */

enum { IDS = 4096 };

/* An exact map: all classes (fingerprint and bucket) that were used, and their present counts. */
typedef struct oracle {
    blyi_cuckoo_class classes[IDS];
    uint64_t counts[IDS];
    uint64_t live;
} oracle;

static void check_map(const blyi_spilled_counts *s, const oracle *o, unsigned ids) {
    assert_int_equal(blyi_spilled_used(s), o->live);
    for (unsigned i = 0; i < ids; i++) {
        uint64_t at = blyi_spilled_find(s, o->classes[i]);
        assert_int_equal(at != BLYI_NO_SLOT, o->counts[i] != 0);
        if (o->counts[i])
            assert_true(blyi_spilled_count(s, at) == o->counts[i]);
    }
    blyi_cuckoo_class c;
    uint64_t seen = 0, at = 0;
    while (blyi_spilled_next(s, &at, &c)) {
        assert_true(blyi_spilled_find(s, c) == at - 1);
        seen++;
    }
    assert_int_equal(seen, o->live);
}

/* Returns a map of that size, without the table that normally precedes it, in memory that ends
 * where the map ends. */
static blyi_spilled_counts new_map(uint32_t rest, uint64_t buckets, uint32_t step, size_t *bytes) {
    bly_geometry g = {BLY_HYBRID, rest, buckets, 0, step};
    assert_ok(bly_plan_check(&g));
    blyi_spilled_counts s = {NULL, blyi_size_of_class(step), rest, blyi_hybrid_id_bytes(&g)};
    *bytes = BLYI_SPILL_HEADER_BYTES + (size_t)s.slots * (s.id_bytes + BLYI_COUNT_BYTES);
    s.head = calloc(1, *bytes);
    assert_non_null(s.head);
    return s;
}

typedef struct map_case {
    uint32_t remainder;
    uint64_t buckets;
    uint32_t step;
} map_case;

/* Asserts that the same contents, added in another order, give the same bytes. */
static void check_bytes(const map_case *m, const blyi_spilled_counts *s, const oracle *o,
                        unsigned ids) {
    size_t bytes;
    blyi_spilled_counts again = new_map(m->remainder, m->buckets, m->step, &bytes);
    for (unsigned i = ids; i-- > 0;)
        if (o->counts[i])
            assert_true(blyi_spilled_add(&again, o->classes[i], o->counts[i]));
    assert_memory_equal(again.head, s->head, bytes);
    free(again.head);
}

/* Asserts that a larger map gets the same contents. */
static void check_growth(const map_case *m, const blyi_spilled_counts *s, const oracle *o,
                         unsigned ids) {
    size_t bytes;
    blyi_spilled_counts larger = new_map(m->remainder, m->buckets, m->step + 1, &bytes);
    assert_true(blyi_spilled_add_all(&larger, s));
    check_map(&larger, o, ids);
    assert_true(blyi_spilled_is_valid(&larger, m->buckets));
    free(larger.head);
}

static void change_map(blyi_spilled_counts *s, oracle *o, uint64_t k, uint64_t count, bool leave) {
    uint64_t at = blyi_spilled_find(s, o->classes[k]);
    bool full = o->live == blyi_spilled_capacity(s);
    if (o->counts[k] == 0) {
        assert_true(blyi_spilled_add(s, o->classes[k], count) == !full);
        o->counts[k] = full ? 0 : count;
        o->live += !full;
    } else if (leave) {
        blyi_spilled_remove(s, at);
        o->counts[k] = 0;
        o->live--;
    } else {
        blyi_spilled_set_count(s, at, count);
        o->counts[k] = count;
    }
}

static void run_map(const map_case *m, uint64_t operations) {
    uint64_t state = m->buckets ^ m->remainder ^ m->step;
    size_t bytes;
    blyi_spilled_counts s = new_map(m->remainder, m->buckets, m->step, &bytes);
    oracle *o = calloc(1, sizeof *o);
    assert_non_null(o);
    unsigned ids = (unsigned)(s.slots * 2 < IDS ? s.slots * 2 : IDS);
    for (unsigned i = 0; i < ids; i++) { /* distinct classes; a fifth in the last buckets */
        uint64_t last = m->buckets - 1 - i % (m->buckets < 4 ? m->buckets : 4);
        o->classes[i].bucket = i % 5 == 0 ? last : blyt_next(&state) % m->buckets;
        o->classes[i].remainder = (uint64_t)(2 * i + 1) << (m->remainder - 13) | 1;
    }
    for (uint64_t i = 0; i < operations; i++) {
        uint64_t dice = blyt_next(&state);
        uint64_t count = 9 + blyt_next(&state) % (BLYI_MAX_COUNTED - 8);
        change_map(&s, o, (dice >> 32) % ids, count, dice % 8 < (i * 8 / operations % 2 ? 6 : 2));
        if (i % (operations / 16) == 0) {
            check_map(&s, o, ids);
            check_bytes(m, &s, o, ids);
            check_growth(m, &s, o, ids);
            assert_true(blyi_spilled_is_valid(&s, m->buckets));
        }
    }
    for (unsigned i = 0; i < ids; i++)
        if (o->counts[i])
            blyi_spilled_remove(&s, blyi_spilled_find(&s, o->classes[i]));
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(s.head[i], 0);
    free(o);
    free(s.head);
}

/* Tests maps of 4 to 2048 places with ids of 2 to 12 bytes. Some get as full as allowed. */
static void the_map_is_exact(void **state) {
    static const map_case shapes[] = {{13, 8, 0},       {16, 1, 0},       {16, 2603768, 0},
                                      {40, 1 << 24, 0}, {41, 1 << 24, 0}, {55, 1 << 30, 0},
                                      {55, 1 << 20, 0}, {20, 1 << 12, 0}};
    static const uint32_t steps[] = {1, 2, 5, 9, 14, 24, 33, 36};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        for (size_t j = 0; j < COUNT_OF(steps); j++)
            run_map(&(map_case){shapes[i].remainder, shapes[i].buckets, steps[j]},
                    20000 / BLYT_SLOW);
}

/* Classes with ids of the maximum length. */
static void ids_of_twelve_bytes(void **state) {
    const uint64_t buckets = ((uint64_t)1 << 40) - 100;
    size_t bytes;
    blyi_spilled_counts s = new_map(55, buckets, 9, &bytes);
    (void)state;
    assert_int_equal(s.id_bytes, 12);
    blyi_cuckoo_class far = {buckets - 1, ((uint64_t)1 << 55) - 1}, near = {1, 1}, c;
    assert_true(blyi_spilled_add(&s, far, BLYI_MAX_COUNTED) && blyi_spilled_add(&s, near, 9));
    assert_true(blyi_spilled_is_valid(&s, buckets) && !blyi_spilled_is_valid(&s, buckets - 1));
    assert_true(blyi_spilled_count(&s, blyi_spilled_find(&s, far)) == BLYI_MAX_COUNTED);
    assert_true(blyi_spilled_count(&s, blyi_spilled_find(&s, near)) == 9);
    uint64_t low = far.bucket << 55 | far.remainder, high = far.bucket >> 9;
    assert_true(blyi_spilled_find(&s, far) ==
                blyi_mulhi(blyi_fmix64(low ^ high * BLYI_GOLD), s.slots));
    far.bucket--;
    assert_true(blyi_spilled_find(&s, far) == BLYI_NO_SLOT);
    far.bucket++;
    blyi_spilled_remove(&s, blyi_spilled_find(&s, near));
    uint64_t at = 0;
    assert_true(blyi_spilled_next(&s, &at, &c) && c.bucket == far.bucket &&
                c.remainder == far.remainder);
    free(s.head);
}

/* Breaks each rule of a valid map. With remainders of 16 bits and one bucket, an id has two bytes,
 * and a place eight. */
static void maps_are_checked(void **state) {
    size_t bytes;
    blyi_spilled_counts s = new_map(16, 1, 1, &bytes);
    uint64_t at;
    (void)state;
    for (uint64_t rest = 1; blyi_spilled_used(&s) < 3; rest++)
        assert_true(blyi_spilled_add(&s, (blyi_cuckoo_class){0, rest}, 100));
    assert_true(blyi_spilled_is_valid(&s, 1));
    s.head[0]++;
    assert_false(blyi_spilled_is_valid(&s, 1));
    s.head[0]--;
    for (at = 0; blyi_spilled_count(&s, at) != 0;)
        at++;
    /* A map without a free place is invalid, although the entry in its last place belongs there. */
    uint64_t rest = 4;
    while (blyi_mulhi(blyi_fmix64(rest), 4) != at)
        rest++;
    uint8_t *place = s.head + BLYI_SPILL_HEADER_BYTES + at * 8;
    blyi_store64le(place, rest | 100 << 16);
    s.head[0]++;
    assert_true(blyi_spilled_find(&s, (blyi_cuckoo_class){0, rest}) == at);
    assert_false(blyi_spilled_is_valid(&s, 1));
    /* An entry at a place where lookups do not find it. */
    memset(s.head, 0, bytes);
    for (rest = 4; blyi_mulhi(blyi_fmix64(rest), 4) == at;)
        rest++;
    blyi_store64le(place, rest | 100 << 16);
    s.head[0] = 1;
    assert_false(blyi_spilled_is_valid(&s, 1));
    free(s.head);
}

/* In a map as full as allowed, all entries are much closer to their home place than the limit. */
static void entries_lie_near(void **state) {
    const uint64_t buckets = 1 << 14;
    uint64_t dice = 1, farthest = 0;
    size_t bytes;
    double sum = 0;
    blyi_spilled_counts s = new_map(16, buckets, blyi_size_class_for(1000000 / BLYT_SLOW), &bytes);
    (void)state;
    while (blyi_spilled_used(&s) < blyi_spilled_capacity(&s)) {
        blyi_cuckoo_class c = {blyt_next(&dice) % buckets, blyt_next(&dice) % 65536};
        if (blyi_spilled_find(&s, c) == BLYI_NO_SLOT)
            assert_true(blyi_spilled_add(&s, c, 9));
    }
    assert_true(blyi_spilled_is_valid(&s, buckets));
    blyi_cuckoo_class c;
    for (uint64_t at = 0; blyi_spilled_next(&s, &at, &c);) {
        uint64_t id = c.bucket << 16 | c.remainder, home = blyi_mulhi(blyi_fmix64(id), s.slots);
        uint64_t far = at - 1 >= home ? at - 1 - home : at - 1 + s.slots - home;
        farthest = far > farthest ? far : farthest;
        sum += (double)far;
    }
    double mean = sum / (double)blyi_spilled_used(&s);
    if (getenv("BLYT_VERBOSE"))
        print_message("%llu entries: mean %.2f, farthest %llu\n",
                      (unsigned long long)blyi_spilled_used(&s), mean,
                      (unsigned long long)farthest);
    assert_true(farthest < 128 && mean > 3 && mean < 4);
    free(s.head);
}

/* The inverse of blyi_fmix64. */
static uint64_t unmix(uint64_t x) {
    x ^= x >> 33;
    x *= UINT64_C(0x9cb4b2f8129337db);
    x ^= x >> 33;
    x *= UINT64_C(0x4f74430c22a54005);
    return x ^ x >> 33;
}

/* Keys chosen so that their home is place 0 in a map of any size: 256 of them get a place, and the
 * fifteenth copy of any other is refused. In this geometry, a hash is the id of its class. */
static void chosen_keys_are_refused(void **state) {
    blyt_heap heap = {0};
    bly_allocator a = blyt_heap_allocator(&heap);
    bly_filter *f = exact_table((bly_geometry){BLY_HYBRID, 52, 4096, 0, 0}, &a);
    uint64_t spilled = 0, refused = 0;
    size_t live = heap.live;
    (void)state;
    for (uint64_t i = 0; spilled + refused < 300; i++) {
        bly_hash h = {unmix(i), 0};
        assert_true(blyi_fmix64(h.lo) == i);
        if (h.lo % 512 == 0)
            continue;
        for (unsigned copies = 0; copies < 14; copies++)
            assert_ok(bly_filter_add_hash(f, h, NULL));
        uint8_t *kept = keep_body(f);
        bly_geometry before = f->geometry;
        bly_status status = bly_filter_add_hash(f, h, NULL);
        bool full = status == BLY_EFULL;
        spilled += !full;
        refused += full;
        assert_int_equal(bly_filter_copies_hash(f, h), full ? 14 : 15);
        assert_int_equal(heap.live, live);
        assert_true(blyt_info(f).spilled == spilled && full == (spilled + refused > 256));
        if (full) {
            assert_memory_equal(&before, &f->geometry, sizeof before);
            assert_memory_equal(f->body, kept, (size_t)f->body_bytes);
        }
        free(kept);
    }
    assert_true(spilled == 256 && is_sound(f));
    for (uint64_t i = 0; i < 20; i++) /* other keys are not refused */
        add_copies(f, 1, i, 20);
    assert_true(blyt_info(f).spilled == 276 && is_sound(f));
    bly_filter_destroy(f);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void files_come_back(void **state) {
    char path[] = "/tmp/bloomery-hybrid-XXXXXX";
    (void)state;
    assert_int_not_equal(close(mkstemp(path)), -1);
    for (size_t i = 0; i < COUNT_OF(hybrid_rates); i++) {
        bly_filter *f = hybrid(3000, hybrid_rates[i]), *g;
        bly_map *map;
        add_hashes(f, 1, 0, 3000);
        for (uint64_t k = 0; k < 300; k++)
            add_copies(f, 1, k, k);
        blyt_buffer im = blyt_write(f);
        assert_ok(bly_filter_parse(im.data, im.size, NULL, &g));
        assert_memory_equal(f->body, g->body, (size_t)f->body_bytes);
        assert_true(bly_filter_equal(f, g) && bly_filter_count(g) == bly_filter_count(f));
        for (uint64_t k = 0; k < 300; k++)
            remove_copies(g, 1, k, k);
        remove_hashes(g, 1, 0, 3000);
        assert_true(all_zero(g));
        bly_filter_destroy(g);
        assert_ok(bly_filter_save(f, path));
        assert_ok(bly_filter_load(path, NULL, &g));
        assert_true(bly_filter_equal(f, g));
        bly_filter_destroy(g);
        assert_ok(bly_map_open(path, NULL, &map));
        const bly_filter *mapped = bly_map_filter(map);
        assert_true(bly_filter_equal(f, mapped) && contains_hashes(mapped, 1, 0, 3000));
        assert_int_equal(copies_of(mapped, 1, 250), copies_of(f, 1, 250));
        assert_ok(bly_filter_clone(mapped, NULL, &g));
        bly_map_close(map);
        add_copies(g, 1, 7, 1000);
        assert_int_equal(copies_of(g, 1, 7), copies_of(f, 1, 7) + 1000);
        bly_filter_destroy(g);
        free(im.data);
        bly_filter_destroy(f);
    }
    (void)unlink(path);
}

/* Ways in which a body can be wrong although its checksum is correct. Before the damage, the filter
 * has keys with one, fourteen and sixteen copies. */
typedef enum damage {
    NONE,
    ITEMS,          /* items is one more than there are copies */
    COUNT_OF_FREE,  /* a free slot has a count */
    NO_COUNT,       /* a slot in use has no count */
    WRONG_COUNT,    /* a slot has a copy that items lacks */
    NOT_IN_MAP,     /* a slot is marked as spilled, without an entry */
    NOT_IN_TABLE,   /* an entry's slot is not marked as spilled */
    TWICE,          /* a class is in two slots */
    TAIL,           /* a bit after the last slot */
    GAP,            /* a bit between the table and the counts */
    SECOND_GAP,     /* a bit between the counts and the map */
    HEAD,           /* one more place in use than there are */
    TOO_SMALL,      /* an entry with 8 copies */
    ASTRAY,         /* an entry where lookups do not find it */
    FREE_ID,        /* a free place with an id */
    NO_SUCH_BUCKET, /* a class that cannot exist */
    DAMAGES
} damage;

/* Returns the first slot with that count in the table. */
static uint64_t slot_with(const blyi_cuckoo_table *t, unsigned count) {
    uint64_t slot = 0;
    while (blyi_slot_count(t, slot) != count)
        slot++;
    return slot;
}

static void break_table(bly_filter *f, damage d) {
    blyi_cuckoo_table t = blyi_hybrid_table(f);
    uint64_t one = slot_with(&t, 1), none = slot_with(&t, 0), many = slot_with(&t, 15);
    blyi_cuckoo_class c;
    if (d == COUNT_OF_FREE) {
        blyi_slot_set_count(&t, none, 3);
        f->items += 3;
    } else if (d == NO_COUNT) {
        blyi_slot_set_count(&t, one, 0);
        f->items--;
    } else if (d == WRONG_COUNT)
        blyi_slot_set_count(&t, one, 2);
    else if (d == NOT_IN_MAP)
        blyi_slot_set_count(&t, slot_with(&t, 14), 15);
    else if (d == NOT_IN_TABLE) {
        blyi_slot_set_count(&t, many, 14);
        f->items -= 2;
    } else if (d == TWICE) {
        uint64_t next = 0;
        while (!(blyi_slot_class(&t, next / 4, next % 4, &c) && c.bucket == next / 4 &&
                 blyi_slot_count(&t, next / 4 * 4 + 3) == 0))
            next++;
        blyi_slot_set(t.body, blyi_table_width(&t), next / 4 * 4 + 3, c.remainder);
        blyi_slot_set_count(&t, next / 4 * 4 + 3, 1);
        f->items++;
    } else if (d == TAIL)
        f->body[(blyi_table_bits(&f->geometry) - 1) / 8] |= 8;
    else if (d == GAP)
        f->body[blyi_hybrid_counts_at(&f->geometry) - 1] = 1;
    else if (d == SECOND_GAP)
        f->body[blyi_hybrid_spill_at(&f->geometry) - 1] = 1;
}

static void break_map(bly_filter *f, damage d) {
    blyi_spilled_counts s = blyi_spilled_over(&f->geometry, f->body);
    uint64_t stride = s.id_bytes + BLYI_COUNT_BYTES, from = 0, free_place = 0;
    uint8_t *first = s.head + BLYI_SPILL_HEADER_BYTES;
    while (blyi_spilled_count(&s, from) == 0)
        from++;
    while (blyi_spilled_count(&s, free_place) != 0)
        free_place++;
    uint8_t *used = first + from * stride, *other = first + free_place * stride;
    if (d == HEAD)
        s.head[0]++;
    else if (d == TOO_SMALL) {
        f->items -= blyi_spilled_count(&s, from) - 8;
        blyi_spilled_set_count(&s, from, 8);
    } else if (d == ASTRAY) {
        /* Moves an entry to the last free place before it: only a lookup that wraps around would
         * find it there. */
        uint64_t back = from ? from - 1 : s.slots - 1;
        while (blyi_spilled_count(&s, back) != 0)
            back = back ? back - 1 : s.slots - 1;
        memcpy(first + back * stride, used, (size_t)stride);
        memset(used, 0, (size_t)stride);
    } else if (d == FREE_ID)
        other[0] = 1;
    else if (d == NO_SUCH_BUCKET)
        used[s.id_bytes - 1] |= 0x80;
}

static void refuses_unsound_bodies(void **state) {
    bly_filter *f = exact_table((bly_geometry){BLY_HYBRID, 12, 101, 0, 9}, NULL), *g;
    (void)state;
    for (int d = NONE; d < DAMAGES; d++) {
        bly_filter_clear(f);
        for (uint64_t i = 0; i < 100; i++)
            add_copies(f, 1, i, i < 8 ? 16 : i < 20 ? 14 : 1);
        assert_true(blyt_info(f).spilled == 8 && is_sound(f));
        if (d == ITEMS)
            f->items++;
        else if (d >= HEAD)
            break_map(f, (damage)d);
        else
            break_table(f, (damage)d);
        blyt_buffer im = blyt_write(f);
        if (bly_filter_parse(im.data, im.size, NULL, &g) != (d ? BLY_ECORRUPT : BLY_OK))
            fail_msg("damage %d", d);
        free(im.data);
        bly_filter_destroy(g);
    }
    bly_filter_destroy(f);
}

/* Each count is valid, but the sum of all counts overflows. */
static void refuses_more_than_can_be_counted(void **state) {
    bly_filter *f = hybrid(70000, 1e-6);
    (void)state;
    for (int i = 0; i < 15; i++)
        add_hashes(f, 1, 0, 66000);
    blyi_spilled_counts s = blyi_spilled_over(&f->geometry, f->body);
    assert_true(is_sound(f) && blyi_spilled_used(&s) > 65536);
    blyi_cuckoo_class c;
    f->items = 0;
    for (uint64_t at = 0; blyi_spilled_next(&s, &at, &c); f->items += BLYI_MAX_COUNTED)
        blyi_spilled_set_count(&s, at - 1, BLYI_MAX_COUNTED);
    assert_false(is_sound(f));
    bly_filter_destroy(f);
}

/* Uses a body of random bytes (fill < 0) or of equal ones: reads must stay within the body and end,
 * and filters that are combined with it must stay valid. */
static void abuse_hybrid(bly_geometry g, int fill) {
    uint64_t bytes = bly_plan_bytes(&g), state = g.size ^ g.hashes;
    uint8_t *body = aligned_alloc(64, (size_t)bytes);
    assert_non_null(body);
    for (uint64_t i = 0; i < bytes; i++)
        body[i] = fill < 0 ? (uint8_t)blyt_next(&state) : (uint8_t)fill;
    blyi_shape shape = {.geometry = g, .capacity = 1, .fpr = 0.5, .items = 5};
    bly_filter *f, *other, *clone;
    bly_filter_info s = {.struct_size = sizeof s};
    bly_overlap o;
    assert_ok(bly_hasher_init(&shape.hasher, BLY_HASH_XXH3, 0));
    assert_ok(blyi_filter_make(&shape, NULL, body, &f));
    shape.items = 0;
    shape.geometry.detail = 0;
    assert_ok(blyi_filter_make(&shape, NULL, NULL, &other));
    for (uint64_t i = 0; i < 500; i++) {
        bly_hash h = hash_at(5, i);
        h.lo = i % 7 == 0 ? UINT64_MAX : h.lo;
        h.hi = i % 5 == 0 ? UINT64_MAX : h.hi;
        bool there = bly_filter_contains_hash(f, h);
        assert_int_equal(bly_filter_copies_hash(f, h) != 0, there);
    }
    bly_filter_get_info(f, &s);
    assert_true(s.fill >= 0 && s.fill <= 1 && s.current_fpr >= 0 && s.current_fpr <= 1);
    assert_true(s.set_bits <= s.bits && blyt_info(f).spilled <= blyi_size_of_class(g.detail));
    assert_ok(bly_filter_overlap(f, other, &o));
    assert_ok(bly_filter_overlap(other, f, &o));
    (void)bly_filter_equal(f, other);
    bly_status status = bly_filter_union(other, f);
    assert_true(status == BLY_OK || status == BLY_EFULL);
    assert_true(is_sound(other));
    (void)bly_filter_equal(f, other);
    assert_ok(bly_filter_intersect(other, f));
    assert_true(is_sound(other));
    assert_ok(bly_filter_subtract(other, f));
    assert_true(is_sound(other));
    assert_int_equal(bly_filter_clone(f, NULL, &clone), BLY_ECORRUPT);
    bly_filter_destroy(other);
    bly_filter_destroy(f);
    free(body);
}

static void survives_any_body(void **state) {
    static const uint64_t sizes[] = {1, 2, 3, 14, 101, 512};
    (void)state;
    for (uint32_t rest = 6; rest <= 55; rest++)
        for (size_t i = 0; i < COUNT_OF(sizes); i += rest % 2 + 1)
            for (uint32_t step = 0; step < 40; step += 13) {
                bly_geometry g = {BLY_HYBRID, rest, sizes[i], 0, step};
                abuse_hybrid(g, -1);
                if (rest % 8 == 0) {
                    abuse_hybrid(g, 0xff);
                    abuse_hybrid(g, 0x11);
                }
            }
}

/* The bytes of the small filter in docs/format.md that are not 0. */
static void the_vector_of_the_format(void **state) {
    static const struct {
        uint64_t at;
        uint8_t value;
    } bytes[] = {{25, 0xf9},  {26, 0x01},  {45, 0x07},  {74, 0x03}, {82, 0x0f},
                 {128, 0x01}, {152, 0x07}, {153, 0x12}, {154, 0x14}};
    bly_filter *f = exact_table((bly_geometry){BLY_HYBRID, 9, 10, 0, 0}, NULL);
    uint8_t want[192] = {0};
    (void)state;
    for (int i = 0; i < 20; i++)
        assert_ok(bly_filter_add(f, "a", 1, NULL));
    for (int i = 0; i < 3; i++)
        assert_ok(bly_filter_add(f, "bloomery", 8, NULL));
    for (size_t i = 0; i < COUNT_OF(bytes); i++)
        want[bytes[i].at] = bytes[i].value;
    assert_true(f->body_bytes == sizeof want && f->geometry.detail == 1 && f->items == 23);
    assert_memory_equal(f->body, want, sizeof want);
    bly_filter_destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_map_is_exact),
        cmocka_unit_test(ids_of_twelve_bytes),
        cmocka_unit_test(entries_lie_near),
        cmocka_unit_test(maps_are_checked),
        cmocka_unit_test(chosen_keys_are_refused),
        cmocka_unit_test(refuses_more_than_can_be_counted),
        cmocka_unit_test(files_come_back),
        cmocka_unit_test(refuses_unsound_bodies),
        cmocka_unit_test(survives_any_body),
        cmocka_unit_test(the_vector_of_the_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
