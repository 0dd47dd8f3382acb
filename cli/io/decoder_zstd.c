#include "io/decoder.h"

#if BLOOMERY_WITH_ZSTD

#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { SMALLEST_WINDOW = 10, LARGEST_WINDOW = 30 };

typedef struct state {
    ZSTD_DStream *stream;
    bool whole;   /* between two frames */
    bool damaged; /* found so, after the bytes returned last */
    bool too_large;
} state;

/* The largest window, as a power of two, that leaves a megabyte of `most` for the rest. */
static int window_for(uint64_t most) {
    const uint64_t rest = 1u << 20;
    int log = SMALLEST_WINDOW;
    while (log < LARGEST_WINDOW && (UINT64_C(2) << log) + rest <= most)
        log++;
    return log;
}

static void *open_zstd(uint64_t most) {
    state *s = calloc(1, sizeof *s);
    if (s && !(s->stream = ZSTD_createDStream())) {
        free(s);
        s = NULL;
    }
    if (s && most)
        (void)ZSTD_DCtx_setParameter(s->stream, ZSTD_d_windowLogMax, window_for(most));
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
    s->too_large = ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge;
    if (s->damaged && to.pos == 0)
        return -1;
    s->whole = left == 0;
    in->data = (const char *)in->data + from.pos;
    in->size -= from.pos;
    return (ptrdiff_t)to.pos;
}

static const char *trouble_zstd(const void *at) {
    return ((const state *)at)->too_large
               ? "needs more memory than is allowed here; decompress it by zstd -dc --long=31"
               : "is damaged";
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
#define open_zstd    NULL
#define run_zstd     NULL
#define trouble_zstd NULL
#define whole_zstd   NULL
#define close_zstd   NULL
#endif

const decoder decoder_zstd = {
    .name = "zstd",
    .library = "libzstd",
    .magic = {0x28, 0xb5, 0x2f, 0xfd},
    .magic_size = 4,
    .open = open_zstd,
    .run = run_zstd,
    .trouble = trouble_zstd,
    .whole = whole_zstd,
    .close = close_zstd,
};
