/* A filter as strings of a plain Redis or Valkey: its shape.
 *
 * A server without a module knows strings, bits in them, and scripts. A Bloom filter made of SETBIT
 * and GETBIT costs a command for each bit of each key. A blocked filter (filters/blocked.c) has all
 * bits of a key in 32 or 64 adjacent bytes: one GETRANGE reads them, one SETRANGE writes them, and
 * a script does that for hundreds of keys at once and says of each whether it was new.
 *
 * A server's string ends at 512 MB, and lives on one node of a cluster. So the z blocks of a filter
 * are cut into S strings, its shards, each with ceil(z / S) blocks but the last, which has the
 * rest:
 *
 *     block mulhi(lo, z) of the filter  ->  shard block / ceil(z / S), place block % ceil(z / S)
 *
 * The blocks of all shards, one after the other, are thus the body of the same filter in a file,
 * and a filter can move between the two without a bit being touched. Where the shards' keys lie in
 * a cluster: slots.c.
 *
 * Two clients that disagree about size, hash or seed would read and write each other's bits at the
 * wrong places, and nobody would notice but by keys that get lost. So each string begins with a
 * head (bitmap_head.c) that has all of it, and a random stamp besides, by which a filter that was
 * made anew differs from the old one. Every script compares it first. Since head and bits are one
 * string, they are evicted, expire, move and are deleted together.
 *
 * bitmap_commands.c makes the commands for one shard, bitmap_batch.c those for many keys, and
 * bitmap_answers.c reads what comes back. scripts.c has the texts, gozero.c the other form.
 */
#include "bitmap.h"

#include "../core/bytes.h"
#include "../filters/ops.h"

/* ---- parts ----------------------------------------------------------------------------------- */

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

bool bly_bitmap_alike(const bly_bitmap *a, const bly_bitmap *b) {
    const bly_geometry *g = &a->geometry, *h = &b->geometry;
    return a->form == b->form && g->kind == h->kind && g->hashes == h->hashes &&
           g->size == h->size && g->options == h->options && g->detail == h->detail &&
           a->capacity == b->capacity && a->fpr == b->fpr && a->hasher.id == b->hasher.id &&
           a->hasher.seed == b->hasher.seed && a->shards == b->shards;
}

/* ---- planning -------------------------------------------------------------------------------- */

static bool one_block_per_key(bly_kind kind) {
    return kind == BLY_SBBF || kind == BLY_SPLIT512;
}

static bly_status cut(bly_bitmap *b, uint32_t shards, uint64_t shard_bytes) {
    const unsigned block = blyi_bitmap_block_bytes(b);
    const uint64_t most_bytes = shard_bytes ? shard_bytes : BLY_BITMAP_MOST_BYTES;
    if (most_bytes < BLY_BITMAP_HEAD + block || most_bytes > BLY_BITMAP_MOST_BYTES)
        return BLY_EINVAL;
    const uint64_t most = (most_bytes - BLY_BITMAP_HEAD) / block;
    const uint64_t least = (b->geometry.size + most - 1) / most;
    const uint64_t wanted = shards ? shards : least;
    if (wanted < least || wanted > BLY_BITMAP_MOST_SHARDS || wanted > b->geometry.size)
        return BLY_ETOOBIG;
    b->shards = (uint32_t)wanted;
    return BLY_OK;
}

static bly_status stamp(bly_bitmap *b) {
    uint8_t random[16];
    bly_status status = bly_random_key(random);
    if (status == BLY_OK)
        b->stamp = blyi_load64le(random);
    return status;
}

static bly_status check_hasher(const bly_hasher *h) {
    return h->id == BLY_HASH_CUSTOM || blyi_hasher_is_hollow(h) ? BLY_EINVAL : BLY_OK;
}

bly_status bly_bitmap_plan(const bly_bitmap_spec *spec, bly_bitmap *out) {
    bly_bitmap b = {
        .form = BLY_BITMAP_NATIVE,
        .capacity = spec->capacity,
        .fpr = spec->fpr,
        .hasher = spec->hasher,
    };
    bly_kind kind = spec->kind;
    if (kind == BLY_KIND_NONE)
        kind = bly_plan_layout(spec->fpr) == BLY_SBBF ? BLY_SBBF : BLY_SPLIT512;
    if (!one_block_per_key(kind))
        return BLY_EKIND;
    bly_status status = spec->hasher.id == BLY_HASH_NONE
                            ? bly_hasher_default(&b.hasher, spec->capacity, spec->fpr, spec->seed)
                            : check_hasher(&spec->hasher);
    if (status == BLY_OK)
        status = bly_plan(kind, spec->capacity, spec->fpr, 0, b.hasher.bits, &b.geometry);
    if (status == BLY_OK)
        status = cut(&b, spec->shards, spec->shard_bytes);
    if (status == BLY_OK)
        status = stamp(&b);
    if (status == BLY_OK)
        *out = b;
    return status;
}

bly_status bly_bitmap_of(const bly_filter *f, const bly_bitmap_spec *spec, bly_bitmap *out) {
    if (!one_block_per_key(bly_filter_geometry(f).kind))
        return BLY_EKIND;
    const bly_hasher *hasher = bly_filter_hasher(f);
    if (!hasher)
        return BLY_EKEY;
    bly_bitmap b = {
        .form = BLY_BITMAP_NATIVE,
        .geometry = bly_filter_geometry(f),
        .capacity = bly_filter_capacity(f),
        .fpr = bly_filter_fpr(f),
        .hasher = *hasher,
    };
    bly_status status = check_hasher(hasher);
    if (status == BLY_OK)
        status = cut(&b, spec ? spec->shards : 0, spec ? spec->shard_bytes : 0);
    if (status == BLY_OK)
        status = stamp(&b);
    if (status == BLY_OK)
        *out = b;
    return status;
}
