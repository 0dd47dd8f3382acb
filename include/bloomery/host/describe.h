/* describe.h - filters and files in words, for tools that show them to people. */
#ifndef BLOOMERY_HOST_DESCRIBE_H
#define BLOOMERY_HOST_DESCRIBE_H

#include "../filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The functions below write like snprintf: at most size - 1 characters and a NUL. They return the
 * length of the whole text. */

/* A geometry's size ("4,096 blocks", "3 levels"), or all of it ("4,096 blocks, 8 bits per key,
 * foldable"). */
BLY_API size_t bly_geometry_format_size(const bly_geometry *g, char *buf, size_t size);
BLY_API size_t bly_geometry_format(const bly_geometry *g, char *buf, size_t size);

/* Several lines. */
BLY_API size_t bly_filter_info_format(const bly_filter_info *info, char *buf, size_t size);

/* The number of counters that keys share in a filter of this geometry; 0 for a kind without. */
BLY_API uint64_t bly_geometry_counters(const bly_geometry *g);

/* Kinds of earlier versions. Their files are refused with BLY_EUNSUPPORTED. NULL: there was no such
 * kind. */
typedef struct bly_removed_kind {
    uint32_t code; /* in files */
    const char *name;
    const char *replacement; /* the name of the kind to use instead */
} bly_removed_kind;
BLY_API const bly_removed_kind *bly_kind_removed(uint32_t code);
BLY_API const bly_removed_kind *bly_kind_removed_by_name(const char *name);

/* Whether a code is a bly_key_rule. */
BLY_API bool bly_key_rule_known(unsigned code);

#ifdef __cplusplus
}
#endif
#endif
