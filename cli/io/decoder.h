/* decoder.h - the formats that source.c recognises: compressed ones, and files of our own, which
 * contain no lines. */
#ifndef BLOOMERY_CLI_DECODER_H
#define BLOOMERY_CLI_DECODER_H

#include <bloomery/base.h>

typedef struct decoder {
    const char *name;    /* "gzip" */
    const char *library; /* the library that a build needs for it */
    bool not_lines;      /* such a file cannot be read as lines; `open` is NULL */
    uint8_t magic[10];   /* the first bytes of such a file */
    uint8_t span[10];    /* how much greater than magic[i] a byte may be; usually 0 */
    size_t magic_size;
    /* NULL: not in this build. most: memory limit in bytes; 0: the usual one. Returns NULL if
     * memory is short. */
    void *(*open)(uint64_t most);
    /* Decodes from *in, which it advances, to out[0..room). Returns the number of bytes written,
     * possibly 0, or -1 if the data is damaged; before that, all bytes before the damage are
     * written. */
    ptrdiff_t (*run)(void *state, bly_bytes *in, char *out, size_t room);
    /* After -1: what is wrong, as in "the gzip data is damaged". */
    const char *(*problem)(const void *state);
    /* Whether the data is complete here. */
    bool (*complete)(const void *state);
    void (*close)(void *state);
} decoder;

/* Ends with NULL. */
extern const decoder *const decoders[];
/* The entry of `decoders` for Bloomery filters. */
extern const decoder filter_format;

#endif
