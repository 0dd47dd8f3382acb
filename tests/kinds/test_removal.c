/* Removing a key: every kind either removes exactly this key, or refuses and changes nothing. */
#include "support.h"

static void assert_bytes(const bly_filter *f, blyt_buffer want) {
    blyt_buffer have = blyt_write(f);
    assert_int_equal(have.size, want.size);
    assert_memory_equal(have.data, want.data, want.size);
    free(have.data);
}

/* A kind that cannot remove keys refuses, and nothing changes. */
static void refuses_to_remove(const blyt_case *c) {
    blyt_list l = blyt_list_of(KEYS_URL, 0, 100);
    bly_filter *f = blyt_full(c, 0.01, 0, &l), *copy = NULL;
    bly_bytes last = l.keys[l.n - 1];
    bly_hash h = bly_hash_key(bly_filter_hasher(f), last.data, last.size);
    bool removed = true;
    uint8_t answer = 9;
    bly_batch_result tally = {7, 7};
    assert_ok(bly_filter_clone(f, NULL, &copy));
    assert_int_equal(bly_filter_remove(f, last.data, last.size, &removed), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_remove(f, last.data, last.size, NULL), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_remove_hash(f, h, &removed), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_remove_many(f, &last, 1, &answer, &tally), BLY_EUNSUPPORTED);
    assert_true(removed && answer == 9 && tally.done == 0 && tally.changed == 0);
    assert_true(bly_filter_equal(f, copy) && bly_filter_contains(f, last.data, last.size));
    assert_int_equal(bly_filter_count(f), bly_filter_count(copy));
    assert_int_equal(bly_filter_copies(f, last.data, last.size), 1);
    blyt_list_free(&l);
    bly_filter_destroy(f);
    bly_filter_destroy(copy);
}

/* Whether the filter is empty, apart from stuck counters. */
static bool is_empty(const blyt_case *c, const bly_filter *f, const bly_filter *empty) {
    bly_filter_info s = {.struct_size = sizeof s};
    bly_filter_get_info(f, &s);
    if (s.count != 0 || s.stuck == 0)
        return s.count == 0 && s.set_bits == 0 &&
               (!blyt_is_canonical(c) || bly_filter_equal(f, empty));
    assert_true(blyt_limit(c) != UINT64_MAX);
    return llround(s.fill * blyt_counters(f)) == (long long)s.stuck;
}

/* Adds i % 3 + 1 copies of key i (if the kind stores copies), and removes them one by one, until
 * the filter is empty. Some counters of two bits get stuck. */
static void removes_copy_by_copy(const blyt_case *c) {
    bly_filter *f = blyt_create(c, 1200, 1e-9, 4), *empty = blyt_create(c, 1200, 1e-9, 4);
    uint64_t stored = 0, most = blyt_max_copies(c) < 3 ? blyt_max_copies(c) : 3;
    bly_filter_info s = {.struct_size = sizeof s};
    for (uint64_t i = 0; i < 300; i++)
        for (uint64_t copy = 0; copy <= i % most; copy++, stored++)
            assert_ok(bly_filter_add(f, &i, 8, NULL));
    bly_filter_get_info(f, &s);
    assert_int_equal(s.count, stored);
    assert_true(s.stuck == 0 || blyt_limit(c) == 3);
    for (uint64_t round = 0; round < 4; round++)
        for (uint64_t i = 0; i < 300; i++) {
            bool removed, there = round <= i % most;
            uint64_t copies = bly_filter_copies(f, &i, 8), want = there ? i % most + 1 - round : 0;
            bly_hash h = bly_hash_key(bly_filter_hasher(f), &i, 8);
            assert_true(s.stuck ? copies >= want : copies == want);
            assert_int_equal(bly_filter_contains(f, &i, 8), copies > 0);
            if (!there && s.stuck)
                continue; /* may be a false positive, because of stuck counters */
            assert_ok(i % 2 ? bly_filter_remove(f, &i, 8, &removed)
                            : bly_filter_remove_hash(f, h, &removed));
            assert_int_equal(removed, there);
            stored -= removed;
            assert_int_equal(bly_filter_count(f), stored);
        }
    assert_int_equal(bly_filter_count(f), 0);
    if (blyt_stores_copies(c))
        assert_true(s.stuck ? is_empty(c, f, empty) : bly_filter_equal(f, empty));
    bly_filter_destroy(f);
    bly_filter_destroy(empty);
}

/* A batch of removes gives the same result as single calls, also if some keys are missing or
 * repeated. */
static void removes_in_batches(const blyt_case *c) {
    for (size_t n = 0; n < 150; n = n < 70 ? n + 1 : n + 37) {
        blyt_list l = blyt_list_of(KEYS_URL, 0, n), held = blyt_list_of(KEYS_URL, 0, 100);
        bly_filter *a = blyt_full(c, 1e-6, 3, &held), *b = NULL;
        uint8_t removed[256];
        bly_batch_result tally;
        size_t gone = 0;
        for (size_t i = 3; i < n; i += 3)
            l.keys[i] = l.keys[i / 2];
        assert_ok(bly_filter_clone(a, NULL, &b));
        memset(removed, 9, sizeof removed);
        assert_ok(bly_filter_remove_many(a, l.keys, n, removed, &tally));
        for (size_t i = 0; i < n; i++) {
            bool one;
            assert_ok(bly_filter_remove(b, l.keys[i].data, l.keys[i].size, &one));
            assert_int_equal(removed[i], one);
            gone += one;
        }
        assert_int_equal(removed[n], 9);
        assert_true(tally.done == n && tally.changed == gone);
        assert_true(bly_filter_equal(a, b));
        assert_int_equal(bly_filter_count(a), 100 - gone);
        assert_int_equal(bly_filter_count(b), 100 - gone);
        assert_ok(bly_filter_remove_many(a, held.keys, held.n, NULL, NULL));
        assert_int_equal(bly_filter_count(a), 0);
        blyt_list_free(&l);
        blyt_list_free(&held);
        bly_filter_destroy(a);
        bly_filter_destroy(b);
    }
}

/* A full filter refuses an add and changes nothing. After a remove, it has room again. */
static void full_is_no_loss(const blyt_case *c) {
    bly_filter *f = blyt_create(c, 20, 1e-6, 1), *before = NULL;
    bly_status status = BLY_OK;
    uint64_t n = 0, first = 0, most = blyt_max_copies(c) < 100 ? blyt_max_copies(c) : 100;
    while (status == BLY_OK && n < most) { /* there are few slots for copies of one key */
        bly_filter_destroy(before);
        assert_ok(bly_filter_clone(f, NULL, &before));
        status = bly_filter_add(f, &first, 8, NULL);
        n += status == BLY_OK;
    }
    assert_true(status == BLY_EFULL ? bly_filter_equal(f, before) : n == most);
    assert_int_equal(bly_filter_count(f), n);
    assert_int_equal(bly_filter_copies(f, &first, 8), n);
    assert_int_equal(bly_filter_copies_hash(f, bly_hash_key(bly_filter_hasher(f), &first, 8)), n);
    bool removed;
    assert_ok(bly_filter_remove(f, &first, 8, &removed));
    assert_ok(bly_filter_add(f, &first, 8, NULL));
    for (; n; n--)
        assert_ok(bly_filter_remove(f, &first, 8, &removed));
    assert_true(removed && !bly_filter_contains(f, &first, 8));
    bly_filter_destroy(f);
    bly_filter_destroy(before);
}

/* A counter at its limit stays there: it does not wrap, and removes do not lower it. */
static void counters_stick(const blyt_case *c) {
    bly_filter *f = blyt_create(c, 20, 1e-6, 1), *empty = blyt_create(c, 20, 1e-6, 1);
    uint64_t key = 0, limit = blyt_limit(c);
    bly_filter_info s = {.struct_size = sizeof s};
    for (uint64_t i = 0; i < limit + 3; i++)
        assert_ok(bly_filter_add(f, &key, 8, NULL));
    assert_int_equal(bly_filter_copies(f, &key, 8), limit);
    assert_int_equal(bly_filter_count(f), limit + 3);
    bly_filter_get_info(f, &s);
    assert_true(s.stuck > 0 && s.stuck <= 64);
    for (uint64_t i = 0; i < limit + 3; i++)
        assert_ok(bly_filter_remove(f, &key, 8, NULL));
    assert_int_equal(bly_filter_copies(f, &key, 8), limit);
    assert_true(is_empty(c, f, empty));
    bly_filter_clear(f);
    assert_true(is_empty(c, f, empty) && bly_filter_equal(f, empty));
    bly_filter_destroy(f);
    bly_filter_destroy(empty);
}

/* A kind that stores a set: repeated adds change nothing, and one remove removes a key. */
static void collapses_copies(const blyt_case *c) {
    bly_filter *f = blyt_create(c, 20, 1e-6, 1);
    uint64_t key = 0;
    bool changed;
    for (int i = 0; i < 5; i++) {
        assert_ok(bly_filter_add(f, &key, 8, &changed));
        assert_int_equal(changed, i == 0);
        assert_int_equal(bly_filter_count(f), 1);
        assert_int_equal(bly_filter_copies(f, &key, 8), 1);
    }
    for (int i = 0; i < 3; i++) {
        assert_ok(bly_filter_remove(f, &key, 8, &changed));
        assert_int_equal(changed, i == 0);
        assert_false(bly_filter_contains(f, &key, 8));
        assert_int_equal(bly_filter_count(f), 0);
    }
    bly_filter_destroy(f);
}

static void removed_or_refused(void **state) {
    (void)state;
    FOR_EACH_CASE(c) {
        if (!blyt_can(c, BLY_CAN_REMOVE)) {
            refuses_to_remove(c);
            continue;
        }
        removes_copy_by_copy(c);
        removes_in_batches(c);
        full_is_no_loss(c);
        if (blyt_limit(c) != UINT64_MAX)
            counters_stick(c);
        if (!blyt_stores_copies(c))
            collapses_copies(c);
    }
}

/* ---- failed calls change nothing ------------------------------------------------------------- */

/* Removing a non-member changes no byte. */
static void non_members_leave_no_trace(void **state) {
    blyt_list l = blyt_list_of(KEYS_URL, 0, 1000);
    (void)state;
    FOR_EACH_CASE(c) {
        if (!blyt_can(c, BLY_CAN_REMOVE))
            continue;
        bly_filter *f = blyt_full(c, 0.01, 7, &l);
        size_t absent = 0;
        assert_ok(bly_filter_remove_many(f, l.keys, 300, NULL, NULL));
        blyt_buffer before = blyt_write(f);
        for (uint64_t i = 0; i < 5000; i++) {
            char key[BLYT_KEY_MAX];
            size_t len = blyt_key(KEYS_URL, i < 300 ? i : i + 1000, key);
            bool removed = true;
            if (bly_filter_contains(f, key, len))
                continue;
            assert_ok(bly_filter_remove(f, key, len, &removed));
            assert_false(removed);
            absent++;
        }
        assert_true(absent > 4500);
        assert_bytes(f, before);
        free(before.data);
        bly_filter_destroy(f);
    }
    blyt_list_free(&l);
}

typedef enum change { ADD, REMOVE, UNITE, SUBTRACT, INTERSECT } change;

static bly_status perform(change what, bly_filter *f, const bly_filter *other, uint64_t key) {
    switch (what) {
    case ADD:
        return bly_filter_add(f, &key, 8, NULL);
    case REMOVE:
        return bly_filter_remove(f, &key, 8, NULL);
    case UNITE:
        return bly_filter_union(f, other);
    case SUBTRACT:
        return bly_filter_subtract(f, other);
    default:
        return bly_filter_intersect(f, other);
    }
}

/* Makes each allocation of the call fail in turn, and asserts that no byte changes. Ends when the
 * call succeeds, or fails for another reason. Returns how many calls failed for lack of memory. */
static size_t change_in_need(change what, bly_filter *f, const bly_filter *other, uint64_t key,
                             blyt_heap *heap) {
    bly_status status = BLY_ENOMEM;
    size_t live = heap->live, refused = 0;
    while (status == BLY_ENOMEM) {
        blyt_buffer before = blyt_write(f);
        heap->fail_at = heap->calls + refused + 1;
        status = perform(what, f, other, key);
        if (status != BLY_OK)
            assert_bytes(f, before);
        if (status == BLY_ENOMEM) {
            assert_int_equal(heap->live, live);
            assert_true(++refused < 20);
        }
        free(before.data);
    }
    heap->fail_at = 0;
    assert_true(status == BLY_OK || status == BLY_EFULL || status == BLY_EUNSUPPORTED ||
                status == BLY_EMISMATCH);
    return refused;
}

static void no_memory_to_change(void **state) {
    enum { COPIES = 40, KEYS = 400 };
    (void)state;
    FOR_EACH_CASE(c) {
        if (!blyt_can(c, BLY_CAN_ADD))
            continue;
        blyt_heap heap = {0};
        bly_allocator a = blyt_heap_allocator(&heap);
        bly_spec spec = blyt_spec(c, 50, 0.01);
        bly_filter *f = NULL, *other = blyt_create(c, 50, 0.01, 0);
        spec.allocator = &a;
        assert_ok(bly_filter_create(&spec, &f));
        size_t made = heap.calls, refused = 0;
        for (uint64_t i = 0; i < COPIES + KEYS; i++) /* many copies of the first keys */
            refused += change_in_need(ADD, f, NULL, i < COPIES ? i % 4 : i - COPIES, &heap);
        for (uint64_t i = 0; i < 80; i++) {
            bly_status status = bly_filter_add(other, &i, 8, NULL);
            assert_true(status == BLY_OK || status == BLY_EFULL);
            status = bly_filter_add(other, &(uint64_t){i % 3}, 8, NULL);
            assert_true(status == BLY_OK || status == BLY_EFULL);
        }
        for (change what = UNITE; what <= INTERSECT; what++)
            refused += change_in_need(what, f, other, 0, &heap);
        for (uint64_t i = 0; i < KEYS; i++)
            refused += change_in_need(REMOVE, f, NULL, i, &heap);
        assert_int_equal(refused > 0, heap.calls > made);
        bly_filter_destroy(f);
        bly_filter_destroy(other);
        assert_int_equal(heap.live, 0);
    }
}

/* ---- long lives ------------------------------------------------------------------------------ */

typedef struct life {
    const blyt_case *c;
    bly_filter *f;
    uint32_t *copies; /* of each key */
    uint8_t *known;   /* whether it was ever added */
    uint64_t universe, rng, stored, refused;
} life;

/* Draws the r-th key 1/r as often as the first. */
static uint64_t draw_key(life *l) {
    double u = (double)(blyt_next(&l->rng) >> 11) * 0x1p-53;
    uint64_t rank = (uint64_t)exp(u * log((double)l->universe + 1));
    return rank - 1 < l->universe ? rank - 1 : 0;
}

static void one_more(life *l) {
    uint64_t key = draw_key(l), before = bly_filter_count(l->f);
    if (l->refused >= 1000 && l->copies[key] >= 3)
        return; /* an add that finds no room takes long */
    bool counts = blyt_stores_copies(l->c), added = false;
    bool seemed = bly_filter_contains(l->f, &key, 8);
    bly_status status = bly_filter_add(l->f, &key, 8, &added);
    if (status == BLY_EFULL) { /* a cuckoo table has no room for a ninth copy */
        assert_true(counts && blyt_limit(l->c) == UINT64_MAX && bly_filter_count(l->f) == before);
        l->refused++;
        return;
    }
    assert_ok(status);
    assert_int_equal(added, !seemed);
    l->stored += counts || !l->copies[key];
    l->copies[key] = counts ? l->copies[key] + 1 : 1;
    l->known[key] = 1;
}

/* Removes a key. Half of the time, it is preferably a frequent one. */
static void one_less(life *l) {
    uint64_t key = blyt_next(&l->rng) % 2 ? draw_key(l) : blyt_next(&l->rng) % l->universe;
    bool removed = true, seemed = bly_filter_contains(l->f, &key, 8);
    if (l->copies[key] == 0 && seemed)
        return; /* this would remove another key's copy */
    assert_true(seemed || l->copies[key] == 0);
    assert_ok(bly_filter_remove(l->f, &key, 8, &removed));
    assert_int_equal(removed, l->copies[key] > 0);
    l->copies[key] -= removed;
    l->stored -= removed;
}

/* Asserts that no copy is missing, and that the count is right. That of an overlay lacks the keys
 * that seemed present when they were added. */
static void check_life(const life *l) {
    uint64_t limit = blyt_limit(l->c), count = bly_filter_count(l->f);
    if (blyt_stores_copies(l->c))
        assert_int_equal(count, l->stored);
    else
        assert_true(count <= l->stored && (double)count >= 0.95 * (double)l->stored - 5);
    for (uint64_t key = 0; key < l->universe; key++) {
        uint64_t owed = l->copies[key] < limit ? l->copies[key] : limit;
        if (owed && bly_filter_copies(l->f, &key, 8) < owed)
            fail_msg("%s lost a copy of key %llu", l->c->name, (unsigned long long)key);
    }
}

static void end_life(life *l, const bly_filter *empty) {
    bool removed;
    for (uint64_t key = 0; key < l->universe; key++)
        for (; l->copies[key] > 0; l->copies[key]--) {
            assert_ok(bly_filter_remove(l->f, &key, 8, &removed));
            assert_true(removed);
        }
    assert_int_equal(bly_filter_count(l->f), 0);
    if (blyt_stores_copies(l->c))
        assert_true(is_empty(l->c, l->f, empty));
    else
        for (uint64_t key = 0; key < l->universe; key++)
            assert_true(!l->known[key] || !bly_filter_contains(l->f, &key, 8));
}

/* Adds and removes keys in any order, with mostly adds at first and mostly removes later. A few
 * keys have many copies, and many keys have few. With BLOOMERY_LONG in the environment, ten million
 * steps. */
static void long_lives(void **state) {
    uint64_t steps = blyt_long() ? 10000000 : 200000 / BLYT_SLOW;
    (void)state;
    FOR_EACH_CASE(c) {
        if (!blyt_can(c, BLY_CAN_REMOVE))
            continue;
        life l = {.c = c, .universe = steps / 50, .rng = 5};
        uint64_t capacity = blyt_can(c, BLY_LIMITS_COPIES) ? 4 * l.universe : l.universe;
        bly_filter *empty = blyt_create(c, capacity, 0.01, 1);
        bly_filter_info s = {.struct_size = sizeof s};
        l.f = blyt_create(c, capacity, 0.01, 1);
        l.copies = calloc((size_t)l.universe, sizeof *l.copies);
        l.known = calloc((size_t)l.universe, sizeof *l.known);
        assert_true(l.copies && l.known);
        for (uint64_t i = 0; i < steps; i++) {
            bool grows = blyt_next(&l.rng) % 100 < (i < steps / 2 ? 75 : 30);
            (grows ? one_more : one_less)(&l);
            if (i % (steps / 16) == 0)
                check_life(&l);
        }
        check_life(&l);
        bly_filter_get_info(l.f, &s);
        uint64_t stored = l.stored;
        end_life(&l, empty);
        if (getenv("BLYT_VERBOSE"))
            print_message("           %llu steps, %llu copies at the end, %llu refused, %llu "
                          "counters stuck\n",
                          (unsigned long long)steps, (unsigned long long)stored,
                          (unsigned long long)l.refused, (unsigned long long)s.stuck);
        free(l.copies);
        free(l.known);
        bly_filter_destroy(l.f);
        bly_filter_destroy(empty);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(removed_or_refused),
        cmocka_unit_test(non_members_leave_no_trace),
        cmocka_unit_test(no_memory_to_change),
        cmocka_unit_test(long_lives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
