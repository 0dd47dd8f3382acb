/* host/lists.h - the steps of building and checking typed lists (list.h), for programs that store
 * or look up lists in their own way: the command line, lists on a server, lists that grow. */
#ifndef BLOOMERY_HOST_LISTS_H
#define BLOOMERY_HOST_LISTS_H

#include "../list.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- lines, types and levels ---------------------------------------------------------------- */

/* Returns a line without the carriage return at its end, if there is one; it is not part of the
 * key. */
static inline bly_bytes bly_list_without_return(bly_bytes line) {
    const char *text = (const char *)line.data;
    line.size -= line.size > 0 && text[line.size - 1] == '\r';
    return line;
}
/* Returns true if the keys of this type have a canonical form: IP, PHONE, EMAIL, DOMAIN and URL. */
static inline bool bly_list_is_typed(bly_list_type type) {
    return type > BLY_LIST_NONE && type < BLY_LIST_LINE;
}
/* Returns true if the keys of this type are whole lines, unchanged. */
static inline bool bly_list_is_lines(bly_list_type type) {
    return type == BLY_LIST_LINE || type == BLY_LIST_RECORD;
}
/* Returns true if the keys of this type have levels, because a key can cover other keys: IP and
 * DOMAIN. */
static inline bool bly_list_has_levels(bly_list_type type) {
    return type == BLY_LIST_IP || type == BLY_LIST_DOMAIN;
}
/* Adds a level to a set. */
static inline void bly_list_levels_add(bly_list_levels *set, unsigned level) {
    set->bits[level / 64] |= UINT64_C(1) << (level % 64);
}

/* Returns the set of all levels. It records no number of lookups. */
BLY_API bly_list_levels bly_list_levels_all(void);
/* Returns the levels that are in both sets. */
BLY_API bly_list_levels bly_list_levels_common(const bly_list_levels *a, const bly_list_levels *b);

/* The maximum number of lookups that a line needs. */
enum { BLY_LIST_MAX_LOOKUPS = 129 };

/* The keys under which a line may be listed. */
typedef struct bly_list_entries {
    size_t count;
    bly_bytes keys[BLY_LIST_MAX_LOOKUPS]; /* their bytes are in the line's key, or in `room` */
    unsigned char room[BLY_LIST_MAX_LOOKUPS][17];
} bly_list_entries;

/* Computes the keys under which a line may be listed: its own key, which bly_list_read has
 * returned, and the IP blocks or parent domains that contain it, from narrow to wide. Only keys
 * whose level is in `present` are included. */
BLY_API void bly_list_widen(bly_list_type type, const bly_list_key *key,
                            const bly_list_levels *present, bly_list_entries *out);

/* Returns the maximum number of lookups that a line needs in a list with these levels. It is at
 * least 1. */
BLY_API unsigned bly_list_max_lookups(bly_list_type type, const bly_list_levels *present);

/* ---- marks: keys that record type and levels ------------------------------------------------ */

/* Records in the levels of a new list the number of lookups per line for which the rate is
 * requested. (For types without levels nothing is recorded.) Returns the rate per line with which
 * to build the list: fpr, or less if the rate per lookup would exceed BLY_LIST_MAX_RATE. */
BLY_API double bly_list_record_lookups(bly_list_type type, double fpr, bly_list_levels *levels);

/* The size of the buffer that bly_list_mark_at needs. */
enum { BLY_LIST_MARK = 64 };

/* Returns the number of marks of a list of this type whose keys have these levels. */
BLY_API uint64_t bly_list_mark_count(bly_list_type type, const bly_list_levels *levels);
/* Returns mark i of such a list, written to `room`. The marks of the type come first. */
BLY_API bly_bytes bly_list_mark_at(bly_list_type type, const bly_list_levels *levels, uint64_t i,
                                   char room[BLY_LIST_MARK]);

/* Adds the marks of a type and of these levels to a filter. Errors: those of bly_filter_add. */
BLY_CHECKED bly_status bly_list_add_marks(bly_filter *f, bly_list_type type,
                                          const bly_list_levels *levels);
/* Removes one copy of each mark of a type and of these levels, in kinds with BLY_CAN_REMOVE.
 * Errors: those of bly_filter_remove. */
BLY_CHECKED bly_status bly_list_remove_marks(bly_filter *f, bly_list_type type,
                                             const bly_list_levels *levels);

/* Adds the marks of the levels that are in `levels` but not in `known`. The list must already have
 * the marks of its type and of the levels in `known`. Errors: those of bly_filter_add. */
BLY_CHECKED bly_status bly_list_add_new_marks(bly_filter *f, bly_list_type type,
                                              const bly_list_levels *known,
                                              const bly_list_levels *levels);

/* ---- recognising a list --------------------------------------------------------------------- */

/* Finds the type of a list: the one that the header records or, if it records none, the one that
 * the marks record. *levels receives the levels whose marks are present. Returns BLY_LIST_LINE if
 * there are no marks; BLY_LIST_NONE if there are marks of several types (because lists were
 * merged), or if the filter is so full that marks may be false positives. */
BLY_API bly_list_type bly_list_recognise(const bly_filter *f, bly_list_levels *levels);

/* Describes a filter as bly_list_get_info describes a list. If the filter was opened without its
 * key, or its kind has BLY_CARDINALITY_ONLY, only the type that its header records is known.
 * Errors: BLY_EINVAL (struct_size). */
BLY_API bly_status bly_list_examine(const bly_filter *f, bly_list_info *out);
/* Returns the number of keys of a filter that are marks; 0 if the type of the list is unknown. */
BLY_API uint64_t bly_list_marks_in(const bly_filter *f);

/* Returns the levels to look up in a list whose header records its type: those in `marked`, or all
 * levels if `marked` is empty. */
BLY_API bly_list_levels bly_list_levels_recorded(bly_list_type type, const bly_list_levels *marked);

/* A list whose filter need not be in memory, for example a filter on a server. `contains` looks
 * keys up and stores one 0/1 byte per key. `rate` stores the present false-positive rate per
 * lookup; it is called only if marks seem to be present. If either fails, the function that uses
 * the source returns the same status. bly_list_source_of returns a source for a filter in memory,
 * which must outlive the source. */
typedef struct bly_list_source {
    bly_status (*contains)(void *ctx, const bly_bytes *keys, size_t n, uint8_t *found);
    bly_status (*rate)(void *ctx, double *rate);
    void *ctx;
    bly_key_rule rule; /* the key rule that the filter's header records */
} bly_list_source;
BLY_API bly_list_source bly_list_source_of(const bly_filter *f);

/* Finds the type and the levels of a list as bly_list_recognise does.
 * Errors: those of the source. */
BLY_CHECKED bly_status bly_list_recognise_source(const bly_list_source *s, bly_list_type *type,
                                                 bly_list_levels *levels);

/* Finds the levels of a list that is treated as a list of type `type`: those whose marks are
 * present, or all levels if no marks are. Errors: those of the source. */
BLY_CHECKED bly_status bly_list_recognise_levels(const bly_list_source *s, bly_list_type type,
                                                 bly_list_levels *out);

/* Describes a list as bly_list_examine does. The requested rates are 0, because a source does not
 * know them.
 * Errors: those of the source, BLY_EINVAL (struct_size). */
BLY_CHECKED bly_status bly_list_examine_source(const bly_list_source *s, bly_list_info *out);

/* ---- from hashes to a filter ---------------------------------------------------------------- */

/* Sorts *n hashes in place, without allocating memory. If `copies` is false, repeats are removed.
 * *n becomes the number of hashes that remain. Returns the number of distinct hashes. */
BLY_API size_t bly_list_sort_hashes(bly_hash *hashes, size_t *n, bool copies);

/* The number of keys for which the hash of a list is chosen, since it must be chosen before the
 * keys are counted. For this number of keys, 64 bits suffice at every rate above 10^-9. */
#define BLY_LIST_FORESEEN_KEYS (UINT64_C(1) << 32)

/* The hashes of a list's keys. */
typedef struct bly_list_contents {
    size_t struct_size;
    bly_list_type type;
    bly_key_rule rule;      /* the key rule for the header */
    bly_list_levels levels; /* levels of the keys, and the recorded number of lookups */
    const bly_hash *hashes; /* the hashes of the keys, sorted */
    size_t count;
    size_t distinct; /* number of distinct hashes */
    bool copies;     /* true: `hashes` contains repeats, and each of them is stored as a copy */
} bly_list_contents;

/* Builds the filter of a list, with its marks. Of the spec these members are used: geometry.kind
 * (BLY_KIND_NONE: the kind that suits the rate), geometry.options, hasher, the options that only
 * some kinds have, and
 * - fpr: the rate per line, which is divided by bly_list_max_lookups;
 * - capacity: the planned number of keys, without marks; 0: the keys in `contents`. In that case
 *   the filter is enlarged until the rate holds for these very keys (src/lists/list_fill.c says
 *   why).
 *
 * Errors: those of bly_filter_create and bly_builder_finish, BLY_EFULL. */
BLY_CHECKED bly_status bly_list_fill(const bly_list_contents *contents, const bly_spec *spec,
                                     bly_filter **out);

/* Adds sorted hashes in a scattered order. In sorted order they would crowd into a few blocks of
 * each level of a growing filter, and into one end of a table that doubles. *added is increased by
 * the number of hashes that were absent before. If adding a hash fails, *failed becomes that hash.
 * `added` and `failed` may be NULL. Errors: those of bly_filter_add_hashes. */
BLY_CHECKED bly_status bly_list_add_scattered(bly_filter *f, const bly_hash *hashes, size_t n,
                                              uint64_t *added, bly_hash *failed);

#ifdef __cplusplus
}
#endif
#endif
