#include "decoder.h"

#if BLOOMERY_WITH_ZSTD

#include <stdlib.h>
#include <zstd.h>

typedef struct state {
    ZSTD_DStream *stream;
    bool whole;   /* between two frames */
    bool damaged; /* found so, after the bytes returned last */
} state;

static void *open_zstd(void) {
    state *s = calloc(1, sizeof *s);
    if (s && !(s->stream = ZSTD_createDStream())) {
        free(s);
        s = NULL;
    }
    return s;
}

static ptrdiff_t run_zstd(void *at, bly_bytes *in, char *out, size_t room) {
    state *s = at;
    if (s->damaged)
        return -1;
    if (in->size == 0 && s->whole) /* asked once more, it would expect another frame */
        return 0;
    ZSTD_inBuffer from = {in->data, in->size, 0};
    ZSTD_outBuffer to = {out, room, 0};
    size_t left = ZSTD_decompressStream(s->stream, &to, &from);
    s->damaged = ZSTD_isError(left) != 0;
    if (s->damaged && to.pos == 0)
        return -1;
    s->whole = left == 0;
    in->data = (const char *)in->data + from.pos;
    in->size -= from.pos;
    return (ptrdiff_t)to.pos;
}

static bool whole_zstd(const void *at) {
    return ((const state *)at)->whole;
}

static void close_zstd(void *at) {
    state *s = at;
    (void)ZSTD_freeDStream(s->stream);
    free(s);
}

#else
#define open_zstd  NULL
#define run_zstd   NULL
#define whole_zstd NULL
#define close_zstd NULL
#endif

const decoder decoder_zstd = {
    "zstd", "libzstd", {0x28, 0xb5, 0x2f, 0xfd}, 4, open_zstd, run_zstd, whole_zstd, close_zstd,
};
