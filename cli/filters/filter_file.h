/* filter_file.h - opens and writes filter files for a command.
 *
 * Functions that fail print the reason, with the file's name and what to do about it.
 */
#ifndef BLOOMERY_CLI_FILTER_FILE_H
#define BLOOMERY_CLI_FILTER_FILE_H

#include <bloomery/bloomery.h>

/* A filter opened for reading: mapped if its kind can be, else loaded. */
typedef struct opened {
    const bly_filter *filter;
    bly_map *map; /* owns the filter if it is mapped; otherwise `loaded` does */
    bly_filter *loaded;
} opened;

/* Calls bly_filter_get_info, which cannot fail here, and returns the result. */
static inline bly_filter_info filter_info(const bly_filter *f) {
    bly_filter_info info = {.struct_size = sizeof info};
    bly_filter_get_info(f, &info);
    return info;
}

/* Reads the file of --key-file into *space, and points *out to it; *out is NULL if path is NULL. */
bool open_key(const char *path, bly_hasher *space, const bly_hasher **out);

/* Opens a filter for reading. `key` may be NULL. If a key is given, a filter that is not keyed is
 * refused. `flags` are BLY_OPEN_WITHOUT_KEY and BLY_OPEN_VERIFY. On failure, *o is empty; after
 * BLY_EIO, errno says why. */
bly_status open_read(opened *o, const char *path, const bly_hasher *key, uint32_t flags);
void open_close(opened *o);

/* Loads a filter into memory, so that it can be changed, and verifies its checksums. Returns NULL
 * on failure. */
bly_filter *open_load(const char *path, const bly_hasher *key, uint32_t flags);

/* Reports that a filter with these first bytes was refused with BLY_EUNSUPPORTED. If its kind was
 * removed from Bloomery, names the kind that replaces it. Returns CLI_ERROR. */
int open_refuse_removed(const char *name, const uint8_t *bytes, size_t size);

/* Reads only the header. */
bly_status open_header(const char *path, bly_file_info *out);

/* Whether a filter may be saved to `path`, for a check before the work begins. `force` is needed to
 * replace a file, or to write to a terminal ("-" is standard output). */
bool open_may_save(const char *path, bool force);
/* Saves the filter to `path` ("-": standard output). An existing file is replaced atomically. After
 * a signal (interrupt.h), writes nothing and reports nothing. */
bool open_save(const bly_filter *f, const char *path);

#endif
