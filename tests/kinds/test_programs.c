/* Random programs on two filters, compared with an exact record of their keys: after every few
 * steps, no key that must be found is missing and, for kinds that store copies, no copy is missing.
 *
 * The steps depend on the capabilities of the kind. A filter that forgets keys must contain the
 * last WINDOW keys. Kinds that are built are rebuilt instead of adding keys. */
#include "support.h"

enum { UNIVERSE = 400, STEPS = 2000, WINDOW = 240, GENERATIONS = 8 };

typedef struct model {
    const blyt_case *c;
    bly_filter *f;
    unsigned copies[UNIVERSE]; /* 0 or 1 unless the kind stores copies */
    uint64_t age[UNIVERSE];    /* number of adds since the last one of this key */
    bool estimated;            /* an intersection of shared counters, whose count is an estimate */
} model;

typedef struct program {
    model m[2];
    uint64_t rng;
    int adds, refused;
} program;

static uint64_t draw(program *p, uint64_t below) {
    return blyt_next(&p->rng) % below;
}

/* Draws any key in half of the cases, otherwise preferably one of the first. */
static uint64_t draw_key(program *p) {
    return draw(p, draw(p, 2) ? UNIVERSE : 1 + draw(p, 1 + draw(p, UNIVERSE)));
}

/* ---- what must hold -------------------------------------------------------------------------- */

static bool is_owed(const model *m, size_t key) {
    if (m->copies[key] == 0)
        return false;
    return !blyt_can(m->c, BLY_FORGETS) || m->age[key] < WINDOW;
}

static void check(const model *m, uint64_t seed, int step) {
    uint64_t stored = 0, limit = blyt_limit(m->c);
    for (uint64_t i = 0; i < UNIVERSE; i++) {
        uint64_t owed = m->copies[i] < limit ? m->copies[i] : limit;
        stored += m->copies[i];
        if (is_owed(m, i) && bly_filter_copies(m->f, &i, 8) < owed)
            fail_msg("%s lost key %d at step %d, seed %llu", m->c->name, (int)i, step,
                     (unsigned long long)seed);
    }
    if (blyt_stores_copies(m->c) && !m->estimated)
        assert_int_equal(bly_filter_count(m->f), stored);
}

static void assert_unchanged(const bly_filter *f, bly_filter *before) {
    assert_true(bly_filter_equal(f, before));
    assert_int_equal(bly_filter_count(f), bly_filter_count(before));
    bly_filter_destroy(before);
}

static bly_filter *clone_of(const bly_filter *f) {
    bly_filter *copy = NULL;
    assert_ok(bly_filter_clone(f, NULL, &copy));
    return copy;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void add(program *p, model *m) {
    uint64_t key = draw_key(p);
    bool before = bly_filter_contains(m->f, &key, 8), added = false;
    bool counts = blyt_stores_copies(m->c);
    bly_filter *copy = blyt_can(m->c, BLY_CAN_REMOVE) ? clone_of(m->f) : NULL;
    bly_status status = bly_filter_add(m->f, &key, 8, &added);
    p->adds++;
    /* The key's slots are full, with its own copies or those of other keys. */
    if (status == BLY_EFULL && copy) {
        assert_unchanged(m->f, copy);
        p->refused++;
        return;
    }
    bly_filter_destroy(copy);
    assert_ok(status);
    assert_int_equal(added, !before);
    m->copies[key] = counts ? m->copies[key] + 1 : 1;
    for (size_t i = 0; i < UNIVERSE; i++)
        m->age[i]++;
    m->age[key] = 0;
}

static void build(program *p, model *m) {
    bly_spec spec = blyt_spec(m->c, 0, 0.01);
    bly_bytes keys[2 * UNIVERSE];
    uint64_t words[UNIVERSE];
    size_t n = 0, share = draw(p, 5);
    for (size_t i = 0; i < UNIVERSE; i++) {
        words[i] = i;
        m->copies[i] = draw(p, 4) < share;
        for (unsigned twice = 0; m->copies[i] && twice <= i % 2; twice++)
            keys[n++] = (bly_bytes){&words[i], 8};
    }
    bly_filter_destroy(m->f);
    assert_ok(bly_filter_build(&spec, keys, n, &m->f));
}

/* Removes the key if it is a member. Otherwise, if it is not a false positive, asserts that
 * removing it changes nothing. */
static void take_out(program *p, model *m) {
    uint64_t key = draw_key(p);
    bool removed = false;
    if (m->copies[key] > 0) {
        assert_ok(bly_filter_remove(m->f, &key, 8, &removed));
        assert_true(removed);
        m->copies[key]--;
    } else if (!bly_filter_contains(m->f, &key, 8)) {
        bly_filter *before = clone_of(m->f);
        assert_ok(bly_filter_remove(m->f, &key, 8, &removed));
        assert_false(removed);
        assert_unchanged(m->f, before);
    }
}

/* Returns the expected status of combining two filters, which may have grown differently, or be in
 * different generations. */
static bly_status allowed(uint32_t what, const blyt_case *c, const bly_filter *a,
                          const bly_filter *b) {
    return blyt_can(c, what) ? bly_filter_compatible(a, b) : BLY_EUNSUPPORTED;
}

/* A union may make a window by number of keys drop its oldest generation early, so `age` is
 * increased by one generation. */
static void unite(model *a, const model *b) {
    bly_filter *before = clone_of(a->f);
    bly_status status = bly_filter_union(a->f, b->f);
    assert_int_equal(bly_filter_why_not(BLY_OP_UNION, before, b->f) == NULL,
                     status == BLY_OK || status == BLY_EFULL);
    if (status != BLY_OK) {
        assert_true(status == allowed(BLY_CAN_UNION, a->c, before, b->f) || status == BLY_EFULL);
        assert_unchanged(a->f, before);
        return;
    }
    bly_filter_destroy(before);
    for (size_t i = 0; i < UNIVERSE; i++) {
        if (!a->copies[i] || (b->copies[i] && b->age[i] < a->age[i]))
            a->age[i] = b->age[i];
        a->age[i] += WINDOW / GENERATIONS;
        if (blyt_stores_copies(a->c))
            a->copies[i] += b->copies[i];
        else
            a->copies[i] |= b->copies[i];
    }
    a->estimated = a->estimated || b->estimated;
}

static void intersect(model *a, const model *b) {
    bly_status want = allowed(BLY_CAN_INTERSECT, a->c, a->f, b->f);
    assert_int_equal(bly_filter_intersect(a->f, b->f), want);
    a->estimated = a->estimated || (want == BLY_OK && blyt_limit(a->c) != UINT64_MAX);
    for (int i = 0; want == BLY_OK && i < UNIVERSE; i++)
        if (b->copies[i] < a->copies[i])
            a->copies[i] = b->copies[i];
}

/* Adds some of the keys to another filter, and subtracts it. */
static void subtract(program *p, model *m) {
    bly_filter *part = clone_of(m->f), *before = NULL;
    bly_filter_clear(part);
    for (uint64_t i = 0; i < UNIVERSE; i++) {
        unsigned n = m->copies[i] && draw(p, 3) == 0 ? 1 + (unsigned)draw(p, m->copies[i]) : 0;
        m->copies[i] -= n;
        for (; n > 0; n--)
            assert_ok(bly_filter_add(part, &i, 8, NULL));
    }
    before = clone_of(part);
    assert_ok(bly_filter_subtract(m->f, part));
    assert_unchanged(part, before);
    bly_filter_destroy(part);
}

static void reopen(model *m) {
    blyt_buffer b = blyt_write(m->f);
    bly_filter *again = NULL;
    assert_ok(bly_filter_parse(b.data, b.size, NULL, &again));
    assert_unchanged(again, m->f);
    m->f = again;
    free(b.data);
}

static void fold_both(model m[2]) {
    for (int i = 0; i < 2; i++) {
        bly_filter *folded = NULL;
        if (bly_filter_fold(m[i].f, 2, NULL, &folded) != BLY_OK)
            return; /* as both have the same size, only the first may refuse */
        bly_filter_destroy(m[i].f);
        m[i].f = folded;
    }
}

static void clear(model *m) {
    bly_filter_clear(m->f);
    memset(m->copies, 0, sizeof m->copies);
    m->estimated = false;
}

static void copy_over(model *a, const model *b) {
    bly_filter *copy = clone_of(b->f);
    bly_filter_destroy(a->f);
    *a = *b;
    a->f = copy;
}

static void step(program *p) {
    model *a = &p->m[draw(p, 2)], *b = a == p->m ? p->m + 1 : p->m;
    uint64_t what = draw(p, 100);
    if (what < 80 && blyt_can(a->c, BLY_CAN_REMOVE) && draw(p, 2))
        take_out(p, a);
    else if (what < 80 && blyt_can(a->c, BLY_CAN_ADD))
        add(p, a);
    else if (what < 10)
        build(p, a);
    else if (what >= 80 && what < 84)
        unite(a, b);
    else if (what >= 84 && what < 86 && blyt_can(a->c, BLY_CAN_SUBTRACT))
        subtract(p, a);
    else if (what >= 86 && what < 88)
        intersect(a, b);
    else if (what >= 88 && what < 94)
        reopen(a);
    else if (what == 94)
        fold_both(p->m);
    else if (what >= 95 && what < 97)
        clear(a);
    else if (what >= 97)
        copy_over(a, b);
}

/* Returns a capacity with which growing kinds grow, windows turn, and tables get nearly full. */
static uint64_t capacity_for(const blyt_case *c) {
    if (blyt_grows(c->kind))
        return 30;
    if (blyt_can(c, BLY_FORGETS))
        return WINDOW;
    return blyt_can(c, BLY_CAN_REMOVE) ? 1500 : 3000;
}

/* Ten programs for each kind; a hundred in kinds_programs_large, three with a sanitizer. */
static void random_programs(void **state) {
    uint64_t programs = blyt_large() ? 100 : BLYT_SLOW > 1 ? 3 : 10;
    (void)state;
    FOR_EACH_CASE(c)
    for (uint64_t seed = 1; seed <= programs; seed++) {
        bly_spec spec = blyt_foldable(c, capacity_for(c), 0.01);
        program p = {.m = {{.c = c}, {.c = c}}, .rng = seed};
        for (int i = 0; i < 2; i++)
            assert_ok(blyt_make(&spec, &p.m[i].f));
        for (int i = 0; i < STEPS; i++) {
            step(&p);
            if (i % 50 == 0) {
                check(&p.m[0], seed, i);
                check(&p.m[1], seed, i);
            }
        }
        bly_filter_destroy(p.m[0].f);
        bly_filter_destroy(p.m[1].f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
