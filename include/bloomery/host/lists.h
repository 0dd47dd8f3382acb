/* host/lists.h - the parts that typed lists (list.h) are made of, for programs that store or look
 * up lists in their own way: the command line, lists on a server, lists that grow. Opt-in.
 */
#ifndef BLOOMERY_HOST_LISTS_H
#define BLOOMERY_HOST_LISTS_H

#include "../list.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- lines, types and levels ---------------------------------------------------------------- */

/* A line without one carriage return at its end, which is not part of a key. */
static inline bly_bytes bly_list_without_return(bly_bytes line) {
    const char *text = (const char *)line.data;
    line.size -= line.size > 0 && text[line.size - 1] == '\r';
    return line;
}

/* Whether keys have a canonical form: of lists built with a type other than LINE. */
static inline bool bly_list_is_typed(bly_list_type type) {
    return type > BLY_LIST_NONE && type < BLY_LIST_LINE;
}

/* Whether keys are lines as they are. */
static inline bool bly_list_is_lines(bly_list_type type) {
    return type == BLY_LIST_LINE || type == BLY_LIST_RECORD;
}

/* Whether keys have levels: of the types whose keys contain others. */
static inline bool bly_list_has_levels(bly_list_type type) {
    return type == BLY_LIST_IP || type == BLY_LIST_DOMAIN;
}

static inline void bly_list_levels_add(bly_list_levels *set, unsigned level) {
    set->bits[level / 64] |= UINT64_C(1) << (level % 64);
}

/* All levels, and no recorded lookups. */
BLY_API bly_list_levels bly_list_levels_all(void);
/* The levels that are in both sets. */
BLY_API bly_list_levels bly_list_levels_common(const bly_list_levels *a, const bly_list_levels *b);

/* The keys under which a key may be listed: itself and the blocks or parents that it is in, from
 * narrow to wide, as far as `present` has their level. `key` is one that bly_list_read returned. */
enum { BLY_LIST_MAX_LOOKUPS = 129 };
typedef struct bly_list_entries {
    size_t count;
    bly_bytes keys[BLY_LIST_MAX_LOOKUPS]; /* in the key's bytes or in `room` */
    unsigned char room[BLY_LIST_MAX_LOOKUPS][17];
} bly_list_entries;
BLY_API void bly_list_widen(bly_list_type type, const bly_list_key *key,
                            const bly_list_levels *present, bly_list_entries *out);
/* The most lookups that any key needs in such a list; at least 1. */
BLY_API unsigned bly_list_max_lookups(bly_list_type type, const bly_list_levels *present);

/* ---- marks: keys that tell type and levels -------------------------------------------------- */

/* For a new list: records in its levels the lookups of a line, which the rate is requested for, and
 * returns the rate per line to build it for: fpr, or as much as BLY_LIST_MAX_RATE per lookup
 * allows. For types without levels it records nothing. */
BLY_API double bly_list_record_lookups(bly_list_type type, double fpr, bly_list_levels *levels);

/* The number of marks of a list of that type with keys of those levels, and the i-th of them. The
 * marks of the type come first. */
enum { BLY_LIST_MARK = 64 };
BLY_API uint64_t bly_list_mark_count(bly_list_type type, const bly_list_levels *levels);
BLY_API bly_bytes bly_list_mark_at(bly_list_type type, const bly_list_levels *levels, uint64_t i,
                                   char room[BLY_LIST_MARK]);

/* Adds the marks of a type and its levels to a filter; removes one copy of each, where the kind
 * can. bly_filter_add's and bly_filter_remove's statuses. */
BLY_CHECKED bly_status bly_list_add_marks(bly_filter *f, bly_list_type type,
                                          const bly_list_levels *levels);
BLY_CHECKED bly_status bly_list_remove_marks(bly_filter *f, bly_list_type type,
                                             const bly_list_levels *levels);
/* For a list that has the marks of the type and of the levels `known`: adds those of `levels` that
 * are new. */
BLY_CHECKED bly_status bly_list_add_new_marks(bly_filter *f, bly_list_type type,
                                              const bly_list_levels *known,
                                              const bly_list_levels *levels);

/* ---- what a list says of itself ------------------------------------------------------------- */

/* The type: what the header records or, if it records nothing, what the marks say. Without marks:
 * BLY_LIST_LINE. Marks of several types (lists were merged), or of one in a filter that is too full
 * to trust them: BLY_LIST_NONE. *levels are those marked. */
BLY_API bly_list_type bly_list_recognise(const bly_filter *f, bly_list_levels *levels);

/* As bly_list_get_info. A filter that was opened without its key, or only counts, tells only its
 * recorded type. */
BLY_API bly_status bly_list_examine(const bly_filter *f, bly_list_info *out);
/* How many keys of a filter are marks; 0 if it does not say what it is. */
BLY_API uint64_t bly_list_marks_in(const bly_filter *f);

/* The levels to look up in a list whose header records its type: those marked, or all if a program
 * has marked none. */
BLY_API bly_list_levels bly_list_levels_recorded(bly_list_type type, const bly_list_levels *marked);

/* A list that need not be a filter in memory, for example one on a server. `contains`: whether keys
 * may be in it, one 0/1 byte each. `rate`: its false-positive rate now, per lookup; it is called
 * only if marks seem to be there. If either fails, so does the call, with the same status. */
typedef struct bly_list_source {
    bly_status (*contains)(void *ctx, const bly_bytes *keys, size_t n, uint8_t *found);
    bly_status (*rate)(void *ctx, double *rate);
    void *ctx;
    bly_key_rule rule; /* what its header records */
} bly_list_source;
/* A filter in memory, which must outlive it. Its functions never fail. */
BLY_API bly_list_source bly_list_source_of(const bly_filter *f);

BLY_CHECKED bly_status bly_list_recognise_source(const bly_list_source *s, bly_list_type *type,
                                                 bly_list_levels *levels);
/* The levels of a list that is to be taken for one of `type`: those marked, or all if none is. */
BLY_CHECKED bly_status bly_list_recognise_levels(const bly_list_source *s, bly_list_type type,
                                                 bly_list_levels *out);
/* The requested rates are not known to a source, and 0. */
BLY_CHECKED bly_status bly_list_examine_source(const bly_list_source *s, bly_list_info *out);

/* ---- from hashes to a filter ---------------------------------------------------------------- */

/* Sorts hashes in place; needs no memory. Unless `copies`, drops those that repeat. *n becomes how
 * many are left; returns how many are different. */
BLY_API size_t bly_list_sort_hashes(bly_hash *hashes, size_t *n, bool copies);

/* The hash is chosen before the keys are counted, for this many keys: 64 bits then suffice for
 * every rate above 10^-9. */
#define BLY_LIST_FORESEEN_KEYS (UINT64_C(1) << 32)

typedef struct bly_list_contents {
    size_t struct_size;
    bly_list_type type;
    bly_key_rule rule;      /* what the header is to record */
    bly_list_levels levels; /* of the keys, and the recorded lookups */
    const bly_hash *hashes; /* sorted */
    size_t count;
    size_t distinct; /* of `count`, how many are different */
    bool copies;     /* repeats are stored */
} bly_list_contents;

/* The filter of a list, with its marks. spec: geometry.kind (BLY_KIND_NONE: the layout that suits
 * the rate), geometry.options, hasher, the fields of kinds, and
 * - fpr: the rate per line; the filter gets that divided by bly_list_max_lookups,
 * - capacity: the keys to make room for, without marks; 0: those that are there. Then the filter is
 *   made larger until the rate holds for these very keys (src/lists/list_fill.c says why).
 * bly_filter_create's and bly_builder_finish's statuses, BLY_EFULL. */
BLY_CHECKED bly_status bly_list_fill(const bly_list_contents *contents, const bly_spec *spec,
                                     bly_filter **out);

/* Adds hashes that are sorted, as if they came in any order: sorted ones would crowd in a few
 * blocks of each level of a growing filter, and at one end of a table that doubles. *added grows by
 * those that were not there; *failed is the hash that failed, if one did. Both may be NULL.
 * bly_filter_add_hashes's statuses. */
BLY_CHECKED bly_status bly_list_add_scattered(bly_filter *f, const bly_hash *hashes, size_t n,
                                              uint64_t *added, bly_hash *failed);

#ifdef __cplusplus
}
#endif
#endif
