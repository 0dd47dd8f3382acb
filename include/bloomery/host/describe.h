/* describe.h - texts about filters and files, for tools that show them to people.
 *
 * Functions that write to `buf` work like snprintf: they write at most size - 1 characters and a
 * NUL, and return the length of the whole text. */
#ifndef BLOOMERY_HOST_DESCRIBE_H
#define BLOOMERY_HOST_DESCRIBE_H

#include "../filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Format the size of a geometry ("4,096 blocks", "3 levels"), or all of it ("4,096 blocks, 8 bits
 * per key, foldable"). */
BLY_API size_t bly_geometry_format_size(const bly_geometry *g, char *buf, size_t size);
BLY_API size_t bly_geometry_format(const bly_geometry *g, char *buf, size_t size);
/* Formats an info as several lines. */
BLY_API size_t bly_filter_info_format(const bly_filter_info *info, char *buf, size_t size);

/* Returns the number of counters that the keys share in a filter of this geometry; else 0. */
BLY_API uint64_t bly_geometry_counters(const bly_geometry *g);

/* A kind of an earlier version, whose files are refused with BLY_EUNSUPPORTED. Find it by its code
 * or its name; NULL if there was no such kind. */
typedef struct bly_removed_kind {
    uint32_t code; /* in files */
    const char *name;
    const char *replacement; /* the name of the kind to use instead */
} bly_removed_kind;
BLY_API const bly_removed_kind *bly_kind_removed(uint32_t code);
BLY_API const bly_removed_kind *bly_kind_removed_by_name(const char *name);
/* Returns true if a code is a bly_key_rule. */
BLY_API bool bly_key_rule_known(unsigned code);

#ifdef __cplusplus
}
#endif
#endif
