/* How a filter is laid out in strings of a plain Redis or Valkey, and the plan of a new one.
 *
 * A server without a module has strings, bits in them, and scripts. A classic Bloom filter needs a
 * SETBIT or GETBIT for each bit of each key. A blocked filter has all bits of a key in 32 or 64
 * adjacent bytes: one GETRANGE reads them, and one SETRANGE writes them. A script does that for
 * hundreds of keys at once, and reports for each whether it was new.
 *
 * A string has at most 512 MiB, and is on one node of a cluster. So the z blocks of a filter are
 * divided among S strings, its shards. Each has ceil(z / S) blocks, except that the last has the
 * rest:
 *
 *     block mulhi(lo, z) of the filter  ->  shard block / ceil(z / S), its block % ceil(z / S)
 *
 * So the blocks of all shards, one after the other, are the body of the same filter in a file, and
 * a filter can be copied between the two without changing a bit. shard_keys.c chooses the shards'
 * keys, and with them their slots in a cluster.
 *
 * Two clients that disagree about size, hash or seed would read and write bits at different
 * positions, and the only symptom would be lost keys. So each string begins with a head
 * (bitmap_head.c) that records all of these, and a random stamp that distinguishes a recreated
 * filter from the old one. Every script compares the head first. As head and bits are in one
 * string, they are always evicted, expired, moved and deleted together.
 *
 * bitmap_commands.c builds the commands for one shard, bitmap_batch.c those for many keys, and
 * bitmap_replies.c reads the replies. bitmap_scripts.c contains the scripts, gozero.c the other
 * form of filters, those of the go-zero framework.
 */
#include "redis/bitmap/bitmap_layout.h"

#include "base/little_endian.h"
#include "base/struct_size.h"
#include "filter/filter.h"

#include <bloomery/host/describe.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- shards ---------------------------------------------------------------------------------- */

unsigned blyi_bitmap_block_bytes(const bly_bitmap *b) {
    return b->geometry.kind == BLY_SBBF ? 32 : 64;
}

uint64_t blyi_bitmap_stride(const bly_bitmap *b) {
    return (b->geometry.size + b->shards - 1) / b->shards;
}

uint64_t bly_bitmap_shard_blocks(const bly_bitmap *b, uint32_t shard) {
    if (b->form == BLY_BITMAP_GOZERO || shard >= b->shards)
        return 0;
    const uint64_t stride = blyi_bitmap_stride(b), before = stride * shard;
    if (before >= b->geometry.size)
        return 0;
    return b->geometry.size - before < stride ? b->geometry.size - before : stride;
}

uint64_t bly_bitmap_shard_bytes(const bly_bitmap *b, uint32_t shard) {
    if (shard >= b->shards)
        return 0;
    if (b->form == BLY_BITMAP_GOZERO)
        return (b->geometry.size + 7) / 8;
    return BLY_BITMAP_HEAD + bly_bitmap_shard_blocks(b, shard) * blyi_bitmap_block_bytes(b);
}

uint64_t bly_bitmap_bytes(const bly_bitmap *b) {
    if (b->form == BLY_BITMAP_GOZERO)
        return bly_bitmap_shard_bytes(b, 0);
    return (uint64_t)b->shards * BLY_BITMAP_HEAD + b->geometry.size * blyi_bitmap_block_bytes(b);
}

bool bly_bitmap_compatible(const bly_bitmap *a, const bly_bitmap *b) {
    const bly_geometry *g = &a->geometry, *h = &b->geometry;
    return a->form == b->form && g->kind == h->kind && g->hashes == h->hashes &&
           g->size == h->size && g->options == h->options && g->detail == h->detail &&
           a->capacity == b->capacity && a->fpr == b->fpr && a->hasher.id == b->hasher.id &&
           a->hasher.seed == b->hasher.seed && a->shards == b->shards;
}

/* ---- planning -------------------------------------------------------------------------------- */

static bool bitmap_kind_fits(bly_kind kind) {
    return kind == BLY_SBBF || kind == BLY_SPLIT512;
}

static bly_status bitmap_fail(bly_redis_reason *why, bly_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bly_status bitmap_fail(bly_redis_reason *why, bly_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (why)
        (void)vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    return status;
}

/* Chooses the number of shards. `spec` may be NULL. */
static bly_status bitmap_choose_shards(bly_bitmap *b, const bly_bitmap_spec *spec,
                                       bly_redis_reason *why) {
    const uint64_t blocks = b->geometry.size,
                   min_bytes = BLY_BITMAP_HEAD + blyi_bitmap_block_bytes(b);
    const uint64_t max_bytes = spec && spec->shard_bytes ? spec->shard_bytes : BLY_BITMAP_MAX_BYTES;
    if (max_bytes < min_bytes || max_bytes > BLY_BITMAP_MAX_BYTES)
        return bitmap_fail(why, BLY_EINVAL,
                           "the shard size must be from %" PRIu64 " to %" PRIu64 " bytes",
                           min_bytes, BLY_BITMAP_MAX_BYTES);
    const uint64_t max_blocks = (max_bytes - BLY_BITMAP_HEAD) / blyi_bitmap_block_bytes(b);
    const uint64_t min_shards = (blocks + max_blocks - 1) / max_blocks;
    const uint64_t wanted = spec && spec->shards ? spec->shards : min_shards;
    if (min_shards > BLY_BITMAP_MAX_SHARDS)
        return bitmap_fail(why, BLY_ETOOBIG,
                           "the filter would need %" PRIu64 " shards of at most %" PRIu64
                           " bytes; the maximum is %d",
                           min_shards, max_bytes, BLY_BITMAP_MAX_SHARDS);
    if (wanted < min_shards)
        return bitmap_fail(why, BLY_ETOOBIG,
                           "%" PRIu64 " shard%s too few: the filter needs at least %" PRIu64
                           ", each of at most %" PRIu64 " bytes",
                           wanted, wanted == 1 ? " is" : "s are", min_shards, max_bytes);
    if (wanted > BLY_BITMAP_MAX_SHARDS || wanted > blocks)
        return bitmap_fail(
            why, BLY_ETOOBIG,
            "%" PRIu64 " shards are too many: this filter can have at most %" PRIu64, wanted,
            blocks < BLY_BITMAP_MAX_SHARDS ? blocks : (uint64_t)BLY_BITMAP_MAX_SHARDS);
    b->shards = (uint32_t)wanted;
    return BLY_OK;
}

/* Completes a plan whose geometry is known: chooses the shards and a stamp. */
static bly_status bitmap_finish_plan(bly_bitmap *b, const bly_bitmap_spec *spec,
                                     bly_redis_reason *why, bly_bitmap *out) {
    bly_status status = bitmap_choose_shards(b, spec, why);
    if (status != BLY_OK)
        return status;
    status = blyi_bitmap_stamp(b);
    if (status != BLY_OK)
        return bitmap_fail(why, status, "cannot get random numbers from the system");
    *out = *b;
    return BLY_OK;
}

bly_status blyi_bitmap_stamp(bly_bitmap *b) {
    uint8_t random[16];
    bly_status status = bly_random_key(random);
    if (status == BLY_OK)
        b->stamp = blyi_load64le(random);
    return status;
}

static bly_status bitmap_check_hasher(const bly_hasher *h) {
    return bly_hash_is_custom((bly_hash_id)h->id) || blyi_hasher_is_empty(h) ? BLY_EINVAL : BLY_OK;
}

static const char bitmap_kinds_reason[] =
    "only filters of the kinds sbbf and split512 can be stored in strings";
static const char bitmap_hasher_reason[] =
    "a filter on a server needs a built-in hash function, not a custom one";

bly_status blyi_bitmap_plan(const bly_bitmap_spec *spec, bly_bitmap *out, bly_redis_reason *why) {
    bly_bitmap b = {
        .form = BLY_BITMAP_NATIVE,
        .capacity = spec->capacity,
        .fpr = spec->fpr,
        .hasher = spec->hasher,
        .key_rule = spec->key_rule,
    };
    bly_kind kind = spec->kind;
    if (!bly_key_rule_known((unsigned)spec->key_rule))
        return bitmap_fail(why, BLY_EINVAL, "unknown key rule");
    if (kind == BLY_KIND_NONE)
        kind = bly_plan_kind(spec->fpr) == BLY_SBBF ? BLY_SBBF : BLY_SPLIT512;
    if (!bitmap_kind_fits(kind))
        return bitmap_fail(why, BLY_EKIND, "%s", bitmap_kinds_reason);
    bly_status status = spec->hasher.id == BLY_HASH_NONE
                            ? bly_hasher_default(&b.hasher, spec->capacity, spec->fpr, spec->seed)
                            : bitmap_check_hasher(&spec->hasher);
    if (status == BLY_EINVAL)
        return bitmap_fail(why, status, "%s", bitmap_hasher_reason);
    if (status == BLY_OK)
        status = bly_plan(kind, spec->capacity, spec->fpr, 0, b.hasher.bits, &b.geometry);
    if (status != BLY_OK)
        return bitmap_fail(why, status, "%s", bly_strerror(status));
    return bitmap_finish_plan(&b, spec, why, out);
}

bly_status blyi_bitmap_spec_read(const bly_bitmap_spec *spec, bly_bitmap_spec *out,
                                 bly_redis_reason *why) {
    return blyi_read_struct(out, sizeof *out, sizeof *out, spec)
               ? BLY_OK
               : bitmap_fail(why, BLY_EINVAL, "%s", bly_strerror(BLY_EINVAL));
}

bly_status bly_bitmap_plan(const bly_bitmap_spec *spec, bly_bitmap *out) {
    bly_bitmap_spec own;
    const bly_status status = blyi_bitmap_spec_read(spec, &own, NULL);
    return status ? status : blyi_bitmap_plan(&own, out, NULL);
}

bly_status blyi_bitmap_of(const bly_filter *f, const bly_bitmap_spec *spec, bly_bitmap *out,
                          bly_redis_reason *why) {
    if (!bitmap_kind_fits(bly_filter_geometry(f).kind))
        return bitmap_fail(why, BLY_EKIND, "%s", bitmap_kinds_reason);
    const bly_hasher *hasher = bly_filter_hasher(f);
    if (!hasher)
        return bitmap_fail(why, BLY_EKEY, "%s", bly_strerror(BLY_EKEY));
    bly_bitmap b = {
        .form = BLY_BITMAP_NATIVE,
        .geometry = bly_filter_geometry(f),
        .capacity = bly_filter_capacity(f),
        .fpr = bly_filter_fpr(f),
        .hasher = *hasher,
        .approximate = f->approximate,
        .key_rule = f->key_rule,
    };
    if (bitmap_check_hasher(hasher) != BLY_OK)
        return bitmap_fail(why, BLY_EINVAL, "%s", bitmap_hasher_reason);
    return bitmap_finish_plan(&b, spec, why, out);
}

bly_status bly_bitmap_from_filter(const bly_filter *f, const bly_bitmap_spec *spec,
                                  bly_bitmap *out) {
    bly_bitmap_spec own;
    const bly_status status = spec ? blyi_bitmap_spec_read(spec, &own, NULL) : BLY_OK;
    return status ? status : blyi_bitmap_of(f, spec ? &own : NULL, out, NULL);
}

/* The count does not include new keys that were false positives when they were added. If r(x) is
 * the FPR after x different keys, the expected count after n different keys is the integral of 1 -
 * r from 0 to n. This function finds the n for which that is `count`, in steps of a 64th. (If the
 * count were used as the number of keys, the FPR of an overfull filter would seem much too low.) */
double bly_bitmap_keys(const bly_bitmap *b, uint64_t count) {
    const double capacity = (double)b->capacity, wanted = (double)count;
    double keys = 0, fresh = 0;
    while (fresh < wanted && keys < 1000 * capacity) {
        const double larger = keys > capacity ? keys : capacity,
                     step = larger > 64 ? larger / 64 : 1;
        const uint64_t middle = (uint64_t)(keys + step / 2);
        const double share = 1 - bly_plan_fpr(&b->geometry, middle, b->hasher.bits);
        if (fresh + step * share >= wanted)
            return keys + (wanted - fresh) / share;
        fresh += step * share;
        keys += step;
    }
    return keys;
}
