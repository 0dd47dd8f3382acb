/* fuzz_ops.c - interprets bytes as a program of operations, and applies them both to filters and to
 * exact sets.
 *
 * There are four filters and 256 possible keys. After every operation, the filter must contain all
 * keys of its set. (In a kind that stores copies it must contain every copy; in a kind that
 * forgets, only the latest keys.) Batches must give the same answers as single calls. In kinds that
 * guarantee it, and if there was no intersection, a filter must also equal a new filter to which
 * the keys of its set were added: after unions, removes, folds, clones, and after writing and
 * parsing.
 */
/* Length: the file has one function for each operation of the interface. */
#include "cases.h"

#include <bloomery/bloomery.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4, KEYS = 256, MAX_BATCH = 70, MAX_OPS = 120 };

typedef struct slot {
    bly_filter *filter; /* NULL: the slot is empty */
    unsigned in[KEYS];  /* number of copies of each key in the set; 0 or 1 unless the kind stores
                           copies */
    uint64_t age[KEYS]; /* number of adds since the last one of this key */
    uint64_t window;    /* for a kind that forgets: how many of the latest adds it must contain */
    bool exact;         /* true: the filter has exactly the keys of the set, because there was no
                           intersection */
} slot;

typedef struct program {
    const uint8_t *at, *end;
} program;

static slot slots[SLOTS];
static char names[KEYS][16];
static bly_bytes keys[KEYS];

static void demand(bool truth) {
    if (!truth)
        __builtin_trap();
}

static unsigned next_byte(program *p) {
    return p->at < p->end ? *p->at++ : 0;
}

static slot *read_slot(program *p) {
    return &slots[next_byte(p) % SLOTS];
}

/* ---- what must hold -------------------------------------------------------------------------- */

static uint32_t caps(const slot *s) {
    return bly_kind_capabilities(bly_filter_geometry(s->filter).kind);
}

static const blyt_case *case_of(const slot *s) {
    const bly_geometry g = bly_filter_geometry(s->filter);
    return blyt_case_like(&g);
}

/* Whether, in the filter's kind, every add stores a copy and every remove removes one. */
static bool stores_copies(const slot *s) {
    return blyt_stores_copies(case_of(s));
}

/* Whether the filter must equal every filter with the same keys, whatever operations created it.
 * This is not so if it has a stuck counter. */
static bool is_canonical(const slot *s) {
    bly_filter_info stats = {.struct_size = sizeof stats};
    bly_filter_get_info(s->filter, &stats);
    return blyt_is_canonical(case_of(s)) && stats.stuck == 0;
}

static bly_filter *rebuilt(const slot *s) {
    bly_filter_info stats = {.struct_size = sizeof stats};
    bly_filter *f;
    bly_filter_get_info(s->filter, &stats);
    bly_spec spec = {
        .struct_size = sizeof spec,
        .geometry = bly_filter_geometry(s->filter),
        .capacity = stats.capacity,
        .fpr = stats.requested_fpr,
        .hasher = *bly_filter_hasher(s->filter),
        .allow_weak_hash = true,
    };
    if (bly_filter_create(&spec, &f) != BLY_OK)
        return NULL;
    bly_status status = BLY_OK;
    for (int i = 0; i < KEYS; i++)
        for (unsigned n = 0; status == BLY_OK && n < s->in[i]; n++)
            status = bly_filter_add(f, keys[i].data, keys[i].size, NULL);
    demand(status == BLY_OK || (status == BLY_EFULL && caps(s) & BLY_CAN_REMOVE));
    bly_filter_get_info(f, &stats);
    if (status == BLY_OK && stats.stuck == 0) /* s itself may have no stuck counter, because keys
                                                 were removed in between */
        return f;
    bly_filter_destroy(f); /* the keys do not fit if they are added in this order */
    return NULL;
}

static bool is_owed(const slot *s, int key) {
    return s->in[key] && (!(caps(s) & BLY_FORGETS) || s->age[key] < s->window);
}

static void check(const slot *s) {
    uint64_t stored = 0;
    if (!s->filter)
        return;
    uint64_t limit = blyt_limit(case_of(s));
    for (int i = 0; i < KEYS; i++) {
        uint64_t owed = s->in[i] < limit ? s->in[i] : limit;
        stored += s->in[i];
        if (is_owed(s, i))
            demand(bly_filter_copies(s->filter, keys[i].data, keys[i].size) >= owed);
    }
    if (!s->exact)
        return;
    if (stores_copies(s) || caps(s) & BLY_CAN_BUILD)
        demand(bly_filter_count(s->filter) == stored);
    bly_filter *f = is_canonical(s) ? rebuilt(s) : NULL;
    demand(!f || bly_filter_equal(f, s->filter));
    bly_filter_destroy(f);
}

static bly_filter *clone_of(const slot *s) {
    bly_filter *copy = NULL;
    demand(bly_filter_clone(s->filter, NULL, &copy) == BLY_OK);
    return copy;
}

static void demand_unchanged(const slot *s, bly_filter *before) {
    demand(bly_filter_equal(s->filter, before));
    demand(bly_filter_count(s->filter) == bly_filter_count(before));
    bly_filter_destroy(before);
}

/* ---- operations ------------------------------------------------------------------------------ */

static bly_hash custom(void *user, const void *key, size_t len) {
    (void)user;
    uint64_t h = 1469598103934665603U;
    for (size_t i = 0; i < len; i++)
        h = (h ^ ((const uint8_t *)key)[i]) * 1099511628211U;
    return (bly_hash){h * 0x9E3779B97F4A7C15U, h * 0xf1357aea2e62a9c5U};
}

static bly_hasher read_hasher(program *p) {
    static const bly_hash_id ids[] = {BLY_HASH_XXH3, BLY_HASH_XXH3_128, BLY_HASH_MURMUR3,
                                      BLY_HASH_FNV1A_32};
    const uint8_t secret[16] = {0};
    bly_hasher h = {0};
    unsigned choice = next_byte(p) % 8;
    bly_status status = choice == 7   ? bly_hasher_keyed(&h, secret)
                        : choice == 6 ? bly_hasher_custom(&h, custom, NULL, 64, 1)
                                      : bly_hasher_init(&h, ids[choice % 4], choice / 4);
    return status == BLY_OK ? h : (bly_hasher){0};
}

static bly_geometry read_geometry(program *p) {
    bly_geometry g = {0};
    g.kind = (bly_kind)(1 + next_byte(p) % 5);
    g.hashes = next_byte(p);
    g.size = next_byte(p);
    g.options = next_byte(p) % 4;
    switch (g.kind) {
    case BLY_CLASSIC:
        g.hashes = 1 + g.hashes % 64;
        g.size = 64 + g.size * (1 + next_byte(p) % 20);
        break;
    case BLY_PARTITIONED:
        g.hashes = 1 + g.hashes % 64;
        g.size = 64 * (1 + g.size % 8);
        break;
    case BLY_SBBF:
        g.hashes = 8;
        break;
    case BLY_SPLIT512:
        g.hashes = 8 + 4 * (g.hashes % 3);
        break;
    default:
        g.hashes = 2 + 2 * (g.hashes % 8);
    }
    if (g.kind != BLY_CLASSIC)
        g.options &= BLY_FOLDABLE;
    return g;
}

/* Returns kind number n of the library, where n is taken modulo the number of kinds. */
static bly_kind nth_kind(unsigned n) {
    bly_kind kinds[256], kind = BLY_KIND_NONE;
    size_t count = 0;
    while ((kind = bly_kind_next(kind)) != BLY_KIND_NONE)
        kinds[count++] = kind;
    return kinds[n % count];
}

/* Reads a spec with any kind, a number of keys and a rate. */
static bly_spec read_plan(program *p) {
    bly_kind kind = nth_kind(next_byte(p));
    uint64_t capacity = 1 + next_byte(p);
    bly_spec spec = bly_spec_for(kind, capacity, (1 + next_byte(p)) / 300.0);
    if (spec.geometry.kind == BLY_COUNTING)
        spec.counting.counter_bits = 2U << next_byte(p) % 4;
    if (bly_kind_capabilities(kind) & BLY_CARDINALITY_ONLY) /* small filters, for speed */
        spec.fpr = spec.fpr < 0.05 ? 0.05 : spec.fpr;
    if (spec.geometry.kind == BLY_OVERLAY && next_byte(p) % 2) {
        spec.overlay.marker = BLY_CLASSIC;
        spec.overlay.changes = 1 + next_byte(p);
    }
    if (spec.geometry.kind == BLY_WINDOW && next_byte(p) % 2) {
        spec.window.generations = 1 + next_byte(p) % 32;
        spec.window.span = next_byte(p) % 3 * 100;
    }
    return spec;
}

static void op_create(slot *s, program *p) {
    bly_spec spec = {.struct_size = sizeof spec, .geometry = read_geometry(p)};
    if (next_byte(p) % 2)
        spec = read_plan(p);
    uint32_t can = bly_kind_capabilities(spec.geometry.kind);
    spec.allow_weak_hash = true;
    if (can & BLY_CAN_SHARE)
        spec.sharing = (bly_sharing)(next_byte(p) % 3);
    spec.hasher = read_hasher(p);
    if (spec.geometry.size == 0 && spec.capacity == 0) { /* size 0 means: planned from capacity and
                                                            rate */
        spec.capacity = 1 + next_byte(p);
        spec.fpr = (1 + next_byte(p)) / 300.0;
    }
    bly_filter_destroy(s->filter);
    memset(s, 0, sizeof *s);
    s->window = spec.window.span ? 0 : spec.capacity;
    s->exact = (can & BLY_CAN_BUILD ? bly_filter_build(&spec, NULL, 0, &s->filter)
                                    : bly_filter_create(&spec, &s->filter)) == BLY_OK;
    demand(s->exact == (s->filter != NULL));
}

/* Replaces the filter by one that is built from other keys, some of which occur twice. */
static void op_build(slot *s, program *p) {
    bly_filter_info stats = {.struct_size = sizeof stats};
    bly_bytes chosen[2 * KEYS];
    bly_filter *built;
    size_t n = 0;
    unsigned every = 1 + next_byte(p) % 9;
    bly_filter_get_info(s->filter, &stats);
    bly_spec spec = bly_spec_for(stats.kind, 0, stats.requested_fpr);
    spec.hasher = *bly_filter_hasher(s->filter);
    spec.allow_weak_hash = true;
    for (unsigned i = 0; i < KEYS; i++) {
        s->in[i] = (i + next_byte(p)) % every == 0;
        for (unsigned twice = 0; s->in[i] && twice <= i % 2; twice++)
            chosen[n++] = keys[i];
    }
    demand(bly_filter_build(&spec, chosen, n, &built) == BLY_OK);
    bly_filter_destroy(s->filter);
    s->filter = built;
    s->exact = true;
    for (size_t i = 0; i < n / 2; i++) { /* the order of the keys must not matter */
        bly_bytes swap = chosen[i];
        chosen[i] = chosen[n - 1 - i];
        chosen[n - 1 - i] = swap;
    }
    demand(bly_filter_build(&spec, chosen, n, &built) == BLY_OK);
    demand(bly_filter_equal(s->filter, built));
    bly_filter_destroy(built);
}

static void note_add(slot *s, unsigned key) {
    s->in[key] = stores_copies(s) ? s->in[key] + 1 : 1;
    for (unsigned i = 0; i < KEYS; i++)
        s->age[i]++;
    s->age[key] = 0;
}

static void op_add(slot *s, unsigned key) {
    bool added, seemed = bly_filter_contains(s->filter, keys[key].data, keys[key].size);
    bly_filter *before = clone_of(s);
    bly_status status = bly_filter_add(s->filter, keys[key].data, keys[key].size, &added);
    if (status != BLY_OK) {
        demand(status == (caps(s) & BLY_CAN_ADD ? BLY_EFULL : BLY_EUNSUPPORTED));
        demand(status != BLY_EFULL || caps(s) & BLY_CAN_REMOVE);
        demand_unchanged(s, before);
        return;
    }
    demand(added == !seemed);
    note_add(s, key);
    bly_filter_destroy(before);
}

static void op_remove(slot *s, unsigned key) {
    bool removed = false;
    bly_filter *before = clone_of(s);
    if (s->in[key] == 0 && bly_filter_contains(s->filter, keys[key].data, keys[key].size)) {
        bly_filter_destroy(before); /* the key is a false positive: removing it would remove another
                                       key's copy */
        return;
    }
    bly_status status = bly_filter_remove(s->filter, keys[key].data, keys[key].size, &removed);
    /* An overlay may have no room for more removed keys. */
    bool full = status == BLY_EFULL && bly_overlay_base(s->filter);
    demand(full || status == (caps(s) & BLY_CAN_REMOVE ? BLY_OK : BLY_EUNSUPPORTED));
    if (full || !removed) {
        demand(status != BLY_OK || s->in[key] == 0);
        demand_unchanged(s, before);
        return;
    }
    s->in[key]--;
    bly_filter_destroy(before);
}

/* Advances the clock of a window. (For a window that is measured in time, s->window is 0, so no key
 * is required to be in it.) */
static void op_advance(slot *s, uint64_t by) {
    bly_window_info w = {.struct_size = sizeof w};
    if (bly_window_get_info(s->filter, &w) != BLY_OK) {
        demand(bly_window_advance(s->filter, by) == BLY_EKIND);
        return;
    }
    bly_status status = bly_window_advance(s->filter, w.now + by);
    demand(status == (w.span ? BLY_OK : BLY_EUNSUPPORTED));
    if (status == BLY_OK && by > 0 && w.now > 0)
        demand(bly_window_advance(s->filter, w.now - 1) == BLY_EINVAL);
}

static void op_add_many(slot *s, program *p) {
    bly_bytes batch[MAX_BATCH];
    bly_hash hashes[MAX_BATCH];
    uint8_t added[MAX_BATCH];
    unsigned chosen[MAX_BATCH];
    size_t n = next_byte(p) % (MAX_BATCH + 1), fresh = 0, done = 0;
    bool by_hash = next_byte(p) & 1;
    bly_batch_result tally;
    bly_filter *single = clone_of(s);
    for (size_t i = 0; i < n; i++) {
        chosen[i] = next_byte(p);
        batch[i] = keys[chosen[i]];
    }
    bly_hash_keys(bly_filter_hasher(s->filter), batch, n, hashes);
    bly_status status = by_hash ? bly_filter_add_hashes(s->filter, hashes, n, added, &tally)
                                : bly_filter_add_many(s->filter, batch, n, added, &tally);
    for (; done < n; done++) {
        bool is_new;
        if (bly_filter_add(single, batch[done].data, batch[done].size, &is_new) != BLY_OK)
            break;
        demand(is_new == added[done]);
        fresh += is_new;
        note_add(s, chosen[done]);
    }
    demand((status == BLY_OK) == (done == n));
    demand(tally.done == done && tally.changed == fresh);
    demand_unchanged(s, single);
}

static void op_contains_many(const slot *s, program *p) {
    bly_hash hashes[KEYS];
    uint8_t by_key[KEYS], by_hash[KEYS];
    size_t n = next_byte(p) + 1, hits = 0;
    bly_hash_keys(bly_filter_hasher(s->filter), keys, n, hashes);
    size_t found = bly_filter_contains_many(s->filter, keys, n, by_key);
    demand(found == bly_filter_contains_hashes(s->filter, hashes, n, by_hash));
    demand(found == bly_filter_contains_many(s->filter, keys, n, NULL));
    for (size_t i = 0; i < n; i++) {
        bool one = bly_filter_contains(s->filter, keys[i].data, keys[i].size);
        demand(one == by_key[i] && one == by_hash[i]);
        demand(one == bly_filter_contains_hash(s->filter, hashes[i]));
        hits += one;
    }
    demand(found == hits);
}

/* Unites two filters. The union may make a window that is measured in adds drop its oldest
 * generation early, which is taken into account in the ages of keys. */
static void op_union(slot *s, const slot *other) {
    bly_window_info w = {.struct_size = sizeof w};
    bly_filter *before = clone_of(s);
    if (bly_filter_union(s->filter, other->filter) != BLY_OK) {
        demand_unchanged(s, before);
        return;
    }
    bly_filter_destroy(before);
    bool counts = stores_copies(s);
    if (bly_window_get_info(s->filter, &w) == BLY_OK && other->window < s->window)
        s->window = other->window;
    for (int i = 0; i < KEYS; i++) {
        if (!s->in[i] || (other->in[i] && other->age[i] < s->age[i]))
            s->age[i] = other->age[i];
        s->age[i] += w.generation_keys;
        s->in[i] = counts ? s->in[i] + other->in[i] : s->in[i] | other->in[i];
    }
    s->exact = s->exact && other->exact;
}

static void op_intersect(slot *s, const slot *other) {
    bly_filter_info stats = {.struct_size = sizeof stats};
    if (bly_filter_intersect(s->filter, other->filter) != BLY_OK)
        return;
    for (int i = 0; i < KEYS; i++)
        if (other->in[i] < s->in[i])
            s->in[i] = other->in[i];
    s->exact = false;
    bly_filter_get_info(s->filter, &stats);
    demand(stats.approximate);
}

/* Subtracts `other` from s, but only if s contains all of its keys: otherwise the result is
 * undefined. */
static void op_subtract(slot *s, const slot *other) {
    bool part = other->exact;
    for (int i = 0; i < KEYS; i++)
        part = part && other->in[i] <= s->in[i];
    if (!part && caps(s) & BLY_CAN_SUBTRACT)
        return;
    bly_status status = bly_filter_subtract(s->filter, other->filter);
    demand(status != BLY_OK || caps(s) & BLY_CAN_SUBTRACT);
    for (int i = 0; status == BLY_OK && i < KEYS; i++)
        s->in[i] -= s == other ? s->in[i] : other->in[i];
}

/* Halves all counts. A key that was added once may be missing afterwards, so no key is required to
 * be found from then on. */
static void op_age(slot *s) {
    uint64_t before = bly_filter_count(s->filter);
    if (bly_counts_age(s->filter) != BLY_OK)
        return;
    demand(bly_filter_count(s->filter) == before + 1);
    memset(s->in, 0, sizeof s->in);
}

/* A filter that is made from the bits of s alone must give the same answers as s. */
static void op_bits(const slot *s) {
    bly_filter *bits = NULL, *front = NULL;
    bly_kind kind = bly_filter_geometry(s->filter).kind;
    demand((bly_counting_bits(s->filter, NULL, &bits) == BLY_OK) == (kind == BLY_COUNTING));
    demand((bly_layered_front(s->filter, &front) == BLY_OK) == (kind == BLY_LAYERED));
    for (int i = 0; i < KEYS && (bits || front); i++) {
        bool is_in = bly_filter_contains(s->filter, keys[i].data, keys[i].size);
        demand(bly_filter_contains(bits ? bits : front, keys[i].data, keys[i].size) == is_in);
    }
    bly_filter_destroy(bits);
    bly_filter_destroy(front);
}

/* Makes an overlay over another filter, and uses it with the borrowed base. Then s becomes a clone
 * of the overlay. */
static void op_overlay(slot *s, const slot *base, program *p) {
    bly_overlay_options options = {.changes = next_byte(p),
                                   .marker = next_byte(p) % 2 ? BLY_CLASSIC : BLY_KIND_NONE};
    bly_filter *over, *own;
    bly_kind kind = bly_filter_geometry(base->filter).kind;
    bly_status status = bly_overlay_over(base->filter, &options, NULL, &over);
    bool fits = kind != BLY_OVERLAY && !(bly_kind_capabilities(kind) & BLY_CARDINALITY_ONLY);
    demand(status == (fits ? BLY_OK : BLY_EKIND));
    if (status || s == base) {
        bly_filter_destroy(over);
        return;
    }
    slot laid = {.filter = over, .exact = true};
    for (int i = 0; i < KEYS; i++)
        laid.in[i] = is_owed(base, i);
    for (unsigned n = next_byte(p) % 16; n > 0; n--) {
        unsigned key = next_byte(p);
        (n % 2 ? op_add : op_remove)(&laid, key);
    }
    check(&laid);
    demand(bly_filter_clone(over, NULL, &own) == BLY_OK && bly_filter_equal(over, own));
    bly_filter_destroy(over);
    bly_filter_destroy(s->filter);
    *s = laid;
    s->filter = own;
}

static void op_fold(slot *s, uint64_t divisor) {
    bly_filter *folded;
    if (bly_filter_fold(s->filter, divisor, NULL, &folded) != BLY_OK)
        return;
    bly_filter_destroy(s->filter);
    s->filter = folded;
}

static void op_clear(slot *s) {
    bly_filter_clear(s->filter);
    memset(s->in, 0, sizeof s->in);
    s->exact = true;
    demand(bly_filter_count(s->filter) == 0);
    demand(bly_filter_contains_many(s->filter, keys, KEYS, NULL) == 0);
}

static void op_clone(slot *s, const slot *from) {
    bly_filter *copy;
    if (s == from || bly_filter_clone(from->filter, NULL, &copy) != BLY_OK)
        return;
    demand(bly_filter_equal(copy, from->filter));
    bly_filter_destroy(s->filter);
    *s = *from;
    s->filter = copy;
}

typedef struct bytes {
    uint8_t *data;
    size_t size;
} bytes;

static bly_status append(void *ctx, const void *data, size_t size) {
    bytes *b = ctx;
    uint8_t *more = realloc(b->data, b->size + size);
    if (!more)
        return BLY_ENOMEM;
    b->data = more;
    memcpy(b->data + b->size, data, size);
    b->size += size;
    return BLY_OK;
}

static void op_trip(slot *s, program *p) {
    bytes b = {NULL, 0};
    bly_filter *back;
    bly_hasher hasher = *bly_filter_hasher(s->filter);
    unsigned sharing = caps(s) & BLY_CAN_SHARE ? next_byte(p) % 3 : BLY_EXCLUSIVE;
    const bly_open_options o = {
        .struct_size = sizeof o, .hasher = &hasher, .sharing = (bly_sharing)sharing};
    demand(bly_filter_write(s->filter, append, &b) == BLY_OK);
    demand(b.size == bly_filter_file_size(s->filter));
    demand(bly_filter_parse(b.data, b.size, &o, &back) == BLY_OK);
    free(b.data);
    demand(bly_filter_equal(back, s->filter));
    demand(bly_filter_count(back) == bly_filter_count(s->filter));
    bly_filter_destroy(s->filter);
    s->filter = back;
}

/* The operations. Those from UNION to LAY_OVER also use a second filter. */
enum {
    CREATE,
    ADD,
    ADD_MANY,
    CONTAINS_MANY,
    UNION,
    INTERSECT,
    CLONE,
    SUBTRACT,
    LAY_OVER,
    FOLD,
    CLEAR,
    REMOVE,
    ADVANCE,
    AGE,
    BITS,
    TRIP,
    OPS
};

static void op_add_or_build(slot *s, program *p) {
    if (caps(s) & BLY_CAN_BUILD)
        op_build(s, p);
    else
        op_add(s, next_byte(p));
}

static void perform(unsigned op, slot *s, const slot *other, program *p) {
    switch (op) {
    case ADD:
        op_add_or_build(s, p);
        break;
    case ADD_MANY:
        op_add_many(s, p);
        break;
    case CONTAINS_MANY:
        op_contains_many(s, p);
        break;
    case UNION:
        op_union(s, other);
        break;
    case INTERSECT:
        op_intersect(s, other);
        break;
    case CLONE:
        op_clone(s, other);
        break;
    case SUBTRACT:
        op_subtract(s, other);
        break;
    case LAY_OVER:
        op_overlay(s, other, p);
        break;
    case FOLD:
        op_fold(s, next_byte(p) % 9);
        break;
    case CLEAR:
        op_clear(s);
        break;
    case REMOVE:
        op_remove(s, next_byte(p));
        break;
    case ADVANCE:
        op_advance(s, next_byte(p));
        break;
    case AGE:
        op_age(s);
        break;
    case BITS:
        op_bits(s);
        break;
    default:
        op_trip(s, p);
    }
    check(s);
}

static void step(program *p) {
    unsigned op = next_byte(p) % OPS;
    slot *s = read_slot(p);
    if (op == CREATE) {
        op_create(s, p);
        return;
    }
    const slot *other = op >= UNION && op <= LAY_OVER ? read_slot(p) : s;
    if (s->filter && other->filter)
        perform(op, s, other, p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    program p = {data, data + size};
    for (int i = 0; i < KEYS; i++) {
        int len = snprintf(names[i], sizeof names[i], "%d", i * i);
        keys[i] = (bly_bytes){names[i], (size_t)len};
    }
    keys[0].size = 0; /* the empty key */
    for (int i = 0; i < MAX_OPS && p.at < p.end; i++)
        step(&p);
    for (int i = 0; i < SLOTS; i++) {
        bly_filter_destroy(slots[i].filter);
        memset(&slots[i], 0, sizeof slots[i]);
    }
    return 0;
}
