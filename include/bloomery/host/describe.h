/* describe.h - texts about filters and files, for tools that show them to people.
 *
 * Functions that write to `buf` work like snprintf: they write at most size - 1 characters and a
 * NUL, and return the length of the whole text, even if it did not fit. */
#ifndef BLOOMERY_HOST_DESCRIBE_H
#define BLOOMERY_HOST_DESCRIBE_H

#include "../filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Formats the size of a geometry, such as "4,096 blocks" or "3 levels". */
BLY_API size_t bly_geometry_format_size(const bly_geometry *g, char *buf, size_t size);
/* Formats all of a geometry, such as "4,096 blocks, 8 bits per key, foldable". */
BLY_API size_t bly_geometry_format(const bly_geometry *g, char *buf, size_t size);
/* Formats a bly_filter_info as several lines of text. */
BLY_API size_t bly_filter_info_format(const bly_filter_info *info, char *buf, size_t size);

/* Returns the number of counters in a filter of this geometry, if keys share counters in its kind;
 * else 0. */
BLY_API uint64_t bly_geometry_counters(const bly_geometry *g);

/* A kind of an earlier version that was removed. Its files are refused with BLY_EUNSUPPORTED. Each
 * of the two functions finds one, by its code or by its name, and returns NULL if there is no
 * removed kind with it. */
typedef struct bly_removed_kind {
    uint32_t code; /* the kind's code in files */
    const char *name;
    const char *replacement; /* the name of the kind to use instead */
} bly_removed_kind;
BLY_API const bly_removed_kind *bly_kind_removed(uint32_t code);
BLY_API const bly_removed_kind *bly_kind_removed_by_name(const char *name);
/* Returns true if `code` is a value of bly_key_rule. */
BLY_API bool bly_key_rule_known(unsigned code);

#ifdef __cplusplus
}
#endif
#endif
