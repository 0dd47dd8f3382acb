/* filter_file.h - opens and writes filter files for a command, with a message for everything that
 * can go wrong.
 *
 * Every function here that fails has printed why, with the file's name and what to do about it.
 */
#ifndef BLOOMERY_CLI_FILTER_FILE_H
#define BLOOMERY_CLI_FILTER_FILE_H

#include <bloomery/bloomery.h>

/* A filter to be read: mapped where its kind can be, else loaded. */
typedef struct opened {
    const bly_filter *filter;
    bly_map *map; /* one of these two holds it */
    bly_filter *loaded;
} opened;

/* What a --key-file says: *out is `space`, filled, or NULL when path is NULL. */
bool open_key(const char *path, bly_hasher *space, const bly_hasher **out);

/* `key` (may be NULL) is for a keyed filter alone; one that is not keyed refuses it. `flags` are
 * BLY_OPEN_WITHOUT_KEY and BLY_OPEN_VERIFY. On failure *o is empty. */
bly_status open_read(opened *o, const char *path, const bly_hasher *key, uint32_t flags);
void open_close(opened *o);

/* A filter to be changed, in memory of our own; its checksums are right. NULL on failure. */
bly_filter *open_load(const char *path, const bly_hasher *key, uint32_t flags);

/* Reports that the file was refused with BLY_EUNSUPPORTED, and what replaces its kind if that was
 * removed. Returns CLI_ERROR. */
int open_refuse_unsupported(const char *path);

/* The header alone. */
bly_status open_header(const char *path, bly_file_info *out);

/* Whether a filter may be saved to `path`: for the beginning of a command, before the work. An
 * existing file, and a terminal when path is "-" (standard output), need `force`. */
bool open_may_save(const char *path, bool force);
/* Replaces what is there, all of it or nothing; nothing, and in silence, if a signal has come
 * (interrupt.h). "-" is standard output. */
bool open_save(const bly_filter *f, const char *path);

#endif
