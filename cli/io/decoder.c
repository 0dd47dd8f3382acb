/* decoder.c - the compressed formats, and how this build decodes them.
 *
 * gzip and zstd are decoded if this build has their libraries. xz and bzip2 are only recognised, so
 * that they are refused and not read as text.
 */
#include "io/decoder.h"

#include <limits.h>
#include <stdlib.h>

/* ---- gzip ------------------------------------------------------------------------------------ */

#if BLOOMERY_WITH_ZLIB

#include <zlib.h>

typedef struct gzip_state {
    z_stream stream;
    bool complete; /* the data up to here is complete: between two members */
    bool damaged;  /* the data is damaged after the last bytes that were returned */
} gzip_state;

enum { GZIP_ONLY = 16 + MAX_WBITS };

static void *open_gzip(uint64_t most) {
    (void)most; /* gzip never needs more than 50 kilobytes */
    gzip_state *s = calloc(1, sizeof *s);
    if (s && inflateInit2(&s->stream, GZIP_ONLY) != Z_OK) {
        free(s);
        s = NULL;
    }
    return s;
}

/* After a member there may be another one, or zero padding. */
static bool skip_zeros(bly_bytes *in) {
    const uint8_t *at = in->data;
    while (in->size > 0 && *at == 0)
        at++, in->size--;
    in->data = at;
    return in->size > 0;
}

static ptrdiff_t run_gzip(void *at, bly_bytes *in, char *out, size_t room) {
    gzip_state *s = at;
    if (s->damaged)
        return -1;
    if (s->complete) {
        if (!skip_zeros(in))
            return 0;
        if (inflateReset(&s->stream) != Z_OK)
            return -1;
        s->complete = false;
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
    s->complete = result == Z_STREAM_END;
    return s->damaged && made == 0 ? -1 : made;
}

static const char *problem_gzip(const void *at) {
    (void)at;
    return "is damaged";
}

static bool complete_gzip(const void *at) {
    return ((const gzip_state *)at)->complete;
}

static void close_gzip(void *at) {
    gzip_state *s = at;
    (void)inflateEnd(&s->stream);
    free(s);
}

#endif

static const decoder gzip = {
    .name = "gzip",
    .library = "zlib",
    .magic = {0x1f, 0x8b},
    .magic_size = 2,
#if BLOOMERY_WITH_ZLIB
    .open = open_gzip,
    .run = run_gzip,
    .problem = problem_gzip,
    .complete = complete_gzip,
    .close = close_gzip,
#endif
};

/* ---- zstd ------------------------------------------------------------------------------------ */

#if BLOOMERY_WITH_ZSTD

#include <zstd.h>
#include <zstd_errors.h>

enum { SMALLEST_WINDOW = 10, LARGEST_WINDOW = 30 };

typedef struct zstd_state {
    ZSTD_DStream *stream;
    bool complete; /* the data up to here is complete: between two frames */
    bool damaged;  /* the data is damaged after the last bytes that were returned */
    bool too_large;
} zstd_state;

/* The binary logarithm of the largest window that leaves a megabyte of `most` for the rest. */
static int window_for(uint64_t most) {
    const uint64_t rest = 1u << 20;
    int log = SMALLEST_WINDOW;
    while (log < LARGEST_WINDOW && (UINT64_C(2) << log) + rest <= most)
        log++;
    return log;
}

static void *open_zstd(uint64_t most) {
    zstd_state *s = calloc(1, sizeof *s);
    if (s && !(s->stream = ZSTD_createDStream())) {
        free(s);
        s = NULL;
    }
    if (s && most)
        (void)ZSTD_DCtx_setParameter(s->stream, ZSTD_d_windowLogMax, window_for(most));
    return s;
}

static ptrdiff_t run_zstd(void *at, bly_bytes *in, char *out, size_t room) {
    zstd_state *s = at;
    if (s->damaged)
        return -1;
    if (in->size == 0 && s->complete) /* another call would expect another frame */
        return 0;
    ZSTD_inBuffer from = {in->data, in->size, 0};
    ZSTD_outBuffer to = {out, room, 0};
    size_t left = ZSTD_decompressStream(s->stream, &to, &from);
    s->damaged = ZSTD_isError(left) != 0;
    s->too_large = ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge;
    if (s->damaged && to.pos == 0)
        return -1;
    s->complete = left == 0;
    in->data = (const char *)in->data + from.pos;
    in->size -= from.pos;
    return (ptrdiff_t)to.pos;
}

static const char *problem_zstd(const void *at) {
    return ((const zstd_state *)at)->too_large
               ? "needs more memory than is allowed here; decompress it with zstd -dc --long=31, "
                 "and pipe it in"
               : "is damaged";
}

static bool complete_zstd(const void *at) {
    return ((const zstd_state *)at)->complete;
}

static void close_zstd(void *at) {
    zstd_state *s = at;
    (void)ZSTD_freeDStream(s->stream);
    free(s);
}

#endif

static const decoder zstd = {
    .name = "zstd",
    .library = "libzstd",
    .magic = {0x28, 0xb5, 0x2f, 0xfd},
    .magic_size = 4,
#if BLOOMERY_WITH_ZSTD
    .open = open_zstd,
    .run = run_zstd,
    .problem = problem_zstd,
    .complete = complete_zstd,
    .close = close_zstd,
#endif
};

/* ---- formats that are only recognised -------------------------------------------------------- */

static const decoder xz = {
    .name = "xz",
    .library = "support for it",
    .magic = {0xfd, '7', 'z', 'X', 'Z', 0},
    .magic_size = 6,
};

static const decoder bzip2 = {
    .name = "bzip2",
    .library = "support for it",
    .magic = {'B', 'Z', 'h', '1', '1', 'A', 'Y', '&', 'S', 'Y'},
    .span = {[3] = 8}, /* the fourth byte is the block size, '1' to '9' */
    .magic_size = 10,
};

/* ---- what is not a file of lines ------------------------------------------------------------- */

const decoder filter_format = {
    .name = "a Bloomery filter",
    .not_lines = true,
    .magic = {'B', 'L', 'Y', '1', 1}, /* docs/format.md */
    .magic_size = 5,
};

static const decoder fingerprints = {
    .name = "a file of fingerprints",
    .not_lines = true,
    .magic = {'B', 'L', 'Y', 'F', 'P', 'S', '0', '1', 1, 0}, /* fingerprint_file.c */
    .magic_size = 10,
};

const decoder *const decoders[] = {&gzip, &zstd, &xz, &bzip2, &filter_format, &fingerprints, NULL};
