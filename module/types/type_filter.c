/* type_filter.c - the data type bloomery1: any filter of the library, saved in the library's file
 * format.
 *
 * How values are saved, in encoding version 1:
 *
 *   unsigned            what follows: the sum of HAS_FILTER, HAS_STAGED_FILE, HAS_STAGED_CHUNKS; 0
 *                       for a tombstone (runtime/tombstone.h)
 *   string              the traits (bm_traits_encode)
 *   HAS_FILTER          unsigned: the bytes of the file; then these, in strings of at most 1 MiB
 *   HAS_STAGED_FILE     string: traits; unsigned: the bytes of the file; unsigned: the bytes
 *                       received; then these, in strings
 *   HAS_STAGED_CHUNKS   see load/redisbloom_chunks.c
 *
 * Secret keys are never saved: a file names its key by an id.
 *
 * Versions before 0.2 saved filters of kinds that were removed later. The file of such a filter is
 * read to its end and dropped, and the key gets a tombstone, so that the server can start with all
 * other keys.
 */
#include "load/redisbloom_chunks.h"
#include "load/staged_file.h"
#include "runtime/server_state.h"
#include "runtime/tombstone.h"
#include "runtime/window_timer.h"
#include "types/type_methods.h"

#include <bloomery/host/chunks.h>
#include <bloomery/host/defrag.h>
#include <string.h>

enum { ENCODING = 1 };
enum { HAS_FILTER = 1, HAS_STAGED_FILE = 2, HAS_STAGED_CHUNKS = 4 };

/* ---- RDB: saving ----------------------------------------------------------------------------- */

static void save_traits(rm_io *io, const bm_traits *traits) {
    uint8_t bytes[BM_TRAITS_BYTES];
    bm_traits_encode(traits, bytes);
    rm.SaveStringBuffer(io, (const char *)bytes, sizeof bytes);
}

static bly_status save_piece(void *ctx, const void *data, size_t size) {
    rm.SaveStringBuffer(ctx, data, size);
    return BLY_OK;
}

static void save_chunk(void *ctx, uint64_t at, const void *data, size_t size) {
    (void)at;
    rm.SaveStringBuffer(ctx, data, size);
}

static void filter_rdb_save(rm_io *io, void *ptr) {
    const bm_value *value = ptr;
    uint64_t has = (value->as.filter ? HAS_FILTER : 0) |
                   (value->staged_file ? HAS_STAGED_FILE : 0) |
                   (value->staged_chunks ? HAS_STAGED_CHUNKS : 0);
    rm.SaveUnsigned(io, has);
    save_traits(io, &value->traits);
    if (value->as.filter) {
        rm.SaveUnsigned(io, bly_filter_file_size(value->as.filter));
        (void)!bly_filter_write(value->as.filter, save_piece, io);
    }
    if (value->staged_file) {
        save_traits(io, bm_staged_file_traits(value->staged_file));
        rm.SaveUnsigned(io, bm_staged_file_total(value->staged_file));
        rm.SaveUnsigned(io, bm_staged_file_received(value->staged_file));
        bm_staged_file_each(value->staged_file, save_chunk, io);
    }
    if (value->staged_chunks)
        bm_staged_chunks_save(io, value->staged_chunks);
}

/* ---- RDB: loading ---------------------------------------------------------------------------- */

char *bm_load_bytes(rm_io *io, uint64_t max, size_t *size) {
    char *data = rm.LoadStringBuffer(io, size);
    if (!rm.IsIOError(io) && data && *size <= max)
        return data;
    bm_release(data);
    return NULL;
}

bool bm_load_number(rm_io *io, uint64_t *out) {
    *out = rm.LoadUnsigned(io);
    return !rm.IsIOError(io);
}

static bool load_traits(rm_io *io, bm_traits *out) {
    size_t size;
    char *data = bm_load_bytes(io, BM_TRAITS_BYTES, &size);
    bool good = data && bm_traits_decode(data, size, out);
    bm_release(data);
    return good;
}

/* Loads the next string of a file, of which `left` bytes have not been loaded yet. */
static bly_status load_piece(rm_io *io, uint64_t left, char **data, size_t *size) {
    *data = bm_load_bytes(io, left, size);
    if (*data && *size)
        return BLY_OK;
    bm_release(*data);
    return BLY_ECORRUPT;
}

/* Reads the remaining `left` bytes of a file without keeping them. */
static bly_status skip_pieces(rm_io *io, uint64_t left) {
    char *data;
    size_t size;
    for (; left > 0; left -= size) {
        bly_status status = load_piece(io, left, &data, &size);
        if (status != BLY_OK)
            return status;
        bm_release(data);
    }
    return BLY_OK;
}

/* The first bytes of a file. They contain its kind and, if that is an overlay, the kind of its
 * base. */
typedef struct file_start {
    uint8_t bytes[2 * BLY_FILE_HEADER];
    size_t size;
} file_start;

static void append_start(file_start *start, const char *data, size_t size) {
    size_t room = sizeof start->bytes - start->size, n = size < room ? size : room;
    memcpy(start->bytes + start->size, data, n);
    start->size += n;
}

/* Loads a file, of which `received` bytes are in the stream. If the kind of the file was removed,
 * reads all of these bytes, stores the code of the kind in *removed, and returns
 * BLY_EUNSUPPORTED. */
static bly_status load_file(rm_io *io, bm_value *value, const bm_traits *traits, uint64_t total,
                            uint64_t received, uint8_t *removed, bm_staged_file **out) {
    char *data;
    size_t size;
    *out = NULL;
    if (received > total)
        return BLY_ECORRUPT;
    bly_status status = load_piece(io, received, &data, &size);
    if (status != BLY_OK)
        return status;
    file_start start = {.size = 0};
    append_start(&start, data, size);
    status = bm_staged_file_begin(&value->account, total, data, size, traits, out);
    bm_release(data);
    if (status == BLY_EUNSUPPORTED && skip_pieces(io, received - size) != BLY_OK)
        return BLY_ECORRUPT;
    while (status == BLY_OK && bm_staged_file_received(*out) < received) {
        status = load_piece(io, received - bm_staged_file_received(*out), &data, &size);
        if (status == BLY_OK) {
            append_start(&start, data, size);
            status = bm_staged_file_adopt(*out, data, size);
        }
    }
    *removed = bm_removed_kind(start.bytes, start.size);
    if (status != BLY_OK) {
        bm_staged_file_free(*out);
        *out = NULL;
    }
    return status;
}

/* Makes the value a tombstone, because the kind of its filter was removed. If a client sent
 * RESTORE, returns BLY_EUNSUPPORTED instead: an error is better for the client than a key without
 * contents. */
static bly_status replace_by_tombstone(rm_io *io, bm_value *value, uint8_t kind) {
    const int loading = RM_CTX_LOADING | RM_CTX_ASYNC_LOADING;
    const char *text = bm_removed_text(kind);
    size_t size = 0;
    const rm_string *key = rm.GetKeyNameFromIO(io);
    const char *name = key ? rm.StringPtrLen(key, &size) : "";
    if (!text || !(bm_is_following() || rm.GetContextFlags(NULL) & loading))
        return BLY_EUNSUPPORTED;
    value->traits = (bm_traits){.tombstone = true, .removed_kind = kind};
    rm.LogIOError(io, "warning", "bloomery: the contents of the key '%.*s' were dropped: %s",
                  size < 64 ? (int)size : 64, name, text + strlen("ERR "));
    return BLY_OK;
}

static bly_status load_filter(rm_io *io, bm_value *value) {
    uint64_t total;
    uint8_t removed = 0;
    bm_staged_file *staged;
    if (!bm_load_number(io, &total))
        return BLY_ECORRUPT;
    bly_status status = load_file(io, value, &value->traits, total, total, &removed, &staged);
    if (status == BLY_OK)
        status = bm_staged_file_finish(staged, &value->as.filter, &value->keyless);
    return status == BLY_EUNSUPPORTED ? replace_by_tombstone(io, value, removed) : status;
}

static bly_status load_staged_file(rm_io *io, bm_value *value) {
    bm_traits traits;
    uint64_t total, received;
    uint8_t removed = 0;
    if (!load_traits(io, &traits) || !bm_load_number(io, &total) || !bm_load_number(io, &received))
        return BLY_ECORRUPT;
    if (received >= total) /* if all bytes had been received, the file would be a filter by now */
        return BLY_ECORRUPT;
    bly_status status =
        load_file(io, value, &traits, total, received, &removed, &value->staged_file);
    if (status != BLY_EUNSUPPORTED)
        return status;
    /* A filter or tombstone that was loaded before is kept. */
    return value->as.filter || bm_is_tombstone(value) ? BLY_OK
                                                      : replace_by_tombstone(io, value, removed);
}

/* Whether `has` is a valid combination: a filter, a staged file, both, or staged chunks; for a
 * tombstone nothing, or a staged file. */
static bool is_valid(uint64_t has, const bm_traits *traits) {
    if (traits->tombstone)
        return has == 0 || has == HAS_STAGED_FILE;
    return has == HAS_FILTER || has == HAS_STAGED_FILE || has == (HAS_FILTER | HAS_STAGED_FILE) ||
           has == HAS_STAGED_CHUNKS;
}

static bly_status load_all(rm_io *io, bm_value *value) {
    uint64_t has;
    if (!bm_load_number(io, &has) || !load_traits(io, &value->traits) ||
        !is_valid(has, &value->traits))
        return BLY_ECORRUPT;
    bly_status status = has & HAS_FILTER ? load_filter(io, value) : BLY_OK;
    if (status == BLY_OK && has & HAS_STAGED_FILE)
        status = load_staged_file(io, value);
    if (status == BLY_OK && has & HAS_STAGED_CHUNKS) {
        value->staged_chunks = bm_staged_chunks_load(io);
        status = value->staged_chunks ? BLY_OK : BLY_ECORRUPT;
    }
    return status;
}

static void *filter_rdb_load(rm_io *io, int encver) {
    if (encver > ENCODING) {
        rm.LogIOError(io, "warning",
                      "bloomery: a filter has encoding %d, from a newer version of this module; "
                      "this version reads encodings up to %d",
                      encver, ENCODING);
        return NULL;
    }
    bm_value *value = bm_value_new(BM_FILTER);
    if (!value)
        return NULL;
    value->account.unlimited = bm_is_following();
    bly_status status = load_all(io, value);
    if (status == BLY_OK) {
        value->account.unlimited = false;
        bm_value_changed(value);
        bm_window_timer_add_loaded(io, value);
        return value;
    }
    rm.LogIOError(io, "warning", "bloomery: cannot load a filter: %s",
                  bm_load_failure(value, status));
    bm_value_free(value);
    return NULL;
}

/* ---- AOF ------------------------------------------------------------------------------------- */

/* A file that is being emitted as BLY.LOAD commands. */
typedef struct emission {
    rm_io *io;
    rm_string *key;
    uint64_t total, at;
    const bm_traits *traits;
    bool replace; /* true: the key has a filter or is a tombstone, which the file will replace */
} emission;

static void emit(emission *e, const void *data, size_t size) {
    uint8_t meta[BM_TRAITS_BYTES];
    long long total = (long long)e->total, at = (long long)e->at;
    bm_traits_encode(e->traits, meta);
    if (e->at)
        rm.EmitAOF(e->io, "BLY.LOAD", "sllb", e->key, total, at, data, size);
    else if (e->replace)
        rm.EmitAOF(e->io, "BLY.LOAD", "sllbccb", e->key, total, at, data, size, "REPLACE", "META",
                   meta, sizeof meta);
    else
        rm.EmitAOF(e->io, "BLY.LOAD", "sllbcb", e->key, total, at, data, size, "META", meta,
                   sizeof meta);
    e->at += size;
}

static bly_status emit_piece(void *ctx, const void *data, size_t size) {
    emit(ctx, data, size);
    return BLY_OK;
}

static void emit_chunk(void *ctx, uint64_t at, const void *data, size_t size) {
    (void)at;
    emit(ctx, data, size);
}

/* Emits a BLY.LOAD without bytes, whose META is that of a tombstone. */
static void emit_tombstone(rm_io *io, rm_string *key, const bm_traits *traits) {
    uint8_t meta[BM_TRAITS_BYTES];
    bm_traits_encode(traits, meta);
    rm.EmitAOF(io, "BLY.LOAD", "sccccb", key, "0", "0", "", "META", meta, sizeof meta);
}

static void filter_aof_rewrite(rm_io *io, rm_string *key, void *ptr) {
    const bm_value *value = ptr;
    if (value->traits.tombstone)
        emit_tombstone(io, key, &value->traits);
    emission e = {.io = io, .key = key, .traits = &value->traits};
    if (value->as.filter) {
        e.total = bly_filter_file_size(value->as.filter);
        (void)!bly_filter_write(value->as.filter, emit_piece, &e);
    }
    if (value->staged_file) {
        e = (emission){.io = io,
                       .key = key,
                       .total = bm_staged_file_total(value->staged_file),
                       .traits = bm_staged_file_traits(value->staged_file),
                       .replace = value->as.filter || value->traits.tombstone};
        bm_staged_file_each(value->staged_file, emit_chunk, &e);
    }
    if (value->staged_chunks)
        bm_staged_chunks_emit(io, key, value->staged_chunks);
}

/* ---- digest, copy, defragmentation ----------------------------------------------------------- */

static bly_status digest_piece(void *ctx, const void *data, size_t size) {
    rm.DigestAddStringBuffer(ctx, data, size);
    return BLY_OK;
}

static void filter_digest(rm_digest *digest, void *ptr) {
    const bm_value *value = ptr;
    uint8_t traits[BM_TRAITS_BYTES];
    bm_traits_encode(&value->traits, traits);
    rm.DigestAddStringBuffer(digest, (const char *)traits, sizeof traits);
    if (value->as.filter)
        (void)!bly_filter_write(value->as.filter, digest_piece, digest);
    if (value->staged_file)
        bm_staged_file_digest(digest, value->staged_file);
    if (value->staged_chunks)
        bm_staged_chunks_digest(digest, value->staged_chunks);
    rm.DigestEndSequence(digest);
}

static bly_status copy_parts(const bm_value *from, bm_value *to) {
    const bly_allocator a = bm_allocator(&to->account);
    bly_status status = BLY_OK;
    if (from->as.filter)
        status = bly_filter_clone(from->as.filter, &a, &to->as.filter);
    if (status == BLY_OK && from->staged_file)
        status = bm_staged_file_clone(from->staged_file, &to->account, &to->staged_file);
    if (status == BLY_OK && from->staged_chunks) {
        to->staged_chunks = bm_staged_chunks_clone(from->staged_chunks, to->account.unlimited);
        status = to->staged_chunks ? BLY_OK : BLY_ENOMEM;
    }
    return status;
}

static void *filter_copy(rm_string *from_key, rm_string *to_key, const void *ptr) {
    const bm_value *from = ptr;
    (void)from_key;
    (void)to_key;
    bm_value *to = bm_value_new(BM_FILTER);
    if (!to)
        return NULL;
    to->traits = from->traits;
    to->keyless = from->keyless;
    to->account.unlimited = bm_is_following();
    if (copy_parts(from, to) != BLY_OK) {
        bm_value_free(to);
        return NULL;
    }
    to->account.unlimited = false;
    bm_value_changed(to);
    return to;
}

/* Moves blocks of the filter. The cursor of the engine is the number of the next block. The image
 * refers to the blocks, so it is closed first. */
static int filter_defrag(rm_defrag *ctx, rm_string *key, void **ptr) {
    bm_value *value = *ptr;
    bm_moving moving = {ctx, &value->account};
    unsigned long at = 0;
    (void)key;
    if (!value->as.filter)
        return 0;
    bm_value_drop_image(value);
    if (rm.DefragCursorGet(ctx, &at) != RM_OK || at == 0)
        value->as.filter = bly_filter_defrag_handle(value->as.filter, bm_move_block, &moving);
    do
        at = bly_filter_defrag(value->as.filter, at, 1, bm_move_block, &moving);
    while (at && !rm.DefragShouldStop(ctx));
    if (at == 0)
        return 0;
    (void)rm.DefragCursorSet(ctx, at);
    return 1;
}

int bm_type_filter_start(rm_ctx *ctx) {
    rm_type_methods methods = {.version = RM_TYPE_METHODS_VERSION,
                               .rdb_load = filter_rdb_load,
                               .rdb_save = filter_rdb_save,
                               .aof_rewrite = filter_aof_rewrite,
                               .mem_usage = bm_type_mem_usage,
                               .digest = filter_digest,
                               .free = bm_type_free,
                               .free_effort = bm_type_free_effort,
                               .copy = filter_copy,
                               .defrag = filter_defrag};
    bm_type_filter = rm.CreateDataType(ctx, "bloomery1", ENCODING, &methods);
    return bm_type_filter ? RM_OK : RM_ERR;
}
