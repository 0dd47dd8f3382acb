/* source.h - the bytes of one file or of standard input, decompressed if they need it. */
#ifndef BLOOMERY_CLI_SOURCE_H
#define BLOOMERY_CLI_SOURCE_H

#include <bloomery/base.h>

typedef struct source source;

/* "-" is standard input. gzip and zstd are told by their first bytes, whatever the name. On
 * failure a message has been printed and the result is NULL. */
source *source_open(const char *path);

/* From now on no source may take more than this for decompressing; 0: no limit of ours. */
void source_limit_memory(uint64_t most);

/* Up to `room` bytes, at least one; 0 at the end; -1 on an error, of which a message has been
 * printed (a compressed file that is damaged or ends early is one). */
ptrdiff_t source_read(source *s, char *to, size_t room);

/* Whether reading now would wait for somebody to write. */
bool source_would_wait(const source *s);

void source_close(source *s); /* NULL does nothing */

/* How much of the file as it lies has been read. */
uint64_t source_position(const source *s);
bool source_compressed(const source *s);

#endif
