/* decoder.h - the compressed formats, as source.c uses them. */
#ifndef BLOOMERY_CLI_DECODER_H
#define BLOOMERY_CLI_DECODER_H

#include <bloomery/base.h>

typedef struct decoder {
    const char *name;    /* "gzip" */
    const char *library; /* what this build would need */
    uint8_t magic[10];   /* what a file begins with */
    uint8_t span[10];    /* how much greater than magic[i] a byte may be; 0 as a rule */
    size_t magic_size;
    /* NULL: not in this build. most: of memory, in bytes; 0: as much as is usual. Returns NULL when
     * memory is short. */
    void *(*open)(uint64_t most);
    /* Decodes from *in, which it advances, into out[0..room). Returns how many bytes came out,
     * which may be none, or -1 when the data is damaged: but all that came out before that. */
    ptrdiff_t (*run)(void *state, bly_bytes *in, char *out, size_t room);
    /* After -1: what is wrong, as in "the gzip data is damaged". */
    const char *(*trouble)(const void *state);
    /* Whether the data may end here. */
    bool (*whole)(const void *state);
    void (*close)(void *state);
} decoder;

/* The one past the last is NULL. */
extern const decoder *const decoders[];

#endif
