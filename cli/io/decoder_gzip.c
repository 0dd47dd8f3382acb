#include "io/decoder.h"

#if BLOOMERY_WITH_ZLIB

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

typedef struct state {
    z_stream stream;
    bool whole;   /* between two members */
    bool damaged; /* found so, after the bytes returned last */
} state;

enum { GZIP_ONLY = 16 + MAX_WBITS };

static void *open_gzip(uint64_t most) {
    (void)most; /* it never takes more than 50 kilobytes */
    state *s = calloc(1, sizeof *s);
    if (s && inflateInit2(&s->stream, GZIP_ONLY) != Z_OK) {
        free(s);
        s = NULL;
    }
    return s;
}

/* After a member there may be another, or zeros that fill up a block of a tape. */
static bool skip_zeros(bly_bytes *in) {
    const uint8_t *at = in->data;
    while (in->size > 0 && *at == 0)
        at++, in->size--;
    in->data = at;
    return in->size > 0;
}

static ptrdiff_t run_gzip(void *at, bly_bytes *in, char *out, size_t room) {
    state *s = at;
    if (s->damaged)
        return -1;
    if (s->whole) {
        if (!skip_zeros(in))
            return 0;
        if (inflateReset(&s->stream) != Z_OK)
            return -1;
        s->whole = false;
    }
    uInt size = in->size < UINT_MAX ? (uInt)in->size : UINT_MAX;
    uInt space = room < UINT_MAX ? (uInt)room : UINT_MAX;
    s->stream.next_in = (Bytef *)(uintptr_t)in->data;
    s->stream.avail_in = size;
    s->stream.next_out = (Bytef *)out;
    s->stream.avail_out = space;
    int result = inflate(&s->stream, Z_NO_FLUSH);
    in->data = s->stream.next_in;
    in->size -= size - s->stream.avail_in;
    ptrdiff_t made = (ptrdiff_t)(space - s->stream.avail_out);
    s->damaged = result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR;
    s->whole = result == Z_STREAM_END;
    return s->damaged && made == 0 ? -1 : made;
}

static const char *trouble_gzip(const void *at) {
    (void)at;
    return "is damaged";
}

static bool whole_gzip(const void *at) {
    return ((const state *)at)->whole;
}

static void close_gzip(void *at) {
    state *s = at;
    (void)inflateEnd(&s->stream);
    free(s);
}

#else
#define open_gzip    NULL
#define run_gzip     NULL
#define trouble_gzip NULL
#define whole_gzip   NULL
#define close_gzip   NULL
#endif

const decoder decoder_gzip = {
    .name = "gzip",
    .library = "zlib",
    .magic = {0x1f, 0x8b},
    .magic_size = 2,
    .open = open_gzip,
    .run = run_gzip,
    .trouble = trouble_gzip,
    .whole = whole_gzip,
    .close = close_gzip,
};
