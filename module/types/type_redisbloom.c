/* type_redisbloom.c - the data types MBbloom-- and MBbloomCF.
 *
 * They have the names, encodings and fields of RedisBloom's types. So this module loads RDB files,
 * DUMP payloads and replication streams of RedisBloom, and RedisBloom loads those of this module.
 * Nothing may be added to what is saved.
 *
 * The fields of a Bloom filter (MBbloom--) in encoding 4 are: items, number of links, options,
 * growth; and for each link capacity, error (a double), hashes, bits per key (a double), bits, n2,
 * the bitmap (a string), items. Encodings 0 to 3 do not have all of these. The fields of a cuckoo
 * filter (MBbloomCF) are: number of sub-filters, buckets, items, deletes, bucket size, maximum
 * iterations, expansion; and for each sub-filter its buckets and its slots (a string). Encodings
 * below 4 have only the first three and the slots.
 */
#include "config.h"
#include "runtime/server_state.h"
#include "types/type_methods.h"

#include <bloomery/host/redisbloom.h>
#include <string.h>

enum { PIECE = 1 << 20 }; /* bytes added to a digest at once */

/* ---- both structures ------------------------------------------------------------------------- */

uint64_t bm_rb_data_bytes(const bm_value *value) {
    return value->type == BM_RB_BLOOM ? bly_rb_bloom_get_info(value->as.bloom).data_bytes
                                      : bly_rb_cuckoo_get_info(value->as.cuckoo).data_bytes;
}

static bly_bytes read_at(const bm_value *value, uint64_t offset, uint64_t max) {
    size_t n = max < BLY_RB_CHUNK ? (size_t)max : BLY_RB_CHUNK;
    return value->type == BM_RB_BLOOM ? bly_rb_bloom_read(value->as.bloom, offset, n)
                                      : bly_rb_cuckoo_read(value->as.cuckoo, offset, n);
}

/* ---- RDB: saving ----------------------------------------------------------------------------- */

static void save_bytes(rm_io *io, bly_bytes bytes) {
    rm.SaveStringBuffer(io, bytes.data, bytes.size);
}

static void save_bloom(rm_io *io, const bly_rb_bloom *f) {
    bly_rb_bloom_info info = bly_rb_bloom_get_info(f);
    rm.SaveUnsigned(io, info.items);
    rm.SaveUnsigned(io, info.links);
    rm.SaveUnsigned(io, info.options);
    rm.SaveUnsigned(io, info.growth);
    for (uint64_t i = 0; i < info.links; i++) {
        bly_rb_link link = bly_rb_bloom_link(f, i);
        rm.SaveUnsigned(io, link.capacity);
        rm.SaveDouble(io, link.error);
        rm.SaveUnsigned(io, link.hashes);
        rm.SaveDouble(io, link.bpe);
        rm.SaveUnsigned(io, link.bits);
        rm.SaveUnsigned(io, link.n2);
        save_bytes(io, link.bitmap);
        rm.SaveUnsigned(io, link.items);
    }
}

static void save_cuckoo(rm_io *io, const bly_rb_cuckoo *f) {
    bly_rb_cuckoo_info info = bly_rb_cuckoo_get_info(f);
    rm.SaveUnsigned(io, info.filters);
    rm.SaveUnsigned(io, info.buckets);
    rm.SaveUnsigned(io, info.items);
    rm.SaveUnsigned(io, info.deletes);
    rm.SaveUnsigned(io, info.bucket_size);
    rm.SaveUnsigned(io, info.max_iterations);
    rm.SaveUnsigned(io, info.expansion);
    for (uint64_t i = 0; i < info.filters; i++) {
        bly_rb_sub sub = bly_rb_cuckoo_sub(f, i);
        rm.SaveUnsigned(io, sub.buckets);
        save_bytes(io, sub.slots);
    }
}

void bm_rb_save(rm_io *io, const bm_value *value) {
    if (value->type == BM_RB_BLOOM)
        save_bloom(io, value->as.bloom);
    else
        save_cuckoo(io, value->as.cuckoo);
}

static void rb_rdb_save(rm_io *io, void *value) {
    bm_rb_save(io, value);
}

/* ---- RDB: loading ---------------------------------------------------------------------------- */

/* Loads a number, unless the encoding is before `since` and does not have it. */
static bool load_number_since(rm_io *io, int encver, int since, uint64_t *out) {
    return encver < since || bm_load_number(io, out);
}

static bool load_double(rm_io *io, double *out) {
    *out = rm.LoadDouble(io);
    return !rm.IsIOError(io);
}

/* Loads a string. The caller frees *block with bm_release. */
static bool load_string(rm_io *io, bly_bytes *out, char **block) {
    *block = bm_load_bytes(io, UINT64_MAX, &out->size);
    out->data = *block;
    return *block != NULL;
}

static bly_status load_link(rm_io *io, int encver, bly_rb_bloom *f) {
    bly_rb_link link = {0};
    char *block = NULL;
    bool read = bm_load_number(io, &link.capacity) && load_double(io, &link.error) &&
                bm_load_number(io, &link.hashes) && load_double(io, &link.bpe) &&
                load_number_since(io, encver, 1, &link.bits) &&
                load_number_since(io, encver, 1, &link.n2) &&
                load_string(io, &link.bitmap, &block) && bm_load_number(io, &link.items);
    bly_status status = read ? bly_rb_bloom_load_link(f, &link) : BLY_ECORRUPT;
    bm_release(block);
    return status;
}

static bly_status load_bloom(rm_io *io, int encver, bm_value *value) {
    bly_rb_bloom_fields fields = {.encoding = (uint64_t)encver};
    if (!bm_load_number(io, &fields.items) || !bm_load_number(io, &fields.links) ||
        !load_number_since(io, encver, 2, &fields.options) ||
        !load_number_since(io, encver, 4, &fields.growth))
        return BLY_ECORRUPT;
    const bly_allocator a = bm_allocator(&value->account);
    uint64_t available = bm_memory_available(&value->account);
    bly_status status = bly_rb_bloom_load(&fields, available, &a, &value->as.bloom);
    for (uint64_t i = 0; status == BLY_OK && i < fields.links; i++)
        status = load_link(io, encver, value->as.bloom);
    return status == BLY_OK ? bly_rb_bloom_load_end(value->as.bloom) : status;
}

static bly_status load_sub(rm_io *io, int encver, bly_rb_cuckoo *f) {
    bly_rb_sub sub = {0};
    char *block = NULL;
    bool read =
        load_number_since(io, encver, 4, &sub.buckets) && load_string(io, &sub.slots, &block);
    bly_status status = read ? bly_rb_cuckoo_load_sub(f, &sub) : BLY_ECORRUPT;
    bm_release(block);
    return status;
}

static bly_status load_cuckoo(rm_io *io, int encver, bm_value *value) {
    bly_rb_cuckoo_fields fields = {.encoding = (uint64_t)encver,
                                   .bucket_size = (uint64_t)bm_configs.cf_bucket_size,
                                   .max_iterations = (uint64_t)bm_configs.cf_max_iterations,
                                   .expansion = (uint64_t)bm_configs.cf_expansion};
    if (!bm_load_number(io, &fields.filters) || !bm_load_number(io, &fields.buckets) ||
        !bm_load_number(io, &fields.items) || !load_number_since(io, encver, 4, &fields.deletes) ||
        !load_number_since(io, encver, 4, &fields.bucket_size) ||
        !load_number_since(io, encver, 4, &fields.max_iterations) ||
        !load_number_since(io, encver, 4, &fields.expansion))
        return BLY_ECORRUPT;
    const bly_allocator a = bm_allocator(&value->account);
    uint64_t available = bm_memory_available(&value->account);
    bly_status status = bly_rb_cuckoo_load(&fields, available, &a, &value->as.cuckoo);
    for (uint64_t i = 0; status == BLY_OK && i < fields.filters; i++)
        status = load_sub(io, encver, value->as.cuckoo);
    return status == BLY_OK ? bly_rb_cuckoo_load_end(value->as.cuckoo) : status;
}

void bm_rb_lift_growth_limit(bm_value *value) {
    if (value->type == BM_RB_BLOOM)
        bly_rb_bloom_limit_growth(value->as.bloom, UINT64_MAX);
    else
        bly_rb_cuckoo_limit_growth(value->as.cuckoo, UINT64_MAX);
}

bm_value *bm_rb_load(rm_io *io, bm_value_type type, int encver) {
    bm_value *value = bm_value_new(type);
    if (!value)
        return NULL;
    value->account.unlimited = bm_is_following();
    bly_status status = encver < 0 || encver > BLY_RB_ENCODING ? BLY_EVERSION
                        : type == BM_RB_BLOOM                  ? load_bloom(io, encver, value)
                                                               : load_cuckoo(io, encver, value);
    if (status == BLY_OK) {
        bm_rb_lift_growth_limit(value);
        value->account.unlimited = false;
        return value;
    }
    rm.LogIOError(io, "warning", "bloomery: cannot load a filter of RedisBloom, encoding %d: %s",
                  encver, bm_load_failure(value, status));
    bm_value_free(value);
    return NULL;
}

static void *bloom_rdb_load(rm_io *io, int encver) {
    return bm_rb_load(io, BM_RB_BLOOM, encver);
}

static void *cuckoo_rdb_load(rm_io *io, int encver) {
    return bm_rb_load(io, BM_RB_CUCKOO, encver);
}

/* ---- AOF ------------------------------------------------------------------------------------- */

static void emit(rm_io *io, rm_string *key, const bm_value *value, uint64_t iterator,
                 const void *data, size_t size) {
    const char *command = value->type == BM_RB_BLOOM ? "BF.LOADCHUNK" : "CF.LOADCHUNK";
    rm.EmitAOF(io, command, "slb", key, (long long)iterator, data, size);
}

/* The AOF is rewritten in a child process, which must not fail for lack of memory. So the buffer is
 * static, and large enough for the longest header. Pages of it that are never used take no
 * memory. */
void bm_rb_emit_header(rm_io *io, rm_string *key, const bm_value *value) {
    static uint8_t header[BLY_RB_BLOOM_HEAD + BLY_RB_MAX_PARTS * BLY_RB_BLOOM_LINK];
    size_t size = BLY_RB_CUCKOO_HEADER;
    if (value->type == BM_RB_BLOOM) {
        size = bly_rb_bloom_header_size(value->as.bloom);
        bly_rb_bloom_header(value->as.bloom, header);
    } else {
        bly_rb_cuckoo_header(value->as.cuckoo, header);
    }
    emit(io, key, value, 1, header, size);
}

void bm_rb_emit(rm_io *io, rm_string *key, const bm_value *value, uint64_t from, uint64_t to) {
    while (from < to) {
        bly_bytes chunk = read_at(value, from, to - from);
        from += chunk.size;
        emit(io, key, value, 1 + from, chunk.data, chunk.size);
    }
}

static void rb_aof_rewrite(rm_io *io, rm_string *key, void *value) {
    bm_rb_emit_header(io, key, value);
    bm_rb_emit(io, key, value, 0, bm_rb_data_bytes(value));
}

/* ---- digest, copy, defragmentation ----------------------------------------------------------- */

static void digest_double(rm_digest *digest, double value) {
    long long bits;
    memcpy(&bits, &value, sizeof bits);
    rm.DigestAddLongLong(digest, bits);
}

static void digest_bloom(rm_digest *digest, const bly_rb_bloom *f) {
    bly_rb_bloom_info info = bly_rb_bloom_get_info(f);
    rm.DigestAddLongLong(digest, (long long)info.items);
    rm.DigestAddLongLong(digest, (long long)info.options);
    rm.DigestAddLongLong(digest, (long long)info.growth);
    for (uint64_t i = 0; i < info.links; i++) {
        bly_rb_link link = bly_rb_bloom_link(f, i);
        rm.DigestAddLongLong(digest, (long long)link.capacity);
        digest_double(digest, link.error);
        rm.DigestAddLongLong(digest, (long long)link.hashes);
        digest_double(digest, link.bpe);
        rm.DigestAddLongLong(digest, (long long)link.bits);
        rm.DigestAddLongLong(digest, (long long)link.n2);
        rm.DigestAddLongLong(digest, (long long)link.items);
    }
}

static void digest_cuckoo(rm_digest *digest, const bly_rb_cuckoo *f) {
    uint8_t header[BLY_RB_CUCKOO_HEADER];
    bly_rb_cuckoo_header(f, header);
    rm.DigestAddStringBuffer(digest, (const char *)header, sizeof header);
}

void bm_rb_digest(rm_digest *digest, const bm_value *value) {
    if (value->type == BM_RB_BLOOM)
        digest_bloom(digest, value->as.bloom);
    else
        digest_cuckoo(digest, value->as.cuckoo);
    bly_bytes piece;
    for (uint64_t at = 0; (piece = read_at(value, at, PIECE)).size; at += piece.size)
        rm.DigestAddStringBuffer(digest, piece.data, piece.size);
}

static void rb_digest(rm_digest *digest, void *value) {
    bm_rb_digest(digest, value);
    rm.DigestEndSequence(digest);
}

bm_value *bm_rb_clone(const bm_value *value, bool unlimited) {
    bm_value *copy = bm_value_new(value->type);
    if (!copy)
        return NULL;
    copy->account.unlimited = unlimited;
    const bly_allocator a = bm_allocator(&copy->account);
    bly_status status = value->type == BM_RB_BLOOM
                            ? bly_rb_bloom_clone(value->as.bloom, &a, &copy->as.bloom)
                            : bly_rb_cuckoo_clone(value->as.cuckoo, &a, &copy->as.cuckoo);
    if (status != BLY_OK) {
        bm_value_free(copy);
        return NULL;
    }
    copy->account.unlimited = false;
    return copy;
}

static void *rb_copy(rm_string *from, rm_string *to, const void *value) {
    (void)from;
    (void)to;
    return bm_rb_clone(value, bm_is_following());
}

static void move_handle(bm_value *value, bm_moving *moving) {
    if (value->type == BM_RB_BLOOM)
        value->as.bloom = bly_rb_bloom_defrag_handle(value->as.bloom, bm_move_block, moving);
    else
        value->as.cuckoo = bly_rb_cuckoo_defrag_handle(value->as.cuckoo, bm_move_block, moving);
}

/* Moves block number `at`. Returns the number of the next block; 0 after the last one. */
static size_t move_block(bm_value *value, size_t at, bm_moving *moving) {
    return value->type == BM_RB_BLOOM
               ? bly_rb_bloom_defrag(value->as.bloom, at, 1, bm_move_block, moving)
               : bly_rb_cuckoo_defrag(value->as.cuckoo, at, 1, bm_move_block, moving);
}

static int rb_defrag(rm_defrag *ctx, rm_string *key, void **ptr) {
    bm_value *value = *ptr;
    bm_moving moving = {ctx, &value->account};
    unsigned long at = 0;
    (void)key;
    if (rm.DefragCursorGet(ctx, &at) != RM_OK || at == 0)
        move_handle(value, &moving);
    do
        at = move_block(value, at, &moving);
    while (at && !rm.DefragShouldStop(ctx));
    if (at)
        (void)rm.DefragCursorSet(ctx, at);
    return at != 0;
}

int bm_type_redisbloom_start(rm_ctx *ctx) {
    rm_type_methods methods = {.version = RM_TYPE_METHODS_VERSION,
                               .rdb_load = bloom_rdb_load,
                               .rdb_save = rb_rdb_save,
                               .aof_rewrite = rb_aof_rewrite,
                               .mem_usage = bm_type_mem_usage,
                               .digest = rb_digest,
                               .free = bm_type_free,
                               .free_effort = bm_type_free_effort,
                               .copy = rb_copy,
                               .defrag = rb_defrag};
    bm_type_rb_bloom = rm.CreateDataType(ctx, "MBbloom--", BLY_RB_ENCODING, &methods);
    methods.rdb_load = cuckoo_rdb_load;
    bm_type_rb_cuckoo = rm.CreateDataType(ctx, "MBbloomCF", BLY_RB_ENCODING, &methods);
    return bm_type_rb_bloom && bm_type_rb_cuckoo ? RM_OK : RM_ERR;
}
