/* host/lists.h - the parts of typed lists (list.h), for programs that store or look up lists in
 * their own way: the command line, lists on a server, lists that grow. */
#ifndef BLOOMERY_HOST_LISTS_H
#define BLOOMERY_HOST_LISTS_H

#include "../list.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- lines, types and levels ---------------------------------------------------------------- */

/* Returns a line without one carriage return at its end, which is not part of a key. */
static inline bly_bytes bly_list_without_return(bly_bytes line) {
    const char *text = (const char *)line.data;
    line.size -= line.size > 0 && text[line.size - 1] == '\r';
    return line;
}
/* Returns true if the keys of this type have a canonical form: the types of list.h before LINE. */
static inline bool bly_list_is_typed(bly_list_type type) {
    return type > BLY_LIST_NONE && type < BLY_LIST_LINE;
}
/* Returns true if keys are whole lines, unchanged. */
static inline bool bly_list_is_lines(bly_list_type type) {
    return type == BLY_LIST_LINE || type == BLY_LIST_RECORD;
}
/* Returns true if keys have levels: the types whose keys contain other keys. */
static inline bool bly_list_has_levels(bly_list_type type) {
    return type == BLY_LIST_IP || type == BLY_LIST_DOMAIN;
}
/* Adds a level to a set. */
static inline void bly_list_levels_add(bly_list_levels *set, unsigned level) {
    set->bits[level / 64] |= UINT64_C(1) << (level % 64);
}

/* Returns the set of all levels, without recorded lookups. */
BLY_API bly_list_levels bly_list_levels_all(void);
/* Returns the levels that are in both sets. */
BLY_API bly_list_levels bly_list_levels_common(const bly_list_levels *a, const bly_list_levels *b);

/* The lookups that a line needs at most. */
enum { BLY_LIST_MAX_LOOKUPS = 129 };

/* The keys under which a line may be listed. */
typedef struct bly_list_entries {
    size_t count;
    bly_bytes keys[BLY_LIST_MAX_LOOKUPS]; /* in the key's bytes or in `room` */
    unsigned char room[BLY_LIST_MAX_LOOKUPS][17];
} bly_list_entries;

/* Computes the keys under which a key may be listed: the key itself and the blocks or parents that
 * contain it, from narrow to wide, if their level is in `present`. `key` is a result of
 * bly_list_read. */
BLY_API void bly_list_widen(bly_list_type type, const bly_list_key *key,
                            const bly_list_levels *present, bly_list_entries *out);

/* Returns the number of lookups that a line needs at most in a list with these levels; at least 1.
 */
BLY_API unsigned bly_list_max_lookups(bly_list_type type, const bly_list_levels *present);

/* ---- marks: keys that record type and levels ------------------------------------------------ */

/* Prepares the levels of a new list: records in them the number of lookups per line that the rate
 * is requested for (nothing for types without levels). Returns the rate per line to build the list
 * for: fpr, or as much as BLY_LIST_MAX_RATE per lookup allows. */
BLY_API double bly_list_record_lookups(bly_list_type type, double fpr, bly_list_levels *levels);

/* The bytes that bly_list_mark_at needs. */
enum { BLY_LIST_MARK = 64 };

/* Give the number of marks of a list of this type with keys of these levels, and the i-th of them.
 * The marks of the type come first. A mark lies in `room`. */
BLY_API uint64_t bly_list_mark_count(bly_list_type type, const bly_list_levels *levels);
BLY_API bly_bytes bly_list_mark_at(bly_list_type type, const bly_list_levels *levels, uint64_t i,
                                   char room[BLY_LIST_MARK]);

/* Add the marks of a type and its levels to a filter, or remove one copy of each, where the kind
 * can. Errors: those of bly_filter_add and bly_filter_remove. */
BLY_CHECKED bly_status bly_list_add_marks(bly_filter *f, bly_list_type type,
                                          const bly_list_levels *levels);
BLY_CHECKED bly_status bly_list_remove_marks(bly_filter *f, bly_list_type type,
                                             const bly_list_levels *levels);

/* Adds the marks of those `levels` that are not in `known`, to a list that has the marks of its
 * type and of `known`. Errors: those of bly_filter_add. */
BLY_CHECKED bly_status bly_list_add_new_marks(bly_filter *f, bly_list_type type,
                                              const bly_list_levels *known,
                                              const bly_list_levels *levels);

/* ---- recognising a list --------------------------------------------------------------------- */

/* Finds the type of a list: the one that the header records or, if it records none, the one of the
 * marks. *levels receives the levels that are marked.
 * Returns BLY_LIST_LINE if there are no marks; BLY_LIST_NONE for marks of several types (lists were
 * merged), and for marks in a filter that is too full to trust them. */
BLY_API bly_list_type bly_list_recognise(const bly_filter *f, bly_list_levels *levels);

/* Describes a filter as bly_list_get_info does. For a filter that was opened without its key, or
 * has BLY_CARDINALITY_ONLY, only the recorded type is known. Errors: BLY_EINVAL (struct_size). */
BLY_API bly_status bly_list_examine(const bly_filter *f, bly_list_info *out);
/* Returns how many keys of a filter are marks; 0 if its type is unknown. */
BLY_API uint64_t bly_list_marks_in(const bly_filter *f);

/* Returns the levels to look up in a list whose header records its type: the marked ones, or all.
 */
BLY_API bly_list_levels bly_list_levels_recorded(bly_list_type type, const bly_list_levels *marked);

/* A list that need not be a filter in memory, for example one on a server. `contains` looks keys up
 * and stores one 0/1 byte each. `rate` stores the present false-positive rate per lookup; it is
 * called only if marks seem to be present. If either fails, the call that uses the source returns
 * the same status. bly_list_source_of makes one of a filter in memory, which must outlive it. */
typedef struct bly_list_source {
    bly_status (*contains)(void *ctx, const bly_bytes *keys, size_t n, uint8_t *found);
    bly_status (*rate)(void *ctx, double *rate);
    void *ctx;
    bly_key_rule rule; /* what its header records */
} bly_list_source;
BLY_API bly_list_source bly_list_source_of(const bly_filter *f);

/* Finds the type and the levels of a list as bly_list_recognise does.
 * Errors: those of the source. */
BLY_CHECKED bly_status bly_list_recognise_source(const bly_list_source *s, bly_list_type *type,
                                                 bly_list_levels *levels);

/* Finds the levels of a list that is treated as one of `type`: those that are marked, or all if
 * none is. Errors: those of the source. */
BLY_CHECKED bly_status bly_list_recognise_levels(const bly_list_source *s, bly_list_type type,
                                                 bly_list_levels *out);

/* Describes a list as bly_list_examine does. The requested rates are 0, unknown to a source.
 * Errors: those of the source, BLY_EINVAL (struct_size). */
BLY_CHECKED bly_status bly_list_examine_source(const bly_list_source *s, bly_list_info *out);

/* ---- from hashes to a filter ---------------------------------------------------------------- */

/* Sorts hashes in place, without allocating. Unless `copies` is true, repeats are dropped. *n
 * becomes the number of hashes left. Returns the number of different hashes. */
BLY_API size_t bly_list_sort_hashes(bly_hash *hashes, size_t *n, bool copies);

/* The number of keys for which a list's hash is chosen, before the keys are counted: 64 bits
 * suffice for every rate above 10^-9. */
#define BLY_LIST_FORESEEN_KEYS (UINT64_C(1) << 32)

/* The hashes of a list's keys. */
typedef struct bly_list_contents {
    size_t struct_size;
    bly_list_type type;
    bly_key_rule rule;      /* for the header */
    bly_list_levels levels; /* of the keys, and the recorded lookups */
    const bly_hash *hashes; /* sorted */
    size_t count;
    size_t distinct; /* the number of different hashes */
    bool copies;     /* repeats are stored */
} bly_list_contents;

/* Builds the filter of a list, with its marks. Of the spec these are used: geometry.kind
 * (BLY_KIND_NONE: the one that suits the rate), geometry.options, hasher, the options of single
 * kinds, and
 * - fpr: the rate per line, which is divided by bly_list_max_lookups;
 * - capacity: the planned number of keys, without marks; 0: the keys in `contents`. In that case
 *   the filter is enlarged until the rate holds for these very keys (src/lists/list_fill.c says
 *   why).
 *
 * Errors: those of bly_filter_create and bly_builder_finish, BLY_EFULL. */
BLY_CHECKED bly_status bly_list_fill(const bly_list_contents *contents, const bly_spec *spec,
                                     bly_filter **out);

/* Adds sorted hashes in a scattered order. In sorted order they would crowd into a few blocks of
 * each level of a growing filter, and at one end of a table that doubles. *added is increased by
 * the number of hashes that were absent before; *failed receives the hash that failed, if one did.
 * Both may be NULL. Errors: those of bly_filter_add_hashes. */
BLY_CHECKED bly_status bly_list_add_scattered(bly_filter *f, const bly_hash *hashes, size_t n,
                                              uint64_t *added, bly_hash *failed);

#ifdef __cplusplus
}
#endif
#endif
