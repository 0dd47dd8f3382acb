/* source.h - reads the bytes of one file or of standard input, decompressed if necessary. */
#ifndef BLOOMERY_CLI_SOURCE_H
#define BLOOMERY_CLI_SOURCE_H

#include <bloomery/base.h>

typedef struct source source;

/* "-" is standard input. gzip and zstd files are recognised by their first bytes, not by the name.
 * On failure, reports the error and returns NULL. */
source *source_open(const char *path);

/* Whether the file is a filter; nothing is reported. */
bool source_is_filter(const char *path);

/* From now on no source uses more memory than this for decompression; 0: no limit. */
void source_limit_memory(uint64_t most);

/* Reads up to `room` bytes, and returns their number: at least one, or 0 at the end. On failure
 * (for example if a compressed file is damaged or truncated), reports the error and returns -1. */
ptrdiff_t source_read(source *s, char *to, size_t room);

/* Whether reading would have to wait for more data. */
bool source_would_wait(const source *s);

void source_close(source *s); /* NULL does nothing */

/* How many bytes of the stored file were read. */
uint64_t source_position(const source *s);
bool source_compressed(const source *s);

#endif
