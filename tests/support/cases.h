/* cases.h - the kinds to test, as the library lists them.
 *
 * A new kind needs no line here: it becomes a case by bly_kind_next, and its capabilities say what
 * tests may expect of it. blyt_exceptions has the facts that the library does not report. Without
 * cmocka, so that the fuzzing harnesses can include this file.
 */
#ifndef BLYT_CASES_H
#define BLYT_CASES_H

#include <bloomery/bloomery.h>
#include <bloomery/filter.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

/* A kind with its defaults, or a variant of it. */
typedef struct blyt_case {
    const char *name;
    bly_kind kind;
    uint32_t options;
    uint32_t counter_bits; /* for counting filters; 0: the default */
    double finest;         /* the lowest rate it can be planned for; 0: any */
    uint64_t limit;        /* where keys share counters: the count at which a counter sticks */
    bool by_order;         /* the same keys in another order may make another body */
} blyt_case;

/* An entry with a name is a variant, which is tested in addition to the kind's default. An entry
 * without a name has facts about the default itself. */
static const blyt_case blyt_exceptions[] = {
    {"classic textbook", BLY_CLASSIC, .options = BLY_TEXTBOOK},
    {NULL, BLY_COUNTING, .limit = 15},
    {"counting of 2 bits", BLY_COUNTING, .counter_bits = 2, .limit = 3},
    {"counting of 8 bits", BLY_COUNTING, .counter_bits = 8, .limit = 255},
    {"counting of 16 bits", BLY_COUNTING, .counter_bits = 16, .limit = 65535},
    {NULL, BLY_MULTILAYER, .limit = 65535},
    {NULL, BLY_LAYERED, .limit = 8},
    {NULL, BLY_OVERLAY, .by_order = true},
    {NULL, BLY_HLL, .finest = 0.003},
    {NULL, BLY_GROWABLE_CUCKOO, .by_order = true},
    {NULL, BLY_SCALABLE_CUCKOO, .by_order = true},
};

enum { BLYT_MAX_CASES = 256 + sizeof blyt_exceptions / sizeof *blyt_exceptions };

/* Appends the default of a kind and then its variants. Returns the number of cases. */
static inline size_t blyt_list_kind(bly_kind kind, blyt_case *cases, size_t n) {
    const size_t first = n;
    cases[n++] = (blyt_case){.kind = kind};
    for (size_t i = 0; i < COUNT_OF(blyt_exceptions); i++) {
        const blyt_case *e = &blyt_exceptions[i];
        if (e->kind == kind)
            cases[e->name ? n++ : first] = *e;
    }
    cases[first].name = bly_kind_name(kind);
    return n;
}

/* Case number i, in the order of the kinds' codes; NULL past the last. */
static inline const blyt_case *blyt_case_at(size_t i) {
    static blyt_case cases[BLYT_MAX_CASES];
    static size_t n;
    if (n == 0)
        for (bly_kind k = BLY_KIND_NONE; (k = bly_kind_next(k)) != BLY_KIND_NONE;)
            n = blyt_list_kind(k, cases, n);
    return i < n ? &cases[i] : NULL;
}

/* The case after c (c NULL: the first), or NULL after the last. If the environment variable
 * BLYT_ONLY is set, only the case of that name is returned. BLYT_VERBOSE prints the name of each
 * case. */
static inline const blyt_case *blyt_following(const blyt_case *c) {
    const char *only = getenv("BLYT_ONLY");
    size_t i = c ? (size_t)(c - blyt_case_at(0)) + 1 : 0;
    while ((c = blyt_case_at(i)) && only && strcmp(only, c->name) != 0)
        i++;
    if (c && getenv("BLYT_VERBOSE"))
        (void)printf("           %s\n", c->name);
    return c;
}

#define FOR_EACH_CASE(c) for (const blyt_case *c = blyt_following(NULL); c; c = blyt_following(c))

/* The default case of a kind; NULL: there is no such kind. */
static inline const blyt_case *blyt_case_of(bly_kind kind) {
    const blyt_case *c;
    for (size_t i = 0; (c = blyt_case_at(i)) && c->kind != kind; i++)
        continue;
    return c;
}

/* The case that a geometry belongs to. The cases of counting filters differ in their counter bits,
 * which `detail` holds. */
static inline const blyt_case *blyt_case_like(const bly_geometry *g) {
    const blyt_case *c, *like = blyt_case_of(g->kind);
    for (size_t i = 0; (c = blyt_case_at(i)); i++)
        if (c->kind == g->kind && c->counter_bits == g->detail)
            like = c;
    return like;
}

/* Whether the kind has all of these capabilities. */
static inline bool blyt_can(const blyt_case *c, uint32_t what) {
    return (bly_kind_capabilities(c->kind) & what) == what;
}

/* Whether the kind grows from a small capacity to any number of keys. */
static inline bool blyt_grows(bly_kind kind) {
    return bly_advise_why_not(kind, &(bly_needs){.flags = BLY_NEED_GROW}) == NULL;
}

/* Whether adding a key only sets bits. */
static inline bool blyt_has_plain_bits(bly_kind kind) {
    const uint32_t more = BLY_CAN_REMOVE | BLY_FORGETS | BLY_CAN_COUNT | BLY_CARDINALITY_ONLY;
    return (bly_kind_capabilities(kind) & (BLY_CAN_ADD | more)) == BLY_CAN_ADD;
}

/* Whether every add stores a copy, and every remove removes one. (An overlay can remove, but keeps
 * no copies; a sketch counts copies, but cannot remove.) */
static inline bool blyt_stores_copies(const blyt_case *c) {
    return blyt_can(c, BLY_CAN_REMOVE | BLY_CAN_COUNT);
}

/* Where keys share counters, the count at which a counter sticks; UINT64_MAX where each key has its
 * own counter. */
static inline uint64_t blyt_limit(const blyt_case *c) {
    return c->limit ? c->limit : UINT64_MAX;
}

/* How many copies of a key can be added and then removed again. */
static inline uint64_t blyt_max_copies(const blyt_case *c) {
    return blyt_stores_copies(c) ? blyt_limit(c) - 1 : 1;
}

/* Whether two filters that contain the same keys are equal, whatever their histories, as long as no
 * counter is stuck. */
static inline bool blyt_is_canonical(const blyt_case *c) {
    return !blyt_can(c, BLY_FORGETS) && !c->by_order &&
           (!blyt_can(c, BLY_CAN_COUNT) || blyt_stores_copies(c));
}

/* Whether bly_plan plans the geometry, which then never changes. */
static inline bool blyt_plans(const blyt_case *c) {
    bly_geometry g;
    return bly_plan(c->kind, 100, 0.1, c->options, 64, &g) == BLY_OK;
}

/* Whether keys set random bits that are never cleared, so that the bits show how many keys there
 * are. */
static inline bool blyt_sets_bits(const blyt_case *c) {
    bly_geometry g;
    if (blyt_can(c, BLY_CAN_REMOVE))
        return false;
    return bly_plan(c->kind, 100, 0.1, c->options, 64, &g) != BLY_OK || bly_plan_keys(&g, 0) == 0;
}

#endif
